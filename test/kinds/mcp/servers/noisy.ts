// A server that prints at its start what a terminal must not be told, with the secret of its environment, and then what `say` is asked to.
import { createInterface } from 'node:readline';

process.stderr.write(`begun with ${process.env.KEY}\nred \x1b[31mred\x1b[2J \u202eturned\n`);

type Params = { readonly protocolVersion?: string; readonly arguments?: { readonly text?: string } };

const ANSWERS: Readonly<Record<string, (params: Params) => object>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'noisy', version: '1.0.0' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'say', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } }],
  }),
  'tools/call': (params) => {
    process.stderr.write(params.arguments?.text ?? '');
    return { content: [] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = ANSWERS[method];
  const reply =
    answer === undefined ? { error: { code: -32601, message: `no method ${method}` } } : { result: answer(params) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
}
process.stderr.write('ended\n');
