#!/usr/bin/env node
// An MCP server without dependencies: what every package of the local registry holds.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { name, version, warmUpMs = 0 } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
// Work, not waiting: so much of the processor's time is used up before it answers.
for (let text = name; process.cpuUsage().user < warmUpMs * 1000; )
  text = createHash('sha256').update(text).digest('hex');
process.stderr.write(`${name} ${version} is ready\n`);

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name, version },
  }),
  'tools/list': () => ({
    tools: [{ name: 'greet', description: 'Says where it runs', inputSchema: { type: 'object' } }],
  }),
  'tools/call': () => ({ content: [{ type: 'text', text: `hello from ${name}` }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = ANSWERS[method];
  const reply = answer ? { result: answer(params) } : { error: { code: -32601, message: `no method ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
}
