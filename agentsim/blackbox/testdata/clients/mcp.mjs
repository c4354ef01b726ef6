// The tools of the MCP server, for clients of models that know no MCP.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export async function connect() {
  const client = new Client({ name: 'check', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(process.env.GOLIATHFS_MCP_URL)));
  const { tools } = await client.listTools();
  return {
    tools,
    async call(name, args) {
      const result = await client.callTool({ name, arguments: args });
      return { text: result.content.map((c) => c.text).join('\n'), failed: result.isError === true };
    },
    close: () => client.close(),
  };
}

export const system = 'Find things.';
export const [, , protocol, how, ask] = process.argv;
export const stream = how === 'stream';
