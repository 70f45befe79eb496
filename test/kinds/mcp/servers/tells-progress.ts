// A server that tells how far its one tool has come, in the same chunk as the result or in chunks of their own.
import { createInterface } from 'node:readline';

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const write = (text: string) => new Promise((resolve) => process.stdout.write(text, resolve));
const schema = { type: 'object', properties: { apart: { type: 'boolean' } } };
const answers: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'tells-progress', version: '1' },
  },
  'tools/list': { tools: [{ name: 'tell', description: 'Tell how far it has come', inputSchema: schema }] },
};

createInterface({ input: process.stdin }).on('line', async (text) => {
  const { id, method, params } = JSON.parse(text);
  if (id === undefined) return;
  const result = answers[method];
  if (result !== undefined) return write(line({ id, result }));
  if (method !== 'tools/call') return write(line({ id, error: { code: -32_601, message: 'Method not found' } }));
  const { progressToken } = params._meta;
  const told = [1, 2, 3].map((progress) =>
    line({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } }),
  );
  const lines = [...told, line({ id, result: { content: [{ type: 'text', text: 'told' }] } })];
  if (params.arguments?.apart !== true) return write(lines.join(''));
  for (const one of lines) {
    await write(one);
    await new Promise(setImmediate);
  }
});
