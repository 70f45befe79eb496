import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Executor, ToolResult } from '../../../src/index.ts';
import type { HttpPorts } from '../../../src/kinds/http/http-client.ts';
import { httpExecutor } from '../../../src/kinds/http/http-executor.ts';
import { systemClock } from '../../../src/system/clock.ts';
import type { ResolveHost } from '../../../src/system/fetch/guarded-request.ts';
import { createSecrets } from '../../../src/system/secrets/secrets.ts';
import { testCall } from '../../../src/testing/index.ts';
import { startServer } from '../../sources/http-server.ts';
import { bodyOf, echo, giveJson, openShop } from './http-shop.ts';

const once = { policy: { retries: 0 } };
const codeOf = (result: ToolResult) => (result.status === 'failed' ? result.error.code : result.status);

/** An executor without a crib, closed after the test. */
function executorWith(ports: Pick<HttpPorts, 'allowPrivate' | 'resolve'>): Executor {
  const secrets = createSecrets({}, { env: {}, folder: '.' });
  const executor = httpExecutor({ clock: systemClock, secrets, ...ports });
  onTestFinished(() => executor.close?.());
  return executor;
}

/** What comes of one request to this address, with a resolver of the test. */
async function fetchWith(url: string, allowPrivate: readonly string[], resolve?: ResolveHost): Promise<ToolResult> {
  const run = { kind: 'http', url };
  const executor = executorWith({ allowPrivate: () => allowPrivate, ...(resolve !== undefined && { resolve }) });
  return executor.execute(testCall({ run }), run);
}

/** A server that sends exactly these bytes to every client. */
async function startRaw(talk: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

describe("HTTP: placeholders encoded for where they stand; private, loopback and link-local addresses refused unless in `allowPrivate`, the crib's own always, after DNS (the address used is the address checked) and after every redirect; size, time and redirects bounded; secrets only to their own hosts.", () => {
  it.each([
    'http://127.0.0.1:1/',
    'http://localhost:1/',
    'http://[::1]:1/',
    'http://2130706433:1/',
    'http://0x7f.1:1/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://0.0.0.0:1/',
  ])('%s', async (url) => {
    expect(await fetchWith(url, [])).toMatchObject({ error: { code: 'denied', retryable: false } });
  });

  it('after DNS, and the checked address is the used address', async () => {
    const server = await startServer(echo);
    const other = await startServer(echo);
    const lookups: string[] = [];
    // Another answer each time it is asked: one look is all there may be.
    const resolve: ResolveHost = async (name) => {
      lookups.push(name);
      return [{ address: lookups.length === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    };
    const url = `http://rebound.example:${server.host.split(':')[1]}/`;
    expect(await fetchWith(url, ['rebound.example'], resolve)).toMatchObject({ ok: true });
    expect(lookups).toEqual(['rebound.example']);
    const toPrivate: ResolveHost = async () => [{ address: '127.0.0.1', family: 4 }];
    expect(codeOf(await fetchWith(`http://public.example:${other.host.split(':')[1]}/`, [], toPrivate))).toBe('denied');
    expect(other.requests).toEqual([]);
  });

  it('an allowed name allows no other one', async () => {
    const server = await startServer(echo);
    const port = server.host.split(':')[1];
    const resolve: ResolveHost = async () => [{ address: '127.0.0.1', family: 4 }];
    expect(await fetchWith(`http://inside.example:${port}/`, ['inside.example'], resolve)).toMatchObject({ ok: true });
    expect(codeOf(await fetchWith(`http://other.example:${port}/`, ['inside.example'], resolve))).toBe('denied');
    expect(server.requests).toHaveLength(1);
  });

  it('after every redirect', async () => {
    const inner = await startServer(echo);
    const targets = [inner.url, 'http://169.254.169.254/', 'http://localhost:1/', 'file:///etc/passwd', 'ftp://a/'];
    for (const location of targets) {
      const { call } = await openShop((_, response) => void response.writeHead(302, { location }).end(), {
        spec: once,
      });
      expect(codeOf(await call())).toBe('denied');
    }
    expect(inner.requests).toEqual([]);
  });

  it('an edit of the configuration applies to the next call', async () => {
    const server = await startServer(echo);
    let allowed = ['inside.example'];
    const executor = executorWith({
      allowPrivate: () => allowed,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    const run = { kind: 'http', url: `http://inside.example:${server.host.split(':')[1]}/` };
    expect(codeOf(await executor.execute(testCall({ run }), run))).toBe('done');
    allowed = [];
    // Not even over the connection that is still open.
    expect(codeOf(await executor.execute(testCall({ run }), run))).toBe('denied');
  });
});

describe("the crib's own address is refused always", () => {
  it('at the address of this process', async () => {
    const { crib, call, server } = await openShop(echo);
    expect(codeOf(await call())).toBe('done');
    const stop = crib.noteListening({ address: '127.0.0.1', port: Number(server.host.split(':')[1]) });
    const other = await openShop(echo, { server });
    expect(codeOf(await other.call())).toBe('denied');
    stop();
    expect(codeOf(await other.call())).toBe('done');
  });

  it.each(['127.0.0.1', '0.0.0.0', 'localhost', '::'])('at the address in the configuration: %s', async (host) => {
    const server = await startServer(echo);
    const place = { host, port: Number(server.host.split(':')[1]) };
    const config = { executors: { http: { allowPrivate: [server.host] } }, server: place };
    expect(codeOf(await (await openShop(echo, { server, config })).call())).toBe('denied');
    const elsewhere = { ...config, server: { ...place, port: 1 } };
    expect(codeOf(await (await openShop(echo, { server, config: elsewhere })).call())).toBe('done');
  });

  it('under all its names', async () => {
    const server = await startServer(echo);
    const config = { executors: { http: { allowPrivate: [server.host] } }, server: { hosts: ['127.0.0.1'] } };
    expect(codeOf(await (await openShop(echo, { server, config })).call())).toBe('denied');
  });
});

describe('redirects', () => {
  it('are followed a few times, and not forever', async () => {
    const { call, server } = await openShop(
      (request, response) => {
        const count = Number(request.url?.slice(1));
        if (count === 3) giveJson(response, 'there');
        else response.writeHead(302, { location: `/${count + 1}` }).end();
      },
      { run: { url: '/0' }, spec: once },
    );
    expect(await call()).toMatchObject({ data: 'there' });
    server.answer((_, response) => void response.writeHead(302, { location: '/again' }).end());
    expect(codeOf(await call())).toBe('denied');
    expect(server.requests.length).toBeLessThan(15);
  });

  it('an invalid location is a failure', async () => {
    const { call } = await openShop((_, response) => void response.writeHead(302, { location: 'http://[' }).end(), {
      spec: once,
    });
    expect(codeOf(await call())).toBe('upstream');
  });
});

describe('a hostile server', () => {
  it('that answers without end is given up', async () => {
    const { call, server } = await openShop(
      (_, response) => {
        const more = () => {
          while (response.write(Buffer.alloc(65_536)));
        };
        response.on('drain', more);
        more();
      },
      { run: { maxResponseBytes: 1_000_000 } },
    );
    expect(codeOf(await call())).toBe('too_large');
    await expect.poll(() => server.requests[0]?.socket.destroyed).toBe(true);
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(50_000_000))],
    ['br', brotliCompressSync(Buffer.alloc(50_000_000))],
  ])('that sends a decompression bomb in %s is given up', async (encoding, bomb) => {
    const { call } = await openShop((_, response) => void response.setHeader('content-encoding', encoding).end(bomb), {
      run: { maxResponseBytes: 1_000_000 },
    });
    expect(codeOf(await call())).toBe('too_large');
  });

  it('that announces too much is given up before the body arrives', async () => {
    const { call } = await openShop(
      (_, response) => void response.writeHead(200, { 'content-length': '99999999999' }).write('x'),
    );
    expect(codeOf(await call())).toBe('too_large');
  });

  it.each<readonly [string, (socket: Socket) => void]>([
    ['never sends its headers to the end', (socket) => void socket.write('HTTP/1.1 200 OK\r\nx: ')],
    ['says nothing at all', () => {}],
    [
      'stops in the middle of the body',
      (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'),
    ],
  ])('that %s is timed out, and its connection is closed', async (_what, talk) => {
    const closed = Promise.withResolvers<void>();
    const host = await startRaw((socket) => {
      socket.on('close', () => closed.resolve());
      socket.on('data', () => talk(socket));
    });
    const { call } = await openShop(echo, {
      run: { url: `http://${host}/` },
      config: { executors: { http: { allowPrivate: [host] } } },
      spec: { policy: { timeoutMs: 100, retries: 0 } },
    });
    expect(codeOf(await call())).toBe('timeout');
    await closed.promise;
  });

  it.each<readonly [string, string, string]>([
    ['talks another language', 'SSH-2.0-OpenSSH\r\n', 'upstream'],
    ['hangs up', '', 'upstream'],
    ['sends half an answer', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'upstream'],
    [
      'sends what cannot be unpacked',
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc',
      'upstream',
    ],
    [
      'uses an unknown encoding',
      'HTTP/1.1 200 OK\r\ncontent-encoding: zip\r\ncontent-length: 3\r\n\r\nabc',
      'upstream',
    ],
    ['smuggles a header', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 'upstream'],
    ['sends endless headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`, 'upstream'],
  ])('that %s is only a failure', async (_what, bytes, code) => {
    const host = await startRaw((socket) => socket.once('data', () => socket.end(bytes)));
    const { call } = await openShop(echo, {
      run: { url: `http://${host}/` },
      config: { executors: { http: { allowPrivate: [host] } } },
      spec: once,
    });
    expect(codeOf(await call())).toBe(code);
  });

  it('that disconnects after a request to change something leaves the outcome unknown', async () => {
    const { call, server } = await openShop((request) => request.socket.destroy(), { run: { method: 'POST' } });
    expect(codeOf(await call())).toBe('unknown_outcome');
    expect(server.requests).toHaveLength(1);
  });

  it('that sends a body with 204 does not disturb the next call', async () => {
    let count = 0;
    const host = await startRaw((socket) => {
      socket.on('data', () => {
        count += 1;
        const answer =
          count === 1
            ? 'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'
            : 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ngood';
        socket.write(answer);
      });
    });
    const { call } = await openShop(echo, {
      run: { url: `http://${host}/` },
      config: { executors: { http: { allowPrivate: [host] } } },
    });
    expect(await call()).toMatchObject({ content: [{ text: 'Done: 204 No Content.' }] });
    expect(await call()).toMatchObject({ content: [{ text: 'good' }] });
  });

  it('that sets cookies gets none of them back', async () => {
    const { call, server } = await openShop((_, response) => {
      response.setHeader('set-cookie', ['id=1; Path=/', 'session=2']);
      giveJson(response, 1);
    });
    await call();
    await call();
    expect(server.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined]);
  });

  it.each([
    ['nested too deeply', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'upstream'],
    ['no JSON', '{"a":', 'upstream'],
    ['too large a number', '1e999', 'upstream'],
  ])('that sends JSON that is %s is a failure', async (_what, body, code) => {
    const { call } = await openShop(
      (_, response) => void response.setHeader('content-type', 'application/json').end(body),
    );
    expect(codeOf(await call())).toBe(code);
  });

  it('that names a member __proto__ changes no prototype', async () => {
    const body = '{"__proto__":{"polluted":1},"\\u005f_proto__":{"polluted":1},"a":{"__proto__":{"polluted":1},"b":1}}';
    const { call } = await openShop(
      (_, response) => void response.setHeader('content-type', 'application/json').end(body),
    );
    const result = await call();
    expect(result.ok && JSON.stringify(result.data)).toBe('{"a":{"b":1}}');
    expect({}).not.toHaveProperty('polluted');
  });
});

describe('a call during the DNS lookup', () => {
  it.each(['an abort', 'closing'] as const)('is ended by %s', async (how) => {
    const asked = Promise.withResolvers<void>();
    const resolve: ResolveHost = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    const executor = executorWith({ allowPrivate: () => [], resolve });
    const run = { kind: 'http', url: 'http://slow.example/' };
    const call = testCall({ run });
    const result = executor.execute(call, run);
    await asked.promise;
    if (how === 'closing') await executor.close?.();
    else call.abort();
    expect(codeOf(await result)).toBe('cancelled');
  });
});

describe('200 calls at once, half of them cancelled', () => {
  it('every call ends, and no connection stays open', async () => {
    const sockets = new Set<Socket>();
    const { chest, crib } = await openShop(
      async (request, response) => {
        sockets.add(request.socket);
        await bodyOf(request);
        if (request.url === '/hang') return;
        giveJson(response, request.url);
      },
      { run: { url: '/{id}', method: 'POST', body: { id: '{id}' } }, spec: once },
    );
    const controllers = Array.from({ length: 100 }, () => new AbortController());
    const hanging = controllers.map(({ signal }) => chest.call('ask', { id: 'hang' }, { signal }));
    const working = Array.from({ length: 100 }, (_, index) => chest.call('ask', { id: `n${index}` }));
    const results = await Promise.all(working);
    expect(results.map((result) => result.ok && result.data)).toEqual(results.map((_, index) => `/n${index}`));
    for (const controller of controllers) controller.abort();
    expect(new Set((await Promise.all(hanging)).map(codeOf))).toEqual(new Set(['cancelled']));
    await crib.close();
    await expect.poll(() => [...sockets].filter((socket) => !socket.destroyed).length).toBe(0);
  });
});
