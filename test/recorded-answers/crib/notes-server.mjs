// An MCP server of the older era, written by hand so that nothing but this file decides what it says.
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value, more = {}) => ({ content: [{ type: 'text', text: value }], ...more });
const properties = { title: { type: 'string' }, shelf: { type: 'string' } };
const inputSchema = { type: 'object', properties, required: ['title'] };
const tools = [
  {
    name: 'add',
    title: 'Add a note',
    description: 'Keep a note',
    inputSchema,
    annotations: { destructiveHint: false },
  },
  { name: 'find', description: 'Find a note', inputSchema, annotations: { readOnlyHint: true } },
];
const calls = {
  add: ({ title, shelf }) => text(`Kept "${title}" on the shelf ${shelf}.`, { structuredContent: { title, shelf } }),
  find: ({ title }) => text(`There is no note "${title}".`, { isError: true }),
};
const results = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: input }) => calls[name](input),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = results[method];
  if (answer === undefined) say({ id, error: { code: -32601, message: 'Method not found' } });
  else say({ id, result: answer(params) });
});
