// What both generations of the MCP client are asked to do.
export async function check(client) {
  const { tools } = await client.listTools();
  console.log('tools:', tools.map((t) => t.name).join(' '));
  for (const [name, args] of [
    ['grep', { pattern: 'recieve' }],
    ['readFile', { path: '/nope.md' }],
    ['writeFile', { path: '/new.md', content: 'x\n' }],
  ]) {
    const result = await client.callTool({ name, arguments: args });
    console.log(name + (result.isError ? ' failed:' : ':'), result.content.map((c) => c.text).join('\n'));
  }
  await client.close();
}
