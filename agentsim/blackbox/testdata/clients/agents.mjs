import { Agent, MCPServerStreamableHttp, run, setOpenAIAPI, setTracingDisabled } from '@openai/agents';
import { ask, protocol, stream, system } from './mcp.mjs';

setTracingDisabled(true); // it would be sent to a server outside
setOpenAIAPI(protocol === 'chat' ? 'chat_completions' : 'responses');
const server = new MCPServerStreamableHttp({ url: process.env.GOLIATHFS_MCP_URL, name: 'g' });
await server.connect();
try {
  const agent = new Agent({ name: 'finder', instructions: system, mcpServers: [server], model: 'm' });
  const result = await run(agent, ask, { stream });
  if (stream) await result.completed;
  console.log(result.finalOutput);
} finally {
  await server.close();
}
