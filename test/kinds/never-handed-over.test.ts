import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, isIP } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Crib, ToolInput } from '../../src/index.ts';
import { guardedFetch } from '../../src/system/fetch/guarded-fetch.ts';
import { idOf, OPERATOR } from '../approvals/payments.ts';
import { cribOf, folderWith } from '../crib/workshop.ts';
import { BREAKS, startEncrypted } from './broken-encryption.ts';
import { bodyOf } from './http/http-shop.ts';
import { startHttp, startModern } from './mcp/http-servers.ts';

/** A crib with one tool that a person must approve. */
interface Kind {
  readonly files?: Readonly<Record<string, string>>;
  readonly tool?: Readonly<Record<string, unknown>>;
  readonly name?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  /** Done once the call is approved. */
  before?(crib: Crib, folder: string): unknown;
  readonly timeoutMs?: number;
}

/** How an approved call ended, and whether the yes still counts. */
async function approved({ files = {}, tool, name = 'tool', input = {}, before, timeoutMs = 20_000 }: Kind) {
  const folder = folderWith({ 'toolcrib.yaml': '', ...files });
  const spec = { name, description: 'x', policy: { approval: 'always' }, ...tool };
  const crib = await cribOf(folder, { watch: false, ...(tool !== undefined && { tools: [spec as ToolInput] }) }); // its run is data
  const chest = await crib.open(undefined, { id: 'alice' });
  await vi.waitFor(() => expect(crib.get(name)).toBeDefined(), 20_000);
  const approvalId = idOf(await chest.call(name, input, { door: 'cli', park: true }));
  await crib.approvals.answer(approvalId, { decision: 'approve' }, OPERATOR);
  await before?.(crib, folder);
  const result = await chest.call(name, input, { approvalId, timeoutMs });
  const code = result.status === 'failed' ? result.error.code : result.status;
  let state: string | undefined;
  await vi.waitFor(async () => {
    state = (await crib.approvals.get(approvalId))?.state;
    expect(state).not.toBe('claimed');
  });
  return { code, state };
}

const post = (url: string, more: object = {}) => ({ run: { kind: 'http', method: 'POST', url, ...more } });
/** A template of ours, not of the language. */
const SECRET = ['$', '{secret:key}'].join('');
const PRIVATE = 'executors: { http: { allowPrivate: ["127.0.0.1"] } }\n';

/** A port that takes connections and never says a word. */
async function silentPort(): Promise<number> {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Passes a request on as it is. */
async function forward(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const { method = 'GET' } = request;
  const named = Object.entries(request.headers).filter(([name]) => !NOT_PASSED_ON.includes(name));
  const headers = Object.fromEntries(named.map(([name, value]) => [name, String(value)]));
  const body = method === 'GET' ? {} : { body: new Uint8Array(await bodyOf(request)) };
  const answer = await fetch(url, { method, headers, ...body });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
  response.end(Buffer.from(await answer.arrayBuffer()));
}

const NOT_PASSED_ON = ['host', 'connection', 'content-length'];

describe('a call that was never passed to a transport has not begun: the approval is valid again', {
  timeout: 60_000,
}, () => {
  it.each<[string, string, () => Promise<Kind> | Kind]>([
    [
      'http: nothing listens',
      'unavailable',
      () => ({ files: { 'toolcrib.yaml': PRIVATE }, tool: post('http://127.0.0.1:9') }),
    ],
    ['http: a private address', 'denied', () => ({ tool: post('http://127.0.0.1:9') })],
    ['http: no such host', 'unavailable', () => ({ tool: post('https://nowhere.invalid') })],
    [
      'http: a secret that is missing',
      'unavailable',
      () => ({
        files: { 'toolcrib.yaml': `secrets: { key: { env: NOWHERE_KEY, hosts: ["127.0.0.1"] } }\n${PRIVATE}` },
        tool: post('http://127.0.0.1:9', { auth: { bearer: SECRET } }),
      }),
    ],
    [
      'mcp: the server has gone',
      'unavailable',
      async () => {
        const server = await startModern();
        const source = `{ mcp: { url: "${server.url}" }, overrides: { m_echo: { policy: { approval: always } } } }`;
        return {
          files: { 'toolcrib.yaml': `sources: { m: ${source} }\n` },
          name: 'm_echo',
          input: { text: 'x' },
          before: server.stop,
        };
      },
    ],
    [
      'python: there is no interpreter',
      'unavailable',
      () => ({
        files: { 'toolcrib.yaml': 'executors: { python: { interpreter: /nowhere/python } }\n', 'tools.py': '' },
        tool: { run: { kind: 'python', module: 'tools.py', function: 'work', folder: '/' } },
      }),
    ],
  ])('%s', async (_, code, kind) => {
    expect(await approved(await kind())).toEqual({ code, state: 'approved' });
  });
});

it.each<[string, readonly string[]]>([
  ['one', ['127.0.0.1']],
  ['several of one family', ['127.0.0.1', '127.0.0.2']],
  ['both families', ['::1', '127.0.0.1']],
])('a host with addresses that accept no connection got nothing: %s', async (_, addresses) => {
  const resolve = async () => addresses.map((address) => ({ address, family: isIP(address) }));
  const fetching = guardedFetch('http://host.test:9', { method: 'POST', allowPrivate: ['host.test'], resolve });
  await expect(fetching).rejects.toMatchObject({ failure: 'unreachable', isUnsent: true });
});

const TOOLS = `
import os, time
def hold():
    open('held', 'w').close()
    while not os.path.exists('let-go'): time.sleep(0.05)
def work():
    with open('runs', 'a') as runs: runs.write('x')
async def work_async():
    work()
`;

it.each(['work', 'work_async'])(
  'python: %s, which waits for a worker until its timeout, keeps its approval',
  {
    timeout: 60_000,
  },
  async (name) => {
    const folder = folderWith({ 'toolcrib.yaml': 'executors: { python: { workers: 1 } }\n', 'tools.py': TOOLS });
    const run = (called: string) => ({ kind: 'python', module: 'tools', function: called, folder });
    const spec = { name: 'work', description: 'x', policy: { approval: 'always' }, run: run(name) };
    const tools = [spec, { name: 'hold', description: 'x', run: run('hold') }] as readonly ToolInput[]; // their runs are data
    const crib = await cribOf(folder, { watch: false, tools });
    const chest = await crib.open(undefined, { id: 'alice' });
    const approvalId = idOf(await chest.call('work', {}, { door: 'cli', park: true }));
    await crib.approvals.answer(approvalId, { decision: 'approve' }, OPERATOR);
    const holding = chest.call('hold', {});
    await vi.waitFor(() => expect(existsSync(join(folder, 'held'))).toBe(true), 20_000);
    const late = await chest.call('work', {}, { approvalId, timeoutMs: 300 });
    expect(late).toMatchObject({ error: { code: 'timeout' } });
    expect(await crib.approvals.get(approvalId)).toMatchObject({ state: 'approved' });
    writeFileSync(join(folder, 'let-go'), '');
    await holding;
    expect(await chest.call('work', {}, { approvalId })).toMatchObject({ ok: true });
    expect(await crib.approvals.get(approvalId)).toMatchObject({ state: 'done' });
    expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('x');
  },
);

describe('a call that was passed on has begun, whatever follows: the approval is used', { timeout: 60_000 }, () => {
  it.each<[string, string, () => Promise<Kind> | Kind]>([
    [
      'http: a redirect to where nothing listens',
      'unavailable',
      async () => {
        const server = await startHttp((_request, response) => {
          response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end();
        });
        return { files: { 'toolcrib.yaml': PRIVATE }, tool: post(server.url) };
      },
    ],
    [
      'http: a server that never answers',
      'timeout',
      async () => ({
        files: { 'toolcrib.yaml': PRIVATE },
        tool: post(`http://127.0.0.1:${await silentPort()}`),
        timeoutMs: 300,
      }),
    ],
    [
      'mcp: the server has no time',
      'unavailable',
      async () => {
        const server = await startModern();
        const door = await startHttp((request, response) => {
          if (request.headers['mcp-method'] === 'tools/call') response.writeHead(503).end();
          else forward(request, response, server.url).catch(() => response.destroy());
        });
        const source = `{ mcp: { url: "${door.url}" }, overrides: { m_echo: { policy: { approval: always } } } }`;
        return { files: { 'toolcrib.yaml': `sources: { m: ${source} }\n` }, name: 'm_echo', input: { text: 'x' } };
      },
    ],
    [
      'shell: a command that says what a sandbox says that cannot be made',
      'unavailable',
      () => ({
        files: { program: '#!/bin/sh\necho "bwrap: no" >&2\nexit 1\n' },
        tool: { run: { kind: 'shell', command: ['sh', '-c', 'echo "bwrap: no" >&2; exit 1'] } },
      }),
    ],
  ])('%s', async (_, code, kind) => {
    expect(await approved(await kind())).toEqual({ code, state: 'done' });
  });
});

describe('a server that has read the request and breaks the encryption: the approval is used', {
  timeout: 60_000,
}, () => {
  const breaks = Object.entries(BREAKS);
  const allowing = (host: string) => `executors: { http: { allowPrivate: ["${host}"] } }\n`;

  it.each(breaks)('http: %s', async (_, bytes) => {
    let runs = 0;
    const server = await startEncrypted((request) => {
      runs++;
      server.breakOff(request, bytes);
    });
    const { state } = await approved({ files: { 'toolcrib.yaml': allowing(server.host) }, tool: post(server.url) });
    expect({ state, runs }).toEqual({ state: 'done', runs: 1 });
  });

  it.each(breaks)('mcp: %s', async (_, bytes) => {
    let runs = 0;
    const server = await startModern();
    const door = await startEncrypted((request, response) => {
      if (request.headers['mcp-method'] !== 'tools/call') {
        forward(request, response, server.url).catch(() => response.destroy());
        return;
      }
      runs++;
      door.breakOff(request, bytes);
    });
    const source = `{ mcp: { url: "${door.url}" }, overrides: { m_echo: { policy: { approval: always } } } }`;
    const files = { 'toolcrib.yaml': `sources: { m: ${source} }\n` };
    const { state } = await approved({ files, name: 'm_echo', input: { text: 'x' } });
    expect({ state, runs }).toEqual({ state: 'done', runs: 1 });
  });
});
