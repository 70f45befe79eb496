import { connect } from 'node:net';
import fc from 'fast-check';
import { expect } from 'vitest';
import { ROUTES } from '../../../src/doors/rest/routes.ts';
import type { Served } from './served.ts';

/** What no answer may contain: places in our sources, names of Node's errors, words of the store. */
const INTERNALS =
  /node:internal|\/src\/|\.ts:\d|\n\s+at |\bERR_[A-Z]|HPE_|SQLITE|TypeError|RangeError|"stack"|toolcrib_approvals/;

const name = fc.oneof(
  fc.constantFrom(
    'add',
    'wipe',
    'echo',
    'tell',
    'usual',
    'other',
    'stored',
    'x',
    '__proto__',
    'constructor',
    '%00',
    '..',
    '%2e%2e%2f',
    '0000-0000-0000',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).map(encode),
);

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

const routePath = fc
  .tuple(
    fc.constantFrom(...ROUTES.filter(({ path }) => path !== '/api/events')),
    fc.array(name, { minLength: 3, maxLength: 3 }),
  )
  .map(([route, names]) => ({
    method: route.method as string,
    path: route.path.replaceAll(/\{\w+\}/g, () => names.shift() ?? 'x'),
  }));
const anyPath = fc
  .tuple(fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'), fc.array(name, { maxLength: 5 }))
  .map(([method, parts]) => ({ method, path: `/${parts.join('/')}` }));
const target = fc.oneof({ arbitrary: routePath, weight: 5 }, { arbitrary: anyPath, weight: 1 });

const key = fc.constantFrom(
  'limit',
  'cursor',
  'profile',
  'q',
  'tag',
  'flag',
  'pattern',
  'state',
  'format',
  'expand',
  'token',
  'id',
  'caller',
  'role',
  '__proto__',
  'x',
);
const query = fc.array(
  fc.tuple(
    key,
    fc.oneof(
      fc.constantFrom('', '0', '5', '-1', '1e9', 'true', '*', 'usual', '[', '\0'),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
    ),
  ),
  { maxLength: 4 },
);

const member = fc.constantFrom(
  'arguments',
  'profile',
  'conversation',
  'turn',
  'timeZone',
  'idempotencyKey',
  'approvalId',
  'async',
  'at',
  'delayMs',
  'priority',
  'notify',
  'decision',
  'note',
  'remember',
  'active',
  'tools',
  'name',
  'roles',
  'expiresAt',
  'forMs',
  '__proto__',
  'toString',
);
const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(
    'approve',
    'usual',
    ['reading'],
    { a: 1, b: 2 },
    { what: 'x' },
    [{ name: 'n', description: 'd', run: { kind: 'http' } }],
    1e308,
    '\ud800',
    'x'.repeat(10_000),
  ),
);
const nested = fc.integer({ min: 1, max: 5000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
const body = fc.oneof(
  fc.array(fc.tuple(member, value), { maxLength: 5 }).map((entries) => JSON.stringify(Object.fromEntries(entries))),
  fc.json(),
  fc.string({ unit: 'binary', maxLength: 200 }),
  nested.map((deep) => `{"arguments":${deep}}`),
);
const header = fc.tuple(
  fc.constantFrom(
    'content-type',
    'authorization',
    'traceparent',
    'cookie',
    'accept',
    'x-forwarded-host',
    'if-none-match',
    'range',
  ),
  fc.oneof(
    fc.constantFrom('application/json', 'text/plain', 'Bearer', 'Basic x', 'bytes=0-1'),
    fc.string({ unit: 'grapheme-ascii', maxLength: 60 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '')),
  ),
);

const request = fc.record({
  target,
  query,
  body,
  isOperator: fc.boolean(),
  isJson: fc.constantFrom(true, true, false),
  headers: fc.array(header, { maxLength: 3 }),
});

/** Sends meaningless requests: each is answered, in JSON, without internals, and never as an internal error. */
export async function expectSoundAnswers({ app, token, ask }: Served, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(request, async (sent) => {
      const { method, path } = sent.target;
      const search = new URLSearchParams(
        sent.query.map(([name_, text]): [string, string] => [name_, text.toWellFormed()]),
      ).toString();
      const init: RequestInit = {
        method,
        headers: {
          ...(sent.isJson && { 'content-type': 'application/json' }),
          ...Object.fromEntries(sent.headers),
          ...(sent.isOperator && { authorization: `Bearer ${token}` }),
        },
        ...(method !== 'GET' && method !== 'HEAD' && { body: sent.body }),
      };
      const response = await app.fetch(
        new Request(`http://127.0.0.1${path}${search === '' ? '' : `?${search}`}`, init),
      );
      const text = await response.text();
      expect(response.status, text).not.toBe(500);
      expect(text).not.toMatch(INTERNALS);
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      if (isJson && text !== '') {
        const json: unknown = JSON.parse(text);
        if (response.status >= 400)
          expect(json).toMatchObject({
            ok: false,
            status: 'failed',
            error: { code: expect.any(String), message: expect.any(String) },
          });
      }
    }),
    { numRuns },
  );
  expect((await ask('/healthz')).status).toBe(200);
}

const line = fc.oneof(
  fc.constantFrom(
    'GET /healthz HTTP/1.1',
    'POST /api/tools/execute/add HTTP/1.1',
    'Host: localhost',
    'Content-Length: 5',
    'Content-Length: -1',
    'Transfer-Encoding: chunked',
    'Connection: keep-alive',
    '',
    '0',
    '5',
    '{"arguments":{}}',
    'Expect: 100-continue',
    'Upgrade: h2c',
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const bytes = fc.oneof(
  fc.array(line, { maxLength: 12 }).map((lines) => Buffer.from(lines.join('\r\n'), 'latin1')),
  fc.uint8Array({ maxLength: 400 }).map((array) => Buffer.from(array)),
);

/** Sends bytes that are hardly HTTP to a port: whatever comes back is without internals, and the server goes on. */
export async function expectSoundConnections(port: number, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 3 }), async (pieces) => {
      const heard = await exchange(port, pieces);
      expect(heard).not.toMatch(INTERNALS);
      if (heard !== '') expect(heard).toMatch(/^HTTP\/1\.1 \d{3} /);
      expect(heard).not.toMatch(/^HTTP\/1\.1 500/m);
    }),
    { numRuns },
  );
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
}

function exchange(port: number, pieces: readonly Buffer[]): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => resolve(text)).on('close', () => resolve(text));
    for (const piece of pieces) socket.write(piece);
    socket.end();
  });
}
