import Anthropic from '@anthropic-ai/sdk';
import { ask, connect, stream, system } from './mcp.mjs';

const mcp = await connect();
const client = new Anthropic();
const tools = mcp.tools.map((t) => ({ name: t.name, description: t.description, input_schema: t.inputSchema }));
const messages = [{ role: 'user', content: ask }];
for (;;) {
  const body = { model: 'm', max_tokens: 1000, system, messages, tools };
  const answer = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
  messages.push({ role: 'assistant', content: answer.content });
  const calls = answer.content.filter((block) => block.type === 'tool_use');
  if (calls.length === 0) {
    console.log(answer.content.map((block) => block.text).join(''));
    break;
  }
  const content = [];
  for (const call of calls) {
    const { text, failed } = await mcp.call(call.name, call.input);
    content.push({ type: 'tool_result', tool_use_id: call.id, content: text, is_error: failed });
  }
  messages.push({ role: 'user', content });
}
await mcp.close();
