import { describe, expect, it } from 'vitest';
import type { SourceContext } from '../../src/index.ts';
import { http } from '../../src/sources/http-list.ts';
import { namesIn, nextChange, openCrib, statusOf, yamlOf } from './files-workspace.ts';
import { startServer, type TestServer } from './http-server.ts';

const entry = (name: string, changes: object = {}) => ({
  name,
  description: `Does ${name}`,
  run: { kind: 'http', method: 'GET', url: `https://example.com/${name}` },
  ...changes,
});
const listOf = (...names: readonly string[]) => ({ tools: names.map((name) => entry(name)) });

const context = (): SourceContext => ({
  clock: { now: () => 0, setTimer: () => () => {} },
  services: {},
  signal: new AbortController().signal,
  warn() {},
});

async function cribOf(server: TestServer, options: object = {}) {
  return openCrib({ sources: [http({ name: 'team', url: server.url, ...options })] });
}

describe('a list of specs at an address', () => {
  it('is listed', async () => {
    const server = await startServer();
    server.give(listOf('a', 'b'));
    const crib = await cribOf(server);
    expect(namesIn(crib)).toEqual(['a', 'b']);
    expect(statusOf(crib, 'team')).toEqual({ name: 'team', state: 'ready', toolCount: 2 });
  });

  it.each([
    ['application/json; charset=utf-8', '/specs', JSON.stringify([entry('a')])],
    ['application/vnd.tools+json', '/specs', JSON.stringify(listOf('a'))],
    ['application/yaml', '/specs', yamlOf('a')],
    ['text/x-yaml', '/specs', yamlOf('a')],
    ['application/x-ndjson', '/specs', `${JSON.stringify(entry('a'))}\n`],
    ['text/plain', '/specs.yaml?x=1', yamlOf('a')],
    ['application/octet-stream', '/specs.json', JSON.stringify(listOf('a'))],
  ])('may be %s at %s', async (type, path, body) => {
    const server = await startServer((_, response) => response.writeHead(200, { 'content-type': type }).end(body));
    const crib = await openCrib({ sources: [http({ name: 'team', url: `http://${server.host}${path}` })] });
    expect(namesIn(crib)).toEqual(['a']);
  });

  it('can only raise caution unless its source is trusted', async () => {
    const server = await startServer();
    server.give({ tools: [entry('a', { effects: { readOnly: true }, tags: ['x'] })] });
    expect((await cribOf(server)).get('a')).toMatchObject({ effects: {}, tags: [] });
    expect((await cribOf(server, { trust: true })).get('a')).toMatchObject({
      effects: { readOnly: true },
      tags: ['x'],
    });
  });

  it('brings no shell tool unless its source may', async () => {
    const server = await startServer();
    server.give({ tools: [entry('fine'), entry('wipe', { run: { kind: 'shell', command: ['rm', '-rf', '/'] } })] });
    for (const options of [{}, { kinds: ['http'] }]) {
      const crib = await cribOf(server, options);
      expect(namesIn(crib)).toEqual(['fine']);
      expect(crib.warnings()).toEqual([
        expect.stringContaining('"wipe" of team has kind shell, but its source allows only http'),
      ]);
    }
    expect(namesIn(await cribOf(server, { kinds: ['http', 'shell'] }))).toEqual(['fine', 'wipe']);
  });

  it('has its bad entries reported and its good ones loaded', async () => {
    const server = await startServer();
    server.give({ tools: [entry('a'), { name: 'bad' }, entry('b')] });
    const crib = await cribOf(server);
    expect(namesIn(crib)).toEqual(['a', 'b']);
    expect(statusOf(crib, 'team')).toMatchObject({ state: 'ready', reason: expect.stringContaining('tools[1]') });
  });

  it('is requested with headers and an address that are made at the moment of use', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    let uses = 0;
    const headers = async () => ({ authorization: `Bearer ${++uses}` });
    const crib = await openCrib({ sources: [http({ name: 'team', url: () => server.url, headers })] });
    await crib.reload();
    expect(server.requests.map((request) => request.headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });
});

describe('a list that is fetched again', () => {
  it('reports added, removed and changed tools, and keeps the rest', async () => {
    const server = await startServer();
    server.give({ tools: [entry('same'), entry('gone'), entry('other')] });
    const crib = await cribOf(server);
    const same = crib.get('same');
    server.give({ tools: [entry('same'), entry('new'), entry('other', { description: 'else' })] });
    expect(await crib.reload()).toEqual({ added: ['new'], removed: ['gone'], changed: ['other'] });
    expect(crib.get('same')).toBe(same);
  });

  it('is polled, and open chests follow', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    const crib = await cribOf(server, { refreshMs: 10 });
    const chest = await crib.open();
    const changed = nextChange(crib);
    server.give(listOf('a', 'b'));
    expect((await changed).added).toEqual(['b']);
    expect(chest.list().map((spec) => spec.name)).toEqual(['a', 'b']);
  });

  it('is requested with its ETag and date, and may be unchanged', async () => {
    const server = await startServer();
    const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
    server.give(listOf('a'), { etag: '"one"', 'last-modified': date });
    const crib = await cribOf(server);
    const before = crib.get('a');
    server.answer((request, response) =>
      response.writeHead(request.headers['if-none-match'] === '"one"' ? 304 : 500).end(),
    );
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(server.requests[1]?.headers).toMatchObject({ 'if-none-match': '"one"', 'if-modified-since': date });
    expect(crib.get('a')).toBe(before);
    expect(statusOf(crib, 'team')).toEqual({ name: 'team', state: 'ready', toolCount: 1 });
  });

  it('that could not be read is requested in full the next time', async () => {
    const server = await startServer();
    server.give(listOf('a'), { etag: '"one"' });
    const crib = await cribOf(server);
    server.answer((_, response) =>
      response.writeHead(200, { etag: '"two"', 'content-type': 'application/json' }).end('{'),
    );
    await crib.reload();
    server.give(listOf('b'), { etag: '"three"' });
    await crib.reload();
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"', '"one"']);
    expect(namesIn(crib)).toEqual(['b']);
  });

  it('stays unchanged while the server is gone, and is updated afterwards', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    const crib = await cribOf(server);
    server.answer((_, response) => response.destroy());
    expect(await crib.reload()).toEqual({ added: [], removed: [], changed: [] });
    expect(namesIn(crib)).toEqual(['a']);
    expect(statusOf(crib, 'team')).toEqual({
      name: 'team',
      toolCount: 1,
      state: 'down',
      reason: `${server.host} closed the connection before the answer was complete.`,
    });
    server.give(listOf('b'));
    await crib.reload();
    expect([namesIn(crib), statusOf(crib, 'team')?.state]).toEqual([['b'], 'ready']);
  });

  it('may appear for the first time long after the others', async () => {
    const server = await startServer((_, response) => response.writeHead(503).end());
    const other = await startServer();
    other.give(listOf('fine'));
    const crib = await openCrib({
      sources: [http({ name: 'team', url: server.url, refreshMs: 10 }), http({ name: 'other', url: other.url })],
    });
    expect(namesIn(crib)).toEqual(['fine']);
    expect(statusOf(crib, 'team')).toMatchObject({
      state: 'failed',
      reason: `${server.host} answered with status 503.`,
    });
    const changed = nextChange(crib);
    server.give(listOf('late'));
    expect((await changed).added).toEqual(['late']);
    expect(statusOf(crib, 'team')).toMatchObject({ state: 'ready' });
  });

  it('is requested once for all concurrent readers', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    const live = await http({ name: 'team', url: server.url }).start(context());
    const held = Promise.withResolvers<void>();
    server.answer(async (_, response) => {
      await held.promise;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(listOf('b')));
    });
    const first = live.refresh?.();
    await server.nextRequest();
    const others = [live.refresh?.(), live.refresh?.(), live.refresh?.()];
    held.resolve();
    await Promise.all([first, ...others]);
    await live.close();
    expect(server.requests).toHaveLength(3); // at start, the first, and one for the three
  });

  it('is no longer requested once its source is closed', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    let preparations = 0;
    const headers = () => ({ count: String(++preparations) });
    const live = await http({ name: 'team', url: server.url, refreshMs: 5, headers }).start(context());
    await server.nextRequest();
    await live.close();
    const count = preparations;
    await someRefreshes();
    expect(preparations).toBe(count);
  });

  it('is cancelled if its source, or the crib, is closed meanwhile', async () => {
    for (const close of ['source', 'crib']) {
      const server = await startServer();
      server.give(listOf('a'));
      const crib = new AbortController();
      const live = await http({ name: 'team', url: server.url }).start({ ...context(), signal: crib.signal });
      const gone = Promise.withResolvers<void>();
      server.answer((request) => void request.on('close', () => gone.resolve()));
      const refreshed = live.refresh?.();
      await server.nextRequest();
      if (close === 'crib') crib.abort();
      else await live.close();
      await Promise.all([gone.promise, refreshed]);
      expect(live.status()).toEqual({ state: 'ready' });
      await live.close();
    }
  });
});

/** Waits while another source of the same pace is refreshed several times. */
async function someRefreshes(): Promise<void> {
  const server = await startServer();
  server.give(listOf('b'));
  const live = await http({ name: 'other', url: server.url, refreshMs: 5 }).start(context());
  for (let index = 0; index < 4; index++) await server.nextRequest();
  await live.close();
}

describe('a server that misbehaves', () => {
  it.each<[string, Parameters<typeof startServer>[0], string, object]>([
    [
      'answers with HTML',
      (_, response) => void response.setHeader('content-type', 'text/html').end('<html>'),
      'answered with text/html; expected JSON or YAML',
      {},
    ],
    [
      'says no type',
      (_, response) => void response.end('[]'),
      'answered with no content type; expected JSON or YAML',
      {},
    ],
    [
      'answers with something else',
      (_, response) => void response.setHeader('content-type', 'application/json').end('{"a":1}'),
      'is not a list of tools: it has no "tools"',
      {},
    ],
    [
      'answers with half a list',
      (_, response) => void response.setHeader('content-type', 'application/json').end('[{'),
      'is not a list of tools: it is not JSON',
      {},
    ],
    ['answers with an error', (_, response) => void response.writeHead(404).end(), 'answered with status 404', {}],
    [
      'says that nothing has changed since nothing',
      (_, response) => void response.writeHead(304).end(),
      'answered with status 304',
      {},
    ],
    ['is slow', () => {}, 'did not complete its answer within 50 ms|did not answer within 50 ms', { timeoutMs: 50 }],
    [
      'answers with too much',
      (_, response) => void response.setHeader('content-type', 'application/json').end(' '.repeat(5_000_001)),
      'answered with more than 5000000 bytes',
      {},
    ],
    [
      'answers with more YAML than is parsed in a moment',
      (_, response) => void response.setHeader('content-type', 'application/yaml').end('#'.repeat(1_000_001)),
      'answered with more than 1000000 bytes of YAML; serve the list as JSON',
      {},
    ],
    [
      'answers without end',
      (_, response) => {
        const more = () => {
          while (response.write(' '.repeat(10_000)));
          response.once('drain', more);
        };
        more();
      },
      'answered with more than 1000000 bytes',
      { maxBytes: 1_000_000 },
    ],
    [
      'promises more than it gives',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('[');
        response.destroy();
      },
      'closed the connection before the answer was complete',
      {},
    ],
    [
      'redirects to a private address',
      (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      '127.0.0.1:1 is on a private network',
      {},
    ],
    [
      'redirects in a circle',
      (_, response) => void response.writeHead(302, { location: '/specs' }).end(),
      'redirects more than 5 times',
      { allowPrivate: ['127.0.0.1'] },
    ],
  ])('because it %s fails only its own source', async (_, answer, reason, options) => {
    const server = await startServer(answer);
    const other = await startServer();
    other.give(listOf('fine'));
    const crib = await openCrib({
      sources: [http({ name: 'team', url: server.url, ...options }), http({ name: 'other', url: other.url })],
    });
    expect(namesIn(crib)).toEqual(['fine']);
    expect(statusOf(crib, 'team')).toMatchObject({
      state: 'failed',
      toolCount: 0,
      reason: expect.stringMatching(reason),
    });
    expect(crib.warnings()).toContainEqual(expect.stringMatching(reason));
  });

  it('may itself be private, unless nothing private is allowed', async () => {
    const server = await startServer();
    server.give(listOf('a'));
    expect(statusOf(await cribOf(server, { allowPrivate: [] }), 'team')?.reason).toContain('is on a private network');
    expect(server.requests).toEqual([]);
  });

  it('never gets or reveals a secret of its address', async () => {
    const crib = await openCrib({ sources: [http({ name: 'team', url: 'http://127.0.0.1:1/x?token=secret' })] });
    expect(statusOf(crib, 'team')?.reason).toContain('127.0.0.1:1 cannot be reached');
    expect(JSON.stringify([crib.sources(), crib.warnings()])).not.toContain('secret');
  });

  it('is not contacted if its address cannot be made', async () => {
    const url = () => Promise.reject(new Error('There is no secret "team".'));
    const crib = await openCrib({ sources: [http({ name: 'team', url })] });
    expect(statusOf(crib, 'team')).toMatchObject({ state: 'failed', reason: 'There is no secret "team".' });
  });
});

describe('options of http()', () => {
  it.each([
    [{ name: 'x', uri: 'https://x' }, 'has no "uri"'],
    [{ name: 'x' }, 'url must be an http or https address'],
    [{ name: 'x', url: 'tools.example.com' }, 'url must be an http or https address'],
    [{ name: 'x', url: 'file:///etc/tools.yaml' }, 'url must be an http or https address'],
  ])('%j are refused', (options, message) => {
    expect(() => http(options as never)).toThrow(message);
  });
});
