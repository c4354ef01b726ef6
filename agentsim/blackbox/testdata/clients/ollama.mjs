import { Ollama } from 'ollama';
import { ask, connect, stream, system } from './mcp.mjs';

const mcp = await connect();
const client = new Ollama({ host: process.env.OLLAMA_HOST });
const tools = mcp.tools.map((t) => ({ type: 'function', function: { name: t.name, description: t.description, parameters: t.inputSchema } }));
const messages = [{ role: 'system', content: system }, { role: 'user', content: ask }];

async function answer() {
  if (!stream) return (await client.chat({ model: 'm', messages, tools })).message;
  const whole = { role: 'assistant', content: '', tool_calls: [] };
  for await (const part of await client.chat({ model: 'm', messages, tools, stream: true })) {
    whole.content += part.message.content;
    whole.tool_calls.push(...(part.message.tool_calls ?? []));
  }
  return whole;
}

// This client does not ask again by itself.
async function asked() {
  try {
    return await answer();
  } catch (error) {
    if (error.status_code !== 429) throw error;
    return await answer();
  }
}

for (;;) {
  const message = await asked();
  messages.push(message);
  if (!message.tool_calls?.length) {
    console.log(message.content);
    break;
  }
  for (const call of message.tool_calls) {
    const { text } = await mcp.call(call.function.name, call.function.arguments);
    messages.push({ role: 'tool', tool_name: call.function.name, content: text });
  }
}
await mcp.close();
