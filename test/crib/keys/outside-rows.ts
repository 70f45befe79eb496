// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { SignJWT } from 'jose';
import { createRestApp } from '../../../src/doors/rest/create-rest-app.ts';
import { startServer } from '../../../src/doors/rest/start-server.ts';
import { makeKey } from '../../identity/issuer.ts';
import { ALICE, calls, outcomeOf, type Place, type Row, type Show, tool, type Written } from './rows.ts';

function row(key: string, [before, after]: readonly [Written, Written], show: Show, more: Partial<Row> = {}): Row {
  return { key, before, after, show, ...more };
}

const HOUR = 3_600_000;
const large = (results: Written) => ({ tools: [tool({}, 'large')], results });
/** A large result as it is handed over, and what is kept of it. */
const kept: Show = async ({ crib }) => {
  const result = await (await crib.open(undefined, ALICE)).call('large');
  const text = JSON.stringify(outcomeOf(result));
  const [id = ''] = /r_[\w-]+/.exec(text) ?? [];
  const whole = await crib.keptResult(id, ALICE);
  return [text.replaceAll(id, 'ID').length, whole && Math.round((whole.expiresAt - Date.now()) / HOUR)];
};
const results: readonly Row[] = [
  row('results.offloadBytes', [large({}), large({ offloadBytes: 1000 })], kept),
  row('results.keepMs', [large({ offloadBytes: 1000 }), large({ offloadBytes: 1000, keepMs: 3 * HOUR })], kept),
  row('results.quotaBytes', [large({ offloadBytes: 1000 }), large({ offloadBytes: 1000, quotaBytes: 10 })], kept),
  row(
    'results.quotaBytesPerCaller',
    [large({ offloadBytes: 1000 }), large({ offloadBytes: 1000, quotaBytesPerCaller: 10 })],
    kept,
  ),
];

process.env.KEYS_ONE = 'one';
process.env.KEYS_TWO = 'two';
const ASK = {
  name: 'ask',
  description: 'Asks',
  run: { kind: 'http', method: 'GET', url: 'SERVER/pets', headers: { 'x-key': '${secret:key}' } },
};
const LOCAL = { executors: { http: { allowPrivate: '127.0.0.1' } } };
const asking = (key: Written) => ({ tools: [ASK], ...LOCAL, secrets: { key } });
const HERE = { hosts: '127.0.0.1' };
const files = { one: 'one', two: 'two' };
const command = (word: string) => [process.execPath, '-p', `'${word}'`];
/** The secret that was received, if any. */
const sent: Show = async (place) => {
  const outcome = await calls('ask', [ALICE])(place);
  return [place.upstream.asked.map(({ headers }) => headers['x-key']), place.upstream.asked.length === 0 && outcome];
};
const secrets: readonly Row[] = [
  row('secrets.*(env).env', [asking({ env: 'KEYS_ONE', ...HERE }), asking({ env: 'KEYS_TWO', ...HERE })], sent),
  row(
    'secrets.*(env).hosts',
    [asking({ env: 'KEYS_ONE', ...HERE }), asking({ env: 'KEYS_ONE', hosts: 'a.test' })],
    sent,
  ),
  row('secrets.*(file).file', [asking({ file: './one', ...HERE }), asking({ file: './two', ...HERE })], sent, {
    files,
  }),
  row('secrets.*(file).hosts', [asking({ file: './one', ...HERE }), asking({ file: './one', hosts: 'a.test' })], sent, {
    files,
  }),
  row(
    'secrets.*(command).command',
    [asking({ command: command('one'), ...HERE }), asking({ command: command('two'), ...HERE })],
    sent,
  ),
  row(
    'secrets.*(command).hosts',
    [asking({ command: command('one'), ...HERE }), asking({ command: command('one'), hosts: 'a.test' })],
    sent,
  ),
];

const PLAIN = { name: 'ask', description: 'Asks', run: { kind: 'http', method: 'GET', url: 'SERVER/pets' } };
const OWN = `
const make = (name) => ({ word = 'nothing' }) => ({
  kind: 'mine', runSchema: { type: 'object' },
  execute: async () => ({ ok: true, status: 'done', content: [{ type: 'text', text: name + ' ' + word }] }),
});
export const one = make('one');
export const two = make('two');
`;
const mine = (entry: Written) => ({
  tools: [{ name: 'echo', description: 'Says it', run: { kind: 'mine' } }],
  executors: { mine: { module: './own.mjs#one', ...entry } },
});
const WRITE = {
  name: 'write',
  description: 'Writes',
  run: { kind: 'shell', command: ['touch', 'made.txt'], sandbox: {} },
};
const shell = (settings: Written) => ({ tools: [WRITE], executors: { shell: settings } });
const ownFiles = { 'own.mjs': OWN };
const executors: readonly Row[] = [
  row('executors.*.module', [mine({}), mine({ module: './own.mjs#two' })], calls('echo'), { files: ownFiles }),
  row('executors.*.options', [mine({}), mine({ options: { word: 'hello' } })], calls('echo'), { files: ownFiles }),
  row(
    'executors.http.allowPrivate',
    [
      { tools: [PLAIN], executors: { http: {} } },
      { tools: [PLAIN], ...LOCAL },
    ],
    sent,
  ),
  row('executors.shell.roots', [shell({}), shell({ roots: '.' })], calls('write')),
];

const key = await makeKey('first');
/** The caller that a token of the issuer identifies. */
function identified(claims: Written = {}, age = 0): Show {
  return async ({ crib, upstream }) => {
    upstream.publish({ keys: [key.jwk] });
    const now = Math.floor(Date.now() / 1000) - age;
    const usual = { iss: upstream.url, aud: 'toolcrib', sub: 'alice', roles: ['dev'], iat: now, exp: now + 60 };
    const token = await new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ alg: key.alg, kid: key.kid })
      .sign(key.privateKey);
    const who = await crib.identify(`Bearer ${token}`);
    return 'caller' in who ? { ...who.caller, credential: undefined, maxPriority: who.maxPriority } : who;
  };
}
const CLIENT = { clientId: 'toolcrib' };
/** The address of the issuer that a browser is sent to, without what is random, and the credential of the client. */
const sentTo: Show = async ({ crib, upstream }) => {
  upstream.publish({ keys: [key.jwk] });
  const app = createRestApp(crib);
  const begun = await app.fetch(new Request('http://127.0.0.1/api/session/issuer'));
  const asked = new URL(begun.headers.get('location') ?? 'none:').searchParams;
  const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
  const back = `http://127.0.0.1/api/session/callback?code=x&state=${asked.get('state')}`;
  await app.fetch(new Request(back, { headers: { cookie } }));
  app.close();
  const form = upstream.asked.find(({ path }) => path === '/token');
  const shown = ['client_id', 'scope', 'redirect_uri'].map((name) => asked.get(name));
  return [begun.status, ...shown, form?.headers.authorization];
};
const idp = { secrets: { idp: { env: 'KEYS_ONE', hosts: '127.0.0.1' } } };
const signIn = (more: Written, beside: Written = {}) => ({
  ...idp,
  ...jwt({ signIn: { ...CLIENT, ...more } }),
  ...beside,
});
const VIEWS = { profiles: { a: {}, b: {} } };
const JWT = { issuer: 'SERVER', audience: 'toolcrib' };
const jwt = (more: Written, roles: Written = { dev: {} }) => ({
  ...VIEWS,
  access: { jwt: { ...JWT, ...more }, roles },
});
const OTHER = { elsewhere: ['ops'], may: ['pay'] };
const access: readonly Row[] = [
  row('access.jwt.issuer', [jwt({}), jwt({ issuer: 'SERVER/other' })], identified()),
  row('access.jwt.audience', [jwt({}), jwt({ audience: 'somebody' })], identified()),
  row('access.jwt.jwks', [jwt({}), jwt({ jwks: 'SERVER/nothing' })], identified()),
  row('access.jwt.algorithms', [jwt({}), jwt({ algorithms: 'RS256' })], identified()),
  row('access.jwt.rolesClaim', [jwt({}), jwt({ rolesClaim: 'elsewhere' })], identified(OTHER)),
  row('access.jwt.permissionsClaim', [jwt({}), jwt({ permissionsClaim: 'may' })], identified(OTHER)),
  row('access.jwt.signIn.clientId', [signIn({}), signIn({ clientId: 'other' })], sentTo),
  row('access.jwt.signIn.secret', [signIn({}), signIn({ secret: 'idp' })], sentTo),
  row('access.jwt.signIn.scopes', [signIn({}), signIn({ scopes: 'groups' })], sentTo),
  row(
    'server.publicUrl',
    [signIn({}, { server: { port: 0 } }), signIn({}, { server: { port: 0, publicUrl: 'https://a.test' } })],
    sentTo,
  ),
  row('access.jwt.clockToleranceMs', [jwt({}), jwt({ clockToleranceMs: 300_000 })], identified({}, 100)),
  row('access.roles.*.profiles', [jwt({}), jwt({}, { dev: { profiles: 'a*' } })], identified()),
  row('access.roles.*.maxPriority', [jwt({}), jwt({}, { dev: { maxPriority: 9 } })], identified()),
  row('access.roles.*.operator', [jwt({}), jwt({}, { dev: { operator: true } })], identified()),
  row(
    'access.keys',
    [
      { ...VIEWS, access: { keys: false } },
      { ...VIEWS, access: { keys: true } },
    ],
    async ({ crib }) => {
      const made = await crib.keys
        .create({ name: 'ann', profiles: ['a'] }, 'olga')
        .catch((error: Error) => error.message);
      const who = typeof made === 'string' ? made : await crib.identify(made.key);
      return typeof who === 'string' ? who : Object.keys(who);
    },
  ),
];

/** A server of the crib, and what it answers. */
function served(ask: (url: string, place: Place) => Promise<unknown>): Show {
  return async (place) => {
    const server = await startServer(place.crib, { isInsecure: true });
    try {
      return await ask(server.url, place);
    } finally {
      await server.close();
    }
  };
}
const serving = (server: Written) => ({ tools: [tool({}, 'late')], server: { port: 0, ...server } });
const servers: readonly Row[] = [
  row(
    'server.host',
    [serving({}), serving({ host: 'localhost' })],
    served(async (url) => new URL(url).hostname),
  ),
  row(
    'server.port',
    [serving({ port: 24_871 }), serving({ port: 24_872 })],
    served(async (url) => url),
  ),
];

const searched: Show = async (place) => {
  const chest = await place.crib.open(undefined, ALICE);
  const hits = await chest.search('say something');
  return [
    hits.map((hit) => [hit.name, hit.score]),
    place.upstream.asked.map(({ path, headers, body }) => [path, headers.authorization, body]),
  ];
};
const FOUND = [tool(), tool({ description: 'Counts up' }, 'counted')];
const retrieval = (settings: Written) => ({ tools: FOUND, retrieval: settings });
const RANK = `
const make = (word) => ({ best = 'none' }) => ({ add() {}, remove() {}, rank: () => [{ name: best === 'none' ? word : best, score: 1 }] });
export const one = make('echo');
export const two = make('counted');
`;
const rank = { files: { 'rank.mjs': RANK } };
const retrievals: readonly Row[] = [
  row(
    'retrieval.module',
    [retrieval({ module: './rank.mjs#one' }), retrieval({ module: './rank.mjs#two' })],
    searched,
    rank,
  ),
  row(
    'retrieval.options',
    [retrieval({ module: './rank.mjs#one' }), retrieval({ module: './rank.mjs#one', options: { best: 'counted' } })],
    searched,
    rank,
  ),
];

const stores: readonly Row[] = [
  row('store.url', [{ store: { url: 'sqlite:./one.db' } }, { store: { url: 'sqlite:./two.db' } }], async ({ crib }) =>
    crib.store?.status(),
  ),
];

export const outsideRows = [...results, ...secrets, ...executors, ...access, ...servers, ...retrievals, ...stores];
