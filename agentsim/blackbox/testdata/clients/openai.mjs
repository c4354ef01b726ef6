import OpenAI from 'openai';
import { ask, connect, protocol, stream, system } from './mcp.mjs';

const mcp = await connect();
const client = new OpenAI();

async function chat() {
  const tools = mcp.tools.map((t) => ({ type: 'function', function: { name: t.name, description: t.description, parameters: t.inputSchema } }));
  const messages = [{ role: 'system', content: system }, { role: 'user', content: ask }];
  for (;;) {
    const body = { model: 'm', messages, tools };
    const answer = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    const message = answer.choices[0].message;
    messages.push(message);
    if (!message.tool_calls?.length) return message.content;
    for (const call of message.tool_calls) {
      const { text } = await mcp.call(call.function.name, JSON.parse(call.function.arguments));
      messages.push({ role: 'tool', tool_call_id: call.id, content: text });
    }
  }
}

async function responses() {
  const tools = mcp.tools.map((t) => ({ type: 'function', name: t.name, description: t.description, parameters: t.inputSchema, strict: false }));
  const input = [{ role: 'user', content: ask }];
  for (;;) {
    const body = { model: 'm', instructions: system, input, tools };
    const answer = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
    input.push(...answer.output);
    const calls = answer.output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return answer.output.flatMap((item) => item.content ?? []).map((part) => part.text).join('');
    for (const call of calls) {
      const { text } = await mcp.call(call.name, JSON.parse(call.arguments));
      input.push({ type: 'function_call_output', call_id: call.call_id, output: text });
    }
  }
}

console.log(protocol === 'chat' ? await chat() : await responses());
await mcp.close();
