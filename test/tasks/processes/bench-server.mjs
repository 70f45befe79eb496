// An MCP server. Notes the process that started it, and each run of a tool. Its "pay" waits for the file "enough" if it is slow.
import { appendFileSync, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';

const { OWNER } = process.env;
appendFileSync('started', `${OWNER}\n`);
const tool = (name, annotations) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' }, slow: { type: 'boolean' } } },
  annotations,
});
const tools = [
  tool('echo', { readOnlyHint: true }),
  tool('pay', { readOnlyHint: false, destructiveHint: false }),
  tool('wipe', { destructiveHint: true }),
];

async function call({ name, arguments: { text = '', slow = false } = {} }) {
  appendFileSync('runs', `${name} ${text}\n`);
  while (slow && !existsSync('enough')) await setTimeout(20);
  return { content: [{ type: 'text', text: `${name} ${text} by the ${OWNER}` }] };
}

async function answer(method, params) {
  if (method === 'initialize')
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'bench', version: '1' },
    };
  if (method === 'tools/list') return { tools };
  return method === 'tools/call' ? call(params) : {};
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  void answer(method, params).then((result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result })));
}
