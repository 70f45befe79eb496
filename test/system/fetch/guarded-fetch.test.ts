import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer as createTcpServer } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { keptConnections } from '../../../src/system/fetch/agent-pool.ts';
import {
  type FetchedResponse,
  type GuardedFetchOptions,
  guardedFetch,
} from '../../../src/system/fetch/guarded-fetch.ts';
import { startServer } from '../../sources/http-server.ts';

const first = { allowPrivate: 'first' } as const;

/** What kept something from being fetched. */
async function failureOf(fetching: Promise<FetchedResponse>): Promise<string> {
  return fetching.then(
    ({ status }) => `it answered with ${status}`,
    (error) => `${error.failure}: ${error.message}`,
  );
}

describe('a private address', () => {
  it.each([
    'http://127.0.0.1:1/',
    'http://127.1:1/',
    'http://2130706433:1/',
    'http://0x7f000001:1/',
    'http://[::1]:1/',
    'http://[::ffff:127.0.0.1]:1/',
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://0.0.0.0:1/',
  ])('such as %s is refused', async (address) => {
    expect(await failureOf(guardedFetch(address))).toMatch(/^refused: .* is on a private network/);
  });

  it('behind a name is refused after the name is resolved', async () => {
    expect(await failureOf(guardedFetch('http://localhost:1/'))).toMatch(
      /^refused: localhost:1 is on a private network/,
    );
    const resolve = async () => [{ address: '10.1.2.3', family: 4 }];
    expect(await failureOf(guardedFetch('http://looks.public.example/', { resolve }))).toMatch(/^refused/);
  });

  it('is refused before anything is sent to it', async () => {
    const server = await startServer();
    await failureOf(guardedFetch(server.url));
    expect(server.requests).toEqual([]);
  });

  it('may be reached if its host, or host and port, is allowed, and only there', async () => {
    const server = await startServer();
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const port = server.host.split(':')[1];
    for (const allowed of ['127.0.0.1', server.host])
      expect(await guardedFetch(server.url, { allowPrivate: [allowed] })).toMatchObject({ status: 200 });
    const options: GuardedFetchOptions = { resolve, allowPrivate: ['Inner.example'] };
    expect(await guardedFetch(`http://inner.example:${port}/`, options)).toMatchObject({ status: 200 });
    expect(await failureOf(guardedFetch(`http://other.example:${port}/`, options))).toMatch(/^refused/);
    expect(await failureOf(guardedFetch(server.url, { allowPrivate: ['127.0.0.1:1'] }))).toMatch(/^refused/);
  });

  it('is the checked one: a name is resolved once', async () => {
    const server = await startServer();
    const answers = ['127.0.0.1', '10.0.0.1'];
    let asked = 0;
    const resolve = async () => [{ address: answers[asked++] ?? '', family: 4 }];
    const address = `http://rebinding.example:${server.host.split(':')[1]}/`;
    expect(await guardedFetch(address, { resolve, allowPrivate: ['rebinding.example'] })).toMatchObject({
      status: 200,
    });
    expect(asked).toBe(1);
  });
});

describe('a redirect', () => {
  it('to a private address is refused, even from an allowed private address', async () => {
    const inner = await startServer();
    const server = await startServer((_, response) => response.writeHead(302, { location: inner.url }).end());
    expect(await failureOf(guardedFetch(server.url, first))).toBe(
      `refused: ${inner.host} is on a private network, and access to it is not allowed.`,
    );
    expect(inner.requests).toEqual([]);
  });

  it('is followed to allowed hosts, at most five times', async () => {
    const server = await startServer();
    const redirectTimes = (times: number) =>
      server.answer((request, response) => {
        const count = Number(request.url?.slice(1)) || 0;
        if (count === times) response.end('there');
        else response.writeHead(307, { location: `/${count + 1}` }).end();
      });
    redirectTimes(5);
    const options = { allowPrivate: [server.host] };
    const response = await guardedFetch(server.url, options);
    expect([response.url.pathname, response.bytes.toString()]).toEqual(['/5', 'there']);
    redirectTimes(6);
    expect(await failureOf(guardedFetch(server.url, options))).toBe(
      `refused: ${server.host} redirects more than 5 times.`,
    );
  });

  it('in a cycle ends', async () => {
    const server = await startServer((_, response) => response.writeHead(301, { location: '/specs' }).end());
    expect(await failureOf(guardedFetch(server.url, { allowPrivate: [server.host] }))).toMatch(
      /redirects more than 5 times/,
    );
    expect(server.requests).toHaveLength(6);
  });

  it.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'http://[bad',
    'javascript:alert(1)',
    'http://user:pass@example.com/',
  ])('to %s is refused', async (location) => {
    const server = await startServer((_, response) => response.writeHead(302, { location }).end());
    expect(await failureOf(guardedFetch(server.url, first))).toMatch(/^(refused|malformed)/);
  });

  it('carries credentials within one origin and never to another', async () => {
    const other = await startServer();
    const server = await startServer((request, response) => {
      const location = request.url === '/specs' ? '/next' : other.url;
      response.writeHead(302, { location }).end();
    });
    const headers = { Authorization: 'Bearer x', Cookie: 'a=b', 'X-Api-Key': 'k', Accept: 'application/json' };
    await guardedFetch(server.url, { headers, allowPrivate: [server.host, other.host] });
    expect(server.requests[1]?.headers).toMatchObject({ authorization: 'Bearer x', 'x-api-key': 'k', cookie: 'a=b' });
    expect(other.requests[0]?.headers).toMatchObject({ accept: 'application/json' });
    for (const name of ['authorization', 'cookie', 'x-api-key'])
      expect(other.requests[0]?.headers[name]).toBeUndefined();
  });

  it('turns a POST into a GET like a browser, and otherwise repeats it', async () => {
    const server = await startServer();
    const methods = async (status: number) => {
      const begin = server.requests.length;
      server.answer((request, response) =>
        request.url === '/specs' ? response.writeHead(status, { location: '/next' }).end() : response.end(),
      );
      await guardedFetch(server.url, { method: 'post', body: '{}', allowPrivate: [server.host] });
      return server.requests.slice(begin).map(({ method, headers }) => [method, headers['content-length']]);
    };
    expect(await methods(303)).toEqual([
      ['POST', '2'],
      ['GET', undefined],
    ]);
    expect(await methods(308)).toEqual([
      ['POST', '2'],
      ['POST', '2'],
    ]);
  });
});

describe('an answer', () => {
  it('has status, headers and bytes, and no cookies', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(404, { 'content-type': 'text/plain', 'set-cookie': 'a=b' }).end('no such thing');
    });
    const response = await guardedFetch(server.url, first);
    expect(response.status).toBe(404);
    expect(response.headers).toMatchObject({ 'content-type': 'text/plain' });
    expect(response.headers['set-cookie']).toBeUndefined();
    expect(response.bytes.toString()).toBe('no such thing');
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('is decompressed from %s, within the same limit', async (encoding, pack) => {
    const server = await startServer();
    const give = (text: string) =>
      server.answer((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(pack(text)));
    give('hello');
    expect((await guardedFetch(server.url, first)).bytes.toString()).toBe('hello');
    give('0'.repeat(1_000_000));
    expect(await failureOf(guardedFetch(server.url, { ...first, maxBytes: 10_000 }))).toBe(
      `too_large: ${server.host} answered with more than 10000 bytes.`,
    );
  });

  it('that announces too much is not read', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(200, { 'content-length': '1000000' }).write('x');
    });
    expect(await failureOf(guardedFetch(server.url, { ...first, maxBytes: 1000 }))).toMatch(/^too_large/);
  });

  it('without end is cut off, with its connection', async () => {
    const ended = Promise.withResolvers<void>();
    const server = await startServer((request, response) => {
      const more = () => {
        while (response.write('x'.repeat(10_000)));
        response.once('drain', more);
      };
      more();
      request.on('close', () => ended.resolve());
    });
    expect(await failureOf(guardedFetch(server.url, { ...first, maxBytes: 1_000_000 }))).toMatch(/^too_large/);
    await ended.promise;
  });

  it.each<[string, string, RegExp]>([
    [
      'is shorter than it said',
      'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort',
      /^lost: .*before the answer was complete/,
    ],
    ['is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n', /^malformed: The HTTP exchange with .* is invalid/],
    ['is nothing', '', /^lost: .*before the answer was complete/],
    [
      'is not gzip',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello',
      /^malformed: .*cannot be decompressed/,
    ],
    [
      'is in an unknown encoding',
      'HTTP/1.1 200 OK\r\nContent-Encoding: zip\r\nContent-Length: 1\r\n\r\nx',
      /^malformed: .*"zip"/,
    ],
  ])('that %s fails with a sentence', async (_, text, message) => {
    const server = createTcpServer((socket) => {
      socket.once('data', () => socket.end(text));
      socket.on('error', () => {});
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => server.close());
    const { port } = server.address() as { port: number }; // it listens on a port
    expect(await failureOf(guardedFetch(`http://127.0.0.1:${port}/`, first))).toMatch(message);
  });

  it('that never arrives ends at the timeout', async () => {
    const server = await startServer(() => {});
    expect(await failureOf(guardedFetch(server.url, { ...first, headerTimeoutMs: 30 }))).toBe(
      `timeout: ${server.host} did not answer within 30 ms.`,
    );
  });

  it('that drips ends at the timeout', async () => {
    const server = await startServer((request, response) => {
      response.flushHeaders();
      const timer = setInterval(() => response.write('x'), 5);
      request.on('close', () => clearInterval(timer));
    });
    expect(await failureOf(guardedFetch(server.url, { ...first, timeoutMs: 100 }))).toBe(
      `timeout: ${server.host} did not complete its answer within 100 ms.`,
    );
  });

  it('is no longer awaited once the caller has gone', async () => {
    const server = await startServer(() => {});
    const controller = new AbortController();
    const fetching = failureOf(guardedFetch(server.url, { ...first, signal: controller.signal }));
    await server.nextRequest();
    controller.abort();
    expect(await fetching).toBe(`cancelled: Fetching from ${server.host} was cancelled.`);
    expect(await failureOf(guardedFetch(server.url, { ...first, signal: AbortSignal.abort() }))).toMatch(/^cancelled/);
  });
});

describe('a request', () => {
  it.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:text/plain,x',
    'nothing',
    'http://user:secret@example.com/',
  ])('to %s is refused, and the address is not repeated', async (address) => {
    const failure = await failureOf(guardedFetch(address));
    expect(failure).toMatch(/^refused/);
    expect(failure).not.toMatch(/secret|passwd/);
  });

  it('cannot choose its transport headers', async () => {
    const server = await startServer();
    expect(await failureOf(guardedFetch(server.url, { ...first, headers: { Host: 'other' } }))).toMatch(
      /^malformed: The header "host"/,
    );
    expect(await failureOf(guardedFetch(server.url, { ...first, headers: { 'x-a': 'b\r\nc: d' } }))).toMatch(
      /^malformed/,
    );
    expect(server.requests).toEqual([]);
  });

  it('never reveals the query of its address when it fails', async () => {
    const server = await startServer((_, response) => response.destroy());
    expect(await failureOf(guardedFetch(`${server.url}?token=secret`, first))).not.toContain('secret');
  });

  it('to an unknown host says so', async () => {
    const server = await startServer();
    await server.close();
    expect(await failureOf(guardedFetch(server.url, first))).toBe(
      `unreachable: ${server.host} cannot be reached: ECONNREFUSED (connection refused: start the server, or correct the address).`,
    );
    const resolve = () => Promise.reject(new Error('getaddrinfo ENOTFOUND'));
    expect(await failureOf(guardedFetch('http://nowhere.example/', { resolve }))).toMatch(
      /^unreachable: nowhere.example cannot be resolved/,
    );
  });
});

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

describe('a host that accepts no connection', () => {
  it('is unreachable after 2.5 s, whatever the answer may take', async () => {
    const server = await startFullServer();
    const fetching = guardedFetch(server.url, { ...first, headerTimeoutMs: 600_000, timeoutMs: 600_000 });
    expect(await failureOf(fetching)).toBe(`unreachable: ${server.host} did not accept a connection within 2500 ms.`);
  });

  it('does not limit a host that accepts the connection and is slow to answer', async () => {
    const server = await startServer((_, response) => void setTimeout(() => response.end('here'), 2700));
    expect(await guardedFetch(server.url, first)).toMatchObject({ status: 200 });
  });
});

/** A real server that is frozen while its queue of connections is full: the system drops every further one. */
async function startFullServer() {
  const code =
    "require('net').createServer().listen({port:0,host:'127.0.0.1',backlog:1},function(){console.log(this.address().port)})";
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [chunk] = await once(child.stdout, 'data');
  const port = Number(String(chunk));
  child.kill('SIGSTOP');
  const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(sockets.slice(0, 2).map((socket) => once(socket, 'connect')));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
  });
  return { host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/` };
}

it('a kept connection keeps nothing of the requests that it has carried', async () => {
  const server = await startServer((_, response) => void response.end('here'));
  const agent = keptConnections('http:');
  onTestFinished(() => agent.destroy());
  const listenersAfterOne = async (): Promise<readonly number[]> => {
    await guardedFetch(server.url, { ...first, agentFor: () => agent });
    const [socket] = Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
    return socket?.eventNames().map((name) => socket.listenerCount(name)) ?? [];
  };
  const [once, again] = [await listenersAfterOne(), await listenersAfterOne()];
  expect(once.length).toBeGreaterThan(0);
  expect(again).toEqual(once);
});

describe('a server that sends interim responses', () => {
  const answering = async (interim: number, status: number) => {
    const head = `HTTP/1.1 ${status} Interim\r\n\r\n`.repeat(interim);
    const server = createTcpServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end(`${head}HTTP/1.1 204 Done\r\n\r\n`));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    return failureOf(guardedFetch(`http://127.0.0.1:${port}/`, first));
  };

  it.each([100, 102, 103, 199])('of status %i without end is left', async (status) => {
    expect(await answering(100_000, status)).toMatch(
      /^malformed: 127\.0\.0\.1:\d+ sent more than 100 interim responses\.$/,
    );
  });

  it('is read as usual if there are few', async () => {
    expect(await answering(50, 102)).toBe('it answered with 204');
  });
});
