// A server of the older era, written by hand: it misbehaves as its first argument says.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { showPresence } from './present.ts';

const [, , manner = 'well', more = ''] = process.argv;
type Fields = Readonly<Record<string, unknown>>;
interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Fields & { readonly name?: string; readonly arguments?: Fields; readonly cursor?: string };
}

const schema = { type: 'object', properties: {} };
const say = (message: Fields) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const deep = (levels: number): Fields => (levels === 0 ? {} : { a: deep(levels - 1) });
const tool = (name: unknown, rest: Fields = {}) => ({ name, description: 'A tool', inputSchema: schema, ...rest });

let listings = 0;
showPresence('server');
if (more !== '') appendFileSync(more, `${process.pid}\n`);
if (manner === 'exits') {
  process.stderr.write('cannot find my configuration\n');
  process.exit(3);
}
if (manner === 'garbage')
  for (const line of ['Server started', '{"half":', '[1,2]', '{"jsonrpc":"1.0"}']) console.log(line);
if (manner === 'chatters') setInterval(() => process.stdout.write('{"never":"ending"'.repeat(100)), 1);
if (manner === 'family') spawn(process.execPath, [import.meta.filename, 'sleeps'], { stdio: 'ignore', detached: true });
if (manner === 'sleeps') setInterval(() => {}, 1000);

const LISTS: Readonly<Record<string, (params: Message['params']) => Fields>> = {
  'lists badly': () => ({
    tools: [
      tool('good'),
      tool('schemaless', { inputSchema: 'none' }),
      tool('array', { inputSchema: { type: 'array' } }),
      tool('good'),
      tool(''),
      tool(7),
      'no tool at all',
      null,
      tool(`long${'g'.repeat(300)}`),
      tool('broken output', { outputSchema: 5 }),
      tool('odd words', { title: 7, description: { no: 'text' }, annotations: 'none', icons: 'none', _meta: 3 }),
      tool('recursive', { inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.com/a' } } } }),
      tool('deep', { inputSchema: { type: 'object', properties: deep(3000) } }),
      tool('also good'),
    ],
  }),
  'lists forever': (params) => ({ tools: [tool('a')], nextCursor: `${params?.cursor ?? ''}x` }),
  'lists in a circle': (params) => ({
    tools: [tool(params?.cursor === undefined ? 'a' : `b${Math.random()}`)],
    nextCursor: 'same',
  }),
  'lists without end': () => ({ tools: [tool(`t${Math.random()}`)], nextCursor: String(Math.random()) }),
  'lists too many': () => ({
    tools: [
      ...Array.from({ length: 30 }, () => tool('again')),
      ...Array.from({ length: 10_050 }, (_, at) => tool(`t${at}`)),
    ],
  }),
  'lists too many pages': (params) => {
    const from = Number(params?.cursor ?? 0);
    return {
      tools: Array.from({ length: 4000 }, (_, at) => tool(`t${from + at}`)),
      nextCursor: String(from + 4000),
    };
  },
  'lists nonsense': () => ({ tools: 'many' }),
};

function list(params: Message['params']): Fields {
  return (
    LISTS[manner]?.(params) ?? {
      tools: ['work', 'die', 'big', 'late', 'nonsense', 'deep', 'two', 'pid', 'listed'].map((name) => tool(name)),
    }
  );
}

function call(id: unknown, { name, arguments: input = {} }: NonNullable<Message['params']>): void {
  const text = (value: string) => say({ id, result: { content: [{ type: 'text', text: value }] } });
  switch (name) {
    case 'die':
      process.kill(process.pid, 'SIGKILL');
      break;
    case 'big':
      text('x'.repeat(30_000_000));
      break;
    case 'late':
      setTimeout(() => text('late'), Number(input.ms ?? 50));
      break;
    case 'nonsense':
      say({ id, result: input.instead as never });
      break;
    case 'deep':
      say({ id, result: { content: [], structuredContent: deep(3000) } });
      break;
    case 'two':
      text('first');
      text('second');
      break;
    case 'listed':
      text(String(listings));
      break;
    case 'pid':
      text(String(process.pid));
      break;
    default:
      text(`${name} done`);
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params }: Message = JSON.parse(line);
  if (manner === 'hangs') return;
  switch (method) {
    case 'server/discover':
      if (manner === 'dies when probed') process.exit(1);
      if (manner !== 'is silent when probed') say({ id, error: { code: -32601, message: 'Method not found' } });
      break;
    case 'initialize':
      say({
        id,
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'rough', version: '1' },
        },
      });
      break;
    case 'tools/list':
      listings++;
      if (manner === 'never lists') break;
      say({ id, result: list(params) });
      break;
    case 'tools/call':
      if (manner === 'announces') say({ method: 'notifications/tools/list_changed' });
      call(id, params ?? {});
      break;
  }
});
