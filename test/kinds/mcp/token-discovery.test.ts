// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration writes variables like this
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startHttp } from './http-servers.ts';
import { cribWith, stateOf } from './upstream.ts';

/** What a hostile server says about its tokens; `{other}` stands for the port of another server of this machine. */
interface Claims {
  readonly challenge?: string;
  readonly authorizationServers?: readonly string[];
  readonly tokenEndpoint?: string;
  /** Answers to these paths are redirects. */
  readonly redirects?: Readonly<Record<string, string>>;
}

const RESOURCE = '/.well-known/oauth-protected-resource';
const METADATA = '/.well-known/oauth-authorization-server';

/** The ways in which an address can name this machine, on another port than that of the server. */
const OTHER_PLACES = [
  'http://127.0.0.1:{other}',
  'https://127.0.0.1:{other}',
  'http://localhost:{other}',
  'http://localhost.:{other}',
  'http://127.0.0.1.:{other}',
  'http://user:password@127.0.0.1:{other}',
  'http://127.0.0.1@127.0.0.1:{other}',
  'http://2130706433:{other}',
  'http://0x7f.1:{other}',
  'http://127.1:{other}',
  'http://[::1]:{other}',
  'http://[::ffff:127.0.0.1]:{other}',
  'http://[::ffff:7f00:1]:{other}',
  'http://[0:0:0:0:0:0:0:1]:{other}',
  'http://0.0.0.0:{other}',
];

const CLAIMS: readonly (readonly [string, Claims])[] = [
  ...OTHER_PLACES.flatMap((place): [string, Claims][] => [
    [`${place} describes the resource`, { challenge: `Bearer resource_metadata="${place}${RESOURCE}"` }],
    [`${place} is an authorization server`, { authorizationServers: [place] }],
    [`${place} gives out tokens`, { tokenEndpoint: `${place}/token` }],
  ]),
  ['the second authorization server', { authorizationServers: ['{door}', 'http://127.0.0.1:{other}'] }],
  ...[301, 302, 303, 307, 308].map((status): [string, Claims] => [
    `a redirect ${status} of everything`,
    {
      redirects: Object.fromEntries(
        [RESOURCE, METADATA, '/token'].map((path) => [path, `${status} http://127.0.0.1:{other}${path}`]),
      ),
    },
  ]),
  ['a redirect of the token endpoint', { redirects: { '/token': '307 http://127.0.0.1:{other}/token' } }],
];

async function listen<Listening extends Server>(server: Listening, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => server.on('error', reject).listen(0, host, resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port; // it listens on a port
}

/** Counts connections, whatever is spoken on them, on every address of this machine. */
async function startOther(): Promise<{ readonly port: number; count(): number }> {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections++;
    socket.destroy();
  });
  return { port: await listen(server, '::').catch(() => listen(server, '0.0.0.0')), count: () => connections };
}

/** A server that lets no one in and makes claims about where tokens are given out. */
async function startDoor(claims: Claims, otherPort: number) {
  const garbled: Error[] = [];
  const asked: string[] = [];
  let origin = '';
  const fill = (text: string) => text.replaceAll('{other}', String(otherPort)).replaceAll('{door}', origin);
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    asked.push(path);
    const json = (value: object) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const redirect = Object.entries(claims.redirects ?? {}).find(([from]) => path.startsWith(from))?.[1];
    if (redirect !== undefined) {
      const [status = '', location = ''] = fill(redirect).split(' ');
      return void response.writeHead(Number(status), { location }).end();
    }
    if (path.startsWith(RESOURCE))
      return json({
        resource: `${origin}/mcp`,
        authorization_servers: (claims.authorizationServers ?? [origin]).map(fill),
      });
    if (path.startsWith('/.well-known/'))
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: fill(claims.tokenEndpoint ?? `${origin}/token`),
        response_types_supported: ['code'],
      });
    response.writeHead(401, { 'www-authenticate': fill(claims.challenge ?? 'Bearer') }).end();
  };
  const server = createServer(answer).on('clientError', (error, socket) => {
    garbled.push(error);
    socket.destroy();
  });
  origin = `http://127.0.0.1:${await listen(server, '127.0.0.1')}`;
  return { url: `${origin}/mcp`, origin, asked, garbled };
}

/** A crib whose secret may go anywhere on this machine, so that only the address check stands in the way. */
async function connect(
  url: string,
  { clientSecret = '${secret:client}', ...mcp }: Readonly<Record<string, string>> = {},
) {
  vi.stubEnv('CLIENT_SECRET', 'client-secret-value');
  onTestFinished(() => void vi.unstubAllEnvs());
  const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0'];
  const auth = { clientCredentials: { clientId: 'me', clientSecret } };
  const rest = { secrets: { client: { env: 'CLIENT_SECRET', hosts } } };
  return cribWith({ m: { mcp: { url, auth, ...mcp } } }, { rest });
}

describe('a server that refuses the crib cannot make it connect to another port of this machine', () => {
  it.each(CLAIMS)('if %s', async (_, claims) => {
    const other = await startOther();
    const door = await startDoor(claims, other.port);
    const crib = await connect(door.url);
    expect(stateOf(crib, 'm')).toMatchObject({ state: 'failed' });
    expect(door.asked).not.toEqual([]);
    expect(other.count()).toBe(0);
  });

  it.each(CLAIMS)('if %s, with the older transport', async (_, claims) => {
    const other = await startOther();
    const door = await startDoor(claims, other.port);
    const crib = await connect(door.url, { type: 'sse' });
    expect(stateOf(crib, 'm')).toMatchObject({ state: 'failed' });
    expect(door.asked.some((path) => path.startsWith('/.well-known/') || path === '/token')).toBe(true);
    expect(other.count()).toBe(0);
  });

  it.each([
    ['describes the resource', 'challenge'],
    ['is an authorization server', 'server'],
    ['gives out tokens', 'token'],
  ])('nor with another scheme on its own port, if that %s', async (_, part) => {
    const claims: Record<string, string | readonly string[]> = {};
    const door = await startDoor(claims, 0);
    const secure = door.origin.replace('http:', 'https:');
    if (part === 'challenge') claims.challenge = `Bearer resource_metadata="${secure}${RESOURCE}"`;
    else if (part === 'server') claims.authorizationServers = [secure];
    else claims.tokenEndpoint = `${secure}/token`;
    const crib = await connect(door.url);
    expect(stateOf(crib, 'm')).toMatchObject({ state: 'failed' });
    expect(door.garbled).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])('nor with a redirect %i of a request to it', async (status) => {
    const other = await startOther();
    const door = await startHttp((_, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${other.port}/mcp` }).end();
    });
    const crib = await cribWith({ m: { mcp: { url: door.url } }, old: { mcp: { type: 'sse', url: door.url } } });
    for (const name of ['m', 'old']) expect(stateOf(crib, name)).toMatchObject({ state: 'failed' });
    expect(other.count()).toBe(0);
  });

  it.each([301, 302, 303, 307, 308])(
    'nor is a redirect %i of the token endpoint followed on its own port',
    async (status) => {
      const door = await startDoor({ redirects: { '/token': `${status} {door}/elsewhere` } }, 0);
      expect(stateOf(await connect(door.url), 'm')).toMatchObject({ state: 'failed' });
      expect(door.asked).toContain('/token');
      expect(door.asked).not.toContain('/elsewhere');
    },
  );

  it('nor with the message endpoint that a server of the older transport names', async () => {
    const other = await startOther();
    const door = await startHttp((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: http://127.0.0.1:${other.port}/messages\n\n`);
    });
    const crib = await cribWith({ old: { mcp: { type: 'sse', url: door.url } } });
    expect(stateOf(crib, 'old')).toMatchObject({ state: 'failed' });
    expect(other.count()).toBe(0);
  });

  it.each([
    ['an authorization server', { authorizationServers: ['http://127.0.0.1:{other}'] }],
    ['a token endpoint', { tokenEndpoint: 'http://127.0.0.1:{other}/token' }],
  ])('and the reason names %s and the key that allows it', async (_, claims) => {
    const other = await startOther();
    const door = await startDoor(claims, other.port);
    const { reason } = stateOf(await connect(door.url), 'm') as { readonly reason: string };
    expect(reason).toContain(`127.0.0.1:${other.port} is on a private network`);
    expect(reason).toContain('tokenUrl');
  });
});

describe('a server that refuses the crib cannot get a clientSecret without hosts sent elsewhere', () => {
  it.each([
    ...OTHER_PLACES.filter((place) => place.startsWith('https:') || place.includes('127.0.0.1:{')),
    'https://evil.test',
  ])('if %s issues tokens', async (place) => {
    const other = await startOther();
    const door = await startDoor({ tokenEndpoint: `${place}/token` }, other.port);
    const crib = await connect(door.url, { clientSecret: 'written-down' });
    const { reason } = stateOf(crib, 'm') as { readonly reason: string };
    expect(reason).toMatch(
      /the server names .* as its token endpoint, but clientSecret may not be sent there: set tokenUrl/,
    );
    expect(reason).not.toContain('written-down');
    expect(other.count()).toBe(0);
  });

  it('and may get it itself', async () => {
    const door = await startDoor({}, 0);
    await connect(door.url, { clientSecret: 'written-down' });
    expect(door.asked).toContain('/token');
  });
});

it.each(['a-token\r\nof two lines', 'a-token\u0000of two halves', 'a-token\u2028of two lines', 'a-token of é'])(
  'a token that no header can carry is refused, and not shown: %j',
  async (text) => {
    const tokens = await startHttp((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ access_token: text }));
    });
    const auth = { clientCredentials: { clientId: 'me', clientSecret: 'written-down', tokenUrl: tokens.url } };
    const crib = await cribWith({ m: { mcp: { url: tokens.url, auth } } });
    expect(stateOf(crib, 'm')).toMatchObject({
      state: 'failed',
      reason: `${tokens.host} did not issue a token: status 200`,
    });
    expect(JSON.stringify([crib.sources(), crib.warnings()])).not.toMatch(/a-token|of two/);
  },
);
