// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ToolResult } from '../../../src/index.ts';
import { httpExecutor } from '../../../src/kinds/http/http-executor.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { createSecrets } from '../../../src/system/secrets/secrets.ts';
import { testCall } from '../../../src/testing/index.ts';
import { startServer } from '../../sources/http-server.ts';
import { askedWith, echo, openShop, type Shop } from './http-shop.ts';

const once = { policy: { retries: 0 } };
const codeOf = (result: ToolResult) => (result.status === 'failed' ? result.error.code : result.status);
const textOf = (result: ToolResult) => JSON.stringify(result.ok && (result.data ?? result.content));

/** A shop whose server says what it is told; `talk` is asked with each request, counted from one. */
async function openRaw(
  talk: (socket: Socket, count: number) => void,
  run: object = {},
  policy: object = {},
): Promise<Shop> {
  let count = 0;
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => talk(socket, ++count));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const config = { executors: { http: { allowPrivate: [host] } } };
  return openShop(echo, {
    run: { url: `http://${host}/`, ...run },
    config,
    spec: { policy: { retries: 0, ...policy } },
  });
}

/** Sends the same again and again, as long as a client listens. */
function flood(socket: Socket, text: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', more);
  more();
}

const plain = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;

describe('an unsolicited answer is not used for the next request', () => {
  it('if it arrives together with another', async () => {
    const { call } = await openRaw((socket, count) =>
      socket.write(count === 1 ? plain('one') + plain('evil') : plain('two')),
    );
    expect([textOf(await call()), textOf(await call())].join()).toMatch(/one.*two/);
  });

  it('if it arrives while no request runs', async () => {
    const closed = Promise.withResolvers<void>();
    const { call } = await openRaw((socket, count) => {
      socket.write(plain(count === 1 ? 'one' : 'two'));
      if (count > 1) return;
      socket.on('close', () => closed.resolve());
      setImmediate(() => socket.write(plain('evil')));
    });
    expect(textOf(await call())).toContain('one');
    await closed.promise; // such a connection is not kept
    expect(textOf(await call())).toContain('two');
  });

  it('if it replaces the body of a HEAD', async () => {
    const body = 'HTTP/1.1 200 OK\r\nx-count: evil\r\n\r\n';
    const { call } = await openRaw(
      (socket, count) =>
        socket.write(
          `HTTP/1.1 200 OK\r\nx-count: ${count}\r\ncontent-length: ${body.length}\r\n\r\n${count === 1 ? body : ''}`,
        ),
      { method: 'HEAD' },
    );
    expect(textOf(await call())).toContain('"x-count":"1"');
    expect(textOf(await call())).toContain('"x-count":"2"');
  });
});

describe('a server that never completes an answer is given up', () => {
  it.each([
    [
      'preliminary answers',
      'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500),
      'upstream',
    ],
    [
      'extensions of a chunk',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;',
      'a'.repeat(65_536),
      'upstream',
    ],
    ['trailers', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n', 'a: b\r\n'.repeat(5000), 'upstream'],
    ['headers', 'HTTP/1.1 200 OK\r\n', 'a: b\r\n'.repeat(5000), 'upstream'],
  ])('without end: %s', async (_what, begin, more, code) => {
    const closed = Promise.withResolvers<void>();
    const { call } = await openRaw(
      (socket) => {
        socket.on('close', () => closed.resolve());
        socket.write(begin);
        flood(socket, more);
      },
      {},
      { timeoutMs: 500 },
    );
    expect(codeOf(await call())).toBe(code);
    await closed.promise;
  });
});

describe('an abort ends the request', () => {
  const packed = gzipSync(Buffer.from('x'.repeat(1000))).subarray(0, 20);
  it.each<readonly [string, (socket: Socket) => void]>([
    ['before anything is answered', () => {}],
    ['within the headers', (socket) => void socket.write('HTTP/1.1 200 OK\r\nx: ')],
    ['within the body', (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc')],
    [
      'within a packed body',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 900\r\n\r\n');
        socket.write(packed);
      },
    ],
  ])('%s, and its connection with it', async (_when, talk) => {
    const asked = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const { chest } = await openRaw((socket) => {
      socket.on('close', () => closed.resolve());
      talk(socket);
      setImmediate(asked.resolve);
    });
    const ending = new AbortController();
    const answer = chest.call('ask', {}, { signal: ending.signal });
    await asked.promise;
    ending.abort();
    expect(codeOf(await answer)).toBe('cancelled');
    await closed.promise;
  });

  it('after a redirect', async () => {
    const asked = Promise.withResolvers<Socket>();
    const { chest } = await openShop((request, response) => {
      if (request.url === '/') response.writeHead(302, { location: '/hang' }).end();
      else asked.resolve(request.socket);
    });
    const ending = new AbortController();
    const answer = chest.call('ask', {}, { signal: ending.signal });
    const socket = await asked.promise;
    ending.abort();
    expect(codeOf(await answer)).toBe('cancelled');
    await expect.poll(() => socket.destroyed).toBe(true);
  });
});

describe('a placeholder stays in its place', () => {
  it.each([
    '..%2f..',
    '..\\..',
    '%2e%2e',
    '@evil.example',
    '//evil.example',
    '?a=b',
    '#a',
    'a\r\nx: y',
    'a\tb',
    ';a',
    '．．',
    'a%00',
  ])('in the path: %j', async (id) => {
    const { url } = await askedWith({ url: '/a/{id}/b' }, { id });
    expect(url).toBe(`/a/${encodeURIComponent(id)}/b`);
  });

  it.each(['a&b=c', 'a#b', 'a\r\nx: y', '%26b=c', 'a=b', 'a+b', 'a;b'])('in the query: %j', async (q) => {
    const { url } = await askedWith({ url: '/?p={q}', query: { q: '{q}' } }, { q });
    expect(url).toBe(`/?p=${encodeURIComponent(q)}&q=${encodeURIComponent(q)}`);
  });

  it('in a cookie and a header', async () => {
    const { headers } = await askedWith(
      { cookies: { a: '{q}' }, headers: { 'x-a': 'v {n}' } },
      { q: 'x; admin=1', n: 1 },
    );
    expect(headers).toMatchObject({ cookie: 'a=x%3B%20admin%3D1', 'x-a': 'v 1' });
    for (const n of ['a\r\nx: y', 'a\0', 'a\nb', '€']) {
      const { call, server } = await openShop(echo, { run: { headers: { 'x-a': '{n}' } } });
      expect(codeOf(await call({ n })), n).toBe('invalid_input');
      expect(server.requests).toEqual([]);
    }
  });
});

describe('`allowPrivate` allows exactly what it names', () => {
  it.each([
    ['inside', 'inside.', 'denied'],
    ['inside', 'a.inside', 'denied'],
    ['*.inside', 'a.inside', 'denied'],
    ['insid', 'inside', 'denied'],
    ['inside:1', 'inside', 'denied'],
    ['127.0.0.1', '127.0.0.2', 'denied'],
    ['127.0.0.1', '[::ffff:127.0.0.1]', 'denied'],
    ['127.0.0.0/8', '127.0.0.1', 'denied'],
    ['127.0.0.1', '2130706433', 'done'], // another spelling of the same
    ['Inside', 'inSide', 'done'],
  ])('%s and %s: %s', async (allowed, host, code) => {
    const server = await startServer(echo);
    const executor = httpExecutor({
      clock: systemClock,
      secrets: createSecrets({}, { env: {}, folder: '.' }),
      allowPrivate: () => [allowed],
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    onTestFinished(() => executor.close?.());
    const run = { kind: 'http', url: `http://${host}:${server.host.split(':')[1]}/` };
    expect(codeOf(await executor.execute(testCall({ run }), run))).toBe(code);
  });
});

describe('redirects', () => {
  it('to another port of the same host, and back, carry no credentials', async () => {
    process.env.HTTP_ATTACKS_TOKEN = 'a-token-of-the-attacks';
    onTestFinished(() => void delete process.env.HTTP_ATTACKS_TOKEN);
    const [first, second] = [await startServer(), await startServer()];
    second.answer((_, response) => void response.writeHead(307, { location: `http://${first.host}/back` }).end());
    const { call } = await openShop(
      (request, response) => {
        if (request.url === '/back') response.end('there');
        else response.writeHead(307, { location: `http://${second.host}/` }).end();
      },
      {
        server: first,
        run: { auth: { bearer: '${secret:token}' }, headers: { 'x-team': 'acme' }, cookies: { a: 'b' } },
        config: {
          secrets: { token: { env: 'HTTP_ATTACKS_TOKEN', hosts: [first.host, second.host] } },
          executors: { http: { allowPrivate: [first.host, second.host] } },
        },
      },
    );
    expect(textOf(await call())).toContain('there');
    const [asked, back] = first.requests.map(({ headers }) => headers);
    expect(asked).toMatchObject({ authorization: 'Bearer a-token-of-the-attacks', 'x-team': 'acme', cookie: 'a=b' });
    for (const headers of [second.requests[0]?.headers, back])
      expect(Object.keys(headers ?? {})).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(authorization|cookie|x-team)$/)]),
      );
  });

  it('with a password in them are refused', async () => {
    const { call, server } = await openShop(
      (request, response) => void response.writeHead(302, { location: `http://a:b@${request.headers.host}/x` }).end(),
      { spec: once },
    );
    expect(codeOf(await call())).toBe('denied');
    expect(server.requests).toHaveLength(1);
  });
});

it('proxies of the environment are ignored', async () => {
  const proxy = await startServer(echo);
  const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  const before = names.map((name) => [name, process.env[name]] as const);
  onTestFinished(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
  for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://${proxy.host}`;
  const { call, server } = await openShop(echo);
  expect(codeOf(await call())).toBe('done');
  expect([server.requests.length, proxy.requests.length]).toEqual([1, 0]);
});

it.each(['99999999999999999999', '-5', '1e9', 'Infinity', '', 'Fri, 99 Foo 2099 00:00:00 GMT', '0x10'])(
  'a Retry-After of %j makes no caller wait without limit',
  async (after) => {
    const { call } = await openShop((_, response) => void response.writeHead(429, { 'retry-after': after }).end(), {
      spec: once,
    });
    const result = await call();
    expect(codeOf(result)).toBe('rate_limited');
    const { retryAfterMs = 0 } = result.status === 'failed' ? result.error : {};
    expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
    expect(retryAfterMs).toBeGreaterThanOrEqual(0);
  },
);
