import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RunningServer, type ServerOptions, startServer } from '../../../src/doors/rest/start-server.ts';
import { guardedFetch } from '../../../src/system/fetch/guarded-fetch.ts';
import { askThrough, execute, type Served, type ServeOptions, serve } from './served.ts';

interface Listening extends Served {
  readonly server: RunningServer;
  /** A connection, and everything that comes back until it ends. */
  speak(): { readonly socket: Socket; readonly heard: Promise<string> };
}

/** A crib that really listens, on any port. */
async function listening(options: ServeOptions & ServerOptions = {}): Promise<Listening> {
  const served = await serve(options);
  const server = await startServer(served.crib, { port: 0, ...options });
  onTestFinished(() => server.close());
  const speak = () => {
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const heard = new Promise<string>((resolve) => {
      socket.on('error', () => resolve(text)).on('close', () => resolve(text));
    });
    return { socket, heard };
  };
  return { ...served, server, speak, ask: askThrough((request) => fetch(request), server.url) };
}

const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const GET = head('GET /healthz HTTP/1.1', 'Host: localhost');
const CLOSING = head('GET /healthz HTTP/1.1', 'Host: localhost', 'Connection: close');

/** The status and the JSON of the last answer in what was heard. */
function lastOf(text: string) {
  const from = text.lastIndexOf('HTTP/1.1 ');
  const answer = text.slice(from);
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
  return {
    status: Number(answer.slice(9, 12)),
    json: JSON.parse(body.replace(/^[0-9a-f]+\r\n([\s\S]*?)\r\n0\r\n\r\n$/, '$1')),
  };
}

const FAILURE = { ok: false, status: 'failed', error: { code: 'invalid_input' } };

describe('a listening server', () => {
  it('answers', async () => {
    const { ask, server } = await listening();
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await execute(ask, 'add', { a: 1, b: 2 })).toMatchObject({ status: 200, json: { data: 3 } });
    const { headers } = await ask('/api/tools');
    for (const name of ['server', 'x-powered-by', 'access-control-allow-origin']) expect(headers.get(name)).toBeNull();
  });

  it('answers 100 requests at once', async () => {
    const { ask } = await listening();
    const calls = Array.from({ length: 100 }, (_, a) => execute(ask, 'add', { a, b: 1 }));
    const answers = await Promise.all(calls);
    expect(answers.map(({ json }) => json.data)).toEqual(answers.map((_, a) => a + 1));
    expect(new Set(answers.map(({ json }) => json.callId)).size).toBe(100);
  });

  it('accepts a megabyte of arguments and no body above four', async () => {
    const { ask, speak } = await listening();
    const large = { text: 'x'.repeat(1_000_000) };
    expect(await execute(ask, 'echo', large)).toMatchObject({ status: 200, json: { data: { length: 1_000_011 } } });
    const refused = await ask('/api/tools/execute/echo', { body: { arguments: { text: 'x'.repeat(5_000_000) } } });
    expect(refused).toMatchObject({ status: 413, json: { ok: false, error: { code: 'too_large' } } });
    const { socket, heard } = speak();
    socket.write(
      head(
        'POST /api/tools/execute/echo HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
      ),
    );
    const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    for (let sent = 0; sent < 5; sent++) socket.write(chunk);
    socket.end('0\r\n\r\n');
    expect(await heard).toMatch(/^HTTP\/1\.1 413 /);
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('reads a body in pieces', async () => {
    const { speak } = await listening();
    const { socket, heard } = speak();
    socket.write(
      head(
        'POST /api/tools/execute/add HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        'Connection: close',
      ),
    );
    for (const piece of ['{"arguments":', '{"a":1,"b"', ':2}}'])
      socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
    socket.write('0\r\n\r\n');
    expect(lastOf(await heard)).toMatchObject({ status: 200, json: { data: 3 } });
  });
});

describe('a client that', () => {
  it('sends its headers byte by byte gets a timeout and is disconnected', async () => {
    const { speak, ask } = await listening({ headersTimeoutMs: 150 });
    const { socket, heard } = speak();
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const drip = setInterval(() => socket.writable && socket.write('x'), 20);
    onTestFinished(() => clearInterval(drip));
    expect(lastOf(await heard)).toMatchObject({ status: 408, json: FAILURE });
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('never sends the rest of its body is disconnected', async () => {
    const { speak } = await listening({ headersTimeoutMs: 100, requestTimeoutMs: 200 });
    const { socket, heard } = speak();
    socket.write(
      head(
        'POST /api/tools/execute/add HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        'Content-Length: 100',
      ),
    );
    socket.write('{');
    expect(await heard).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('sends nothing is disconnected', async () => {
    const { speak } = await listening({ headersTimeoutMs: 100 });
    const { socket, heard } = speak();
    expect(await heard).toMatch(/^HTTP\/1\.1 408 /);
    expect(socket.destroyed).toBe(true);
  });

  it('closes its half after the request still gets its answer', async () => {
    const { speak } = await listening();
    const { socket, heard } = speak();
    socket.end(GET);
    expect(lastOf(await heard)).toMatchObject({ status: 200, json: { ok: true } });
  });

  it('disconnects during a call ends the call', async () => {
    const { speak, deeds, crib } = await listening();
    const gate = deeds.hold();
    const { socket } = speak();
    socket.write(head('POST /api/tools/execute/wait HTTP/1.1', 'Host: localhost', 'Content-Length: 0'));
    await gate.entered;
    socket.destroy();
    await vi.waitFor(async () =>
      expect(await crib.calls.list({ tool: 'wait' })).toMatchObject([{ outcome: 'cancelled' }]),
    );
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['a TLS greeting', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1', 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a header without an end', head('GET / HTTP/1.1', 'Host: localhost', `X: ${'x'.repeat(20_000)}`), 431],
    ['two lengths', head('POST /healthz HTTP/1.1', 'Host: localhost', 'Content-Length: 1', 'Content-Length: 2'), 400],
    [
      'a length and chunks',
      head('POST /healthz HTTP/1.1', 'Host: localhost', 'Content-Length: 3', 'Transfer-Encoding: chunked'),
      400,
    ],
    [
      'a chunk of no size',
      `${head('POST /api/tools/execute/add HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked')}zz\r\n`,
      400,
    ],
    ['a header with a null', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n', 400],
    ['no host', head('GET /healthz HTTP/1.1', 'Connection: close'), 400],
    ['no host, in the old way', head('GET /healthz HTTP/1.0'), 400],
    ['a backslash for an address', head('GET \\healthz HTTP/1.1', 'Host: localhost', 'Connection: close'), 400],
    ['an expectation', head('GET /healthz HTTP/1.1', 'Host: localhost', 'Expect: a-cake', 'Connection: close'), 417],
    ['another name for us', head('GET /healthz HTTP/1.1', 'Host: evil.example', 'Connection: close'), 403],
    [
      'another name in the address',
      head('GET http://evil.example/healthz HTTP/1.1', 'Host: localhost', 'Connection: close'),
      403,
    ],
    [
      'another origin',
      head('GET /healthz HTTP/1.1', 'Host: localhost', 'Origin: http://evil.example', 'Connection: close'),
      403,
    ],
    ['a method of its own', head('BREW /healthz HTTP/1.1', 'Host: localhost', 'Connection: close'), 400],
    ['a way up', head('GET /../../etc/passwd HTTP/1.1', 'Host: localhost', 'Connection: close'), 404],
    [
      'a way up in disguise',
      head('GET /api/tools/..%2f..%2fetc HTTP/1.1', 'Host: localhost', 'Connection: close'),
      404,
    ],
    ['half of an escape', head('GET /api/tools/%E0%A4%A HTTP/1.1', 'Host: localhost', 'Connection: close'), 404],
  ])('sends %s is answered in JSON, without internals', async (_, bytes, status) => {
    const { speak, ask } = await listening();
    const { socket, heard } = speak();
    socket.write(Buffer.from(bytes, 'latin1'));
    const answer = await heard;
    expect(lastOf(answer)).toMatchObject({
      status,
      json: { ok: false, status: 'failed', error: { message: expect.any(String) } },
    });
    expect(answer).not.toMatch(/node:|\.ts\b|HPE_|ERR_/);
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('sends garbage after a request gets the answer to the request', async () => {
    const { speak, ask } = await listening();
    const { socket, heard } = speak();
    socket.write(GET);
    await once(socket, 'data');
    socket.write('garbage garbage\r\n\r\n');
    const answer = await heard;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(lastOf(answer)).toMatchObject({ status: 400 });
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('sends requests without waiting gets every answer, in order', async () => {
    const { speak } = await listening();
    const { socket, heard } = speak();
    const paths = ['/healthz', '/nothing', '/api/tools/add', '/readyz'];
    socket.write(paths.map((path) => head(`GET ${path} HTTP/1.1`, 'Host: localhost')).join('') + CLOSING);
    const statuses = [...(await heard).matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', '404', '200', '200', '200']);
  });

  it('asks for an upgrade or a tunnel is refused', async () => {
    const { speak, ask } = await listening();
    const upgrade = speak();
    upgrade.socket.write(
      head('GET /healthz HTTP/1.1', 'Host: localhost', 'Connection: Upgrade, close', 'Upgrade: websocket'),
    );
    expect(await upgrade.heard).not.toMatch(/^HTTP\/1\.1 101/);
    const tunnel = speak();
    tunnel.socket.write(head('CONNECT evil.example:443 HTTP/1.1', 'Host: localhost'));
    expect(await tunnel.heard).not.toMatch(/^HTTP\/1\.1 2/);
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('connects when the server is full is disconnected, and the others continue', async () => {
    const { speak, deeds, ask, server } = await listening({ maxConnections: 2 });
    const gate = deeds.hold();
    const { socket, heard } = speak();
    socket.write(
      head('POST /api/tools/execute/wait HTTP/1.1', 'Host: localhost', 'Content-Length: 0', 'Connection: close'),
    );
    await gate.entered;
    const second = speak();
    await once(second.socket, 'connect');
    expect(await speak().heard).toBe('');
    gate.open();
    expect(lastOf(await heard)).toMatchObject({ status: 200 });
    second.socket.destroy();
    await vi.waitFor(async () => expect((await ask('/healthz')).status).toBe(200));
    expect(server.port).toBeGreaterThan(0);
  });
});

describe('closing', () => {
  it('finishes running calls, ends streams, and accepts nothing new', async () => {
    const { speak, deeds, server, token, ask } = await listening();
    const gate = deeds.hold();
    const call = speak();
    call.socket.write(head('POST /api/tools/execute/wait HTTP/1.1', 'Host: localhost', 'Content-Length: 0'));
    await gate.entered;
    const events = speak();
    events.socket.write(head('GET /api/events HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${token}`));
    await once(events.socket, 'data');
    const idle = speak();
    idle.socket.write(GET);
    await once(idle.socket, 'data');
    const closed = server.close();
    expect(await events.heard).toContain('text/event-stream');
    await idle.heard;
    await expect(ask('/healthz')).rejects.toThrow();
    gate.open();
    expect(await call.heard).toMatch(/\r\nconnection: close\r\n[\s\S]*"waited"/i);
    await closed;
    await server.close();
  });

  it('ends and answers calls that take too long', async () => {
    const { speak, deeds, server } = await listening({ graceMs: 100 });
    const gate = deeds.hold();
    const { socket, heard } = speak();
    socket.write(head('POST /api/tools/execute/wait HTTP/1.1', 'Host: localhost', 'Content-Length: 0'));
    await gate.entered;
    await server.close();
    expect(lastOf(await heard)).toMatchObject({ status: 502, json: { error: { code: 'unknown_outcome' } } });
  });
});

describe('the address of a server', () => {
  it('is this machine, unless access is configured', async () => {
    const open = await serve();
    await expect(startServer(open.crib, { host: '0.0.0.0', port: 0 })).rejects.toThrow(
      /cannot listen on 0\.0\.0\.0.*require a credential.*access:.*--insecure/,
    );
    const guarded = await serve({ access: true });
    const server = await startServer(guarded.crib, { host: '0.0.0.0', port: 0 });
    onTestFinished(() => server.close());
    const ask = askThrough((request) => fetch(request), `http://127.0.0.1:${server.port}`);
    expect((await ask('/api/tools')).status).toBe(401);
    expect((await ask('/api/tools', { token: guarded.token })).status).toBe(200);
    const insecure = await startServer(open.crib, { host: '0.0.0.0', port: 0, isInsecure: true });
    onTestFinished(() => insecure.close());
  });

  it('is that of the configuration, unless a flag names another', async () => {
    const { crib } = await serve({ config: 'server: { host: localhost, port: 0, hosts: tools.example.com }\n' });
    const server = await startServer(crib);
    onTestFinished(() => server.close());
    expect(server).toMatchObject({ host: 'localhost', url: `http://localhost:${server.port}` });
    const ask = askThrough((request) => fetch(request), server.url);
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('is reported in one sentence if it cannot be used', async () => {
    const { crib } = await serve();
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number }; // it listens on a port
    await expect(startServer(crib, { port })).rejects.toThrow(
      `The server cannot listen on 127.0.0.1:${port}: another program already listens there; choose another port with --port, or stop that program.`,
    );
    await expect(startServer(crib, { host: '127.0.0.1', port: 70_000 })).rejects.toThrow();
  });

  it('of the crib itself is never reachable for tools', async () => {
    const { server, token } = await listening();
    const spellings = ['127.0.0.1', 'localhost', '0.0.0.0', '[::ffff:127.0.0.1]', '2130706433', '127.1', '0x7f.1'];
    for (const name of spellings) {
      const address = `http://${name}:${server.port}/api/approvals`;
      for (const allowPrivate of ['first', [name, `${name}:${server.port}`, 'localhost', '127.0.0.1']] as const)
        await expect(
          guardedFetch(address, { allowPrivate, headers: { authorization: `Bearer ${token}` } }),
          name,
        ).rejects.toMatchObject({ failure: 'refused' });
    }
    await server.close();
    await expect(guardedFetch(server.url, { allowPrivate: 'first' })).rejects.toMatchObject({ failure: 'unreachable' });
  });
});
