import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent } from 'langchain';
import { ask, protocol, system } from './mcp.mjs';

const mcp = new MultiServerMCPClient({ mcpServers: { g: { transport: 'http', url: process.env.GOLIATHFS_MCP_URL } } });
try {
  const agent = createAgent({
    model: new ChatOpenAI({ model: 'm', useResponsesApi: protocol === 'responses', streaming: false }),
    tools: await mcp.getTools(),
    systemPrompt: system,
  });
  const result = await agent.invoke({ messages: [{ role: 'user', content: ask }] }, { recursionLimit: 50 });
  const { content } = result.messages.at(-1);
  console.log(typeof content === 'string' ? content : content.map((part) => part.text).join(''));
} finally {
  await mcp.close();
}
