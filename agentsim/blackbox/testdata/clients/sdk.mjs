// Lists and calls over MCP, and answers questions for approval with yes, no, or not
// at all: node sdk.mjs http|stdio yes|no|impossible
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { check } from './check.mjs';

const [, , over, answer] = process.argv;
const client = new Client({ name: 'sdk', version: '1' }, { capabilities: answer === 'impossible' ? {} : { elicitation: {} } });
if (answer !== 'impossible') {
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    console.log('asked:', params.message);
    return answer === 'yes' ? { action: 'accept', content: { approve: true } } : { action: 'decline' };
  });
}
await client.connect(over === 'http'
  ? new StreamableHTTPClientTransport(new URL(process.env.GOLIATHFS_MCP_URL))
  : new StdioClientTransport({ command: process.env.GOLIATHFS, args: ['relay', process.env.STDIO] }));
await check(client);
