// As sdk.mjs, with the second generation of the official client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { check } from './check.mjs';

const [, , over, answer] = process.argv;
const client = new Client({ name: 'client', version: '1' }, {
  capabilities: answer === 'impossible' ? {} : { elicitation: { form: {} } },
  versionNegotiation: { mode: 'auto' },
});
if (answer !== 'impossible') {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    console.log('asked:', params.message);
    return answer === 'yes' ? { action: 'accept', content: { approve: true } } : { action: 'decline' };
  });
}
await client.connect(over === 'http'
  ? new StreamableHTTPClientTransport(new URL(process.env.GOLIATHFS_MCP_URL))
  : new StdioClientTransport({ command: process.env.GOLIATHFS, args: ['relay', process.env.STDIO] }));
await check(client);
