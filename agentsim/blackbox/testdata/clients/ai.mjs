import { createAnthropic } from '@ai-sdk/anthropic';
import { experimental_createMCPClient as createMCPClient } from '@ai-sdk/mcp';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText } from 'ai';
import { ask, protocol, stream, system } from './mcp.mjs';

const base = process.env.GOLIATHFS_MODEL_URL + '/v1';
const openai = createOpenAI({ baseURL: base });
const models = {
  chat: () => openai.chat('m'),
  responses: () => openai.responses('m'),
  messages: () => createAnthropic({ baseURL: base })('m'),
};
const mcp = await createMCPClient({ transport: { type: 'http', url: process.env.GOLIATHFS_MCP_URL } });
try {
  const options = { model: models[protocol](), system, prompt: ask, tools: await mcp.tools(), stopWhen: stepCountIs(20) };
  console.log(stream ? await streamText(options).text : (await generateText(options)).text);
} finally {
  await mcp.close();
}
