// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { join } from 'node:path';
import { ALICE, BOB, calls, listed, outcomeOf, type Row, type Show, type Written } from './rows.ts';
import { api, GRANTED, SPECS } from './upstream.ts';

process.env.KEYS_ONE = 'one';
process.env.KEYS_TWO = 'two';
process.env.MARK = 'from our environment';
const REST = {
  executors: { http: { allowPrivate: '127.0.0.1' } },
  secrets: { key: { env: 'KEYS_ONE', hosts: '127.0.0.1' }, other: { env: 'KEYS_TWO', hosts: '127.0.0.1' } },
};

/** The tools that there are, and where they come from. */
const named: Show = async ({ crib }) => crib.catalog.specs.map(({ name, source: from }) => `${from} ${name}`).sort();

/** Two entries of a source named `s`. */
function source(
  key: string,
  [before, after]: readonly [Written, Written],
  show: Show = named,
  more: Partial<Row> = {},
): Row {
  const side = (entry: Written) => ({ ...REST, sources: { s: entry } });
  return { key: `sources.*${key}`, before: side(before), after: side(after), show, ...more };
}

const tool = (name: string) => ({ ...SPECS[0], name });
const specs = (name: string) => JSON.stringify({ tools: [tool(name)] });
const code = (name: string) =>
  `export const one = { name: '${name}', description: '', input: { type: 'object' }, execute: () => 1 };`;
const own = (name: string) => `export default ({ word = '${name}' }) => ({ name: 'own', start: async () => ({
  specs: () => [{ name: word, description: '', input: { type: 'object' }, execute: () => 1 }],
  onChange: () => () => {}, status: () => ({ state: 'ready' }), close: async () => {} }) });`;
const packaged = (name: string) => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({
    name,
    type: 'module',
    toolcrib: { tools: { one: './index.js#one' } },
  }),
  [`node_modules/${name}/index.js`]: code(name),
});
const places: Partial<Row> = {
  files: {
    'one.json': specs('one'),
    'two.json': specs('two'),
    'one/a.mjs': code('one'),
    'two/a.mjs': code('two'),
    'one.mjs': own('one'),
    'two.mjs': own('two'),
    'py1/a.py': 'def one():\n    """One."""\n',
    'py2/a.py': 'def two():\n    """Two."""\n',
    'mcp1.json': JSON.stringify({ mcpServers: { a: { url: 'SERVER/mcp' } } }),
    'mcp2.json': JSON.stringify({ mcpServers: { b: { url: 'SERVER/mcp' } } }),
    'package.json': JSON.stringify({ name: 'project', dependencies: { p1: '*', p2: '*' } }),
    ...packaged('p1'),
    ...packaged('p2'),
  },
};
const LIST = { http: 'SERVER/specs', kinds: ['http', 'task', 'shell'] };
const asked: Show = async (place) => {
  await listed(place);
  return place.upstream.asked.map(({ path, headers }) => [path, headers['x-key'], headers.authorization]);
};
const stored: Show = async ({ crib }) => {
  await crib.store?.specs.put(GRANTED, 'ann');
  await crib.reloadStored();
  return crib.catalog.specs.map(({ name }) => name);
};
const plain: readonly Row[] = [
  source('(files).files', [{ files: './one.json' }, { files: './two.json' }], named, places),
  source('(modules).modules', [{ modules: './one' }, { modules: './two' }], named, places),
  source('(packages).packages', [{ packages: ['p1'] }, { packages: ['p2'] }], named, places),
  source('(python).python', [{ python: './py1' }, { python: './py2' }], named, places),
  source('(module).module', [{ module: './one.mjs' }, { module: './two.mjs' }], named, places),
  source(
    '(module).options',
    [{ module: './one.mjs' }, { module: './one.mjs', options: { word: 'other' } }],
    named,
    places,
  ),
  source('(mcpFile).mcpFile', [{ mcpFile: './mcp1.json' }, { mcpFile: './mcp2.json' }], named, {
    ...places,
    readAs: 'sources',
  }),
  source('(http).http', [LIST, { ...LIST, http: 'SERVER/specs/two' }], asked),
  source('(http).headers', [LIST, { ...LIST, headers: { 'x-key': '${secret:key}' } }], asked),
  source('(http).secrets', [{ http: 'SERVER/granted' }, { http: 'SERVER/granted', secrets: 'key' }]),
  source(
    '(database).database',
    [
      { database: true, secrets: 'key' },
      { database: false, secrets: 'key' },
    ],
    stored,
  ),
  source('(database).secrets', [{ database: true }, { database: true, secrets: 'key' }], stored),
  {
    key: 'mcpServers',
    before: { mcpServers: { a: { url: 'SERVER/mcp' } } },
    after: { mcpServers: { b: { url: 'SERVER/mcp' } } },
    show: named,
    readAs: 'sources',
  },
];

const security = {
  basic: { type: 'http', scheme: 'basic' },
  token: { type: 'http', scheme: 'bearer' },
  flow: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'SERVER/token', scopes: {} } } },
};
const secured = (scheme: string) =>
  JSON.stringify({ ...api('SERVER'), components: { securitySchemes: security }, security: [{ [scheme]: [] }] });
const typed = JSON.stringify(api('SERVER')).replaceAll(
  '"Done."',
  '"Done.","content":{"application/json":{"schema":{"type":"string"}}}',
);
const apis: Partial<Row> = {
  files: {
    'api.json': JSON.stringify(api('SERVER')),
    'other.json': JSON.stringify(api('SERVER/pets')),
    'basic.json': secured('basic'),
    'token.json': secured('token'),
    'flow.json': secured('flow'),
    'typed.json': typed,
  },
};
/** The requests to the API and the token endpoint. */
const called: Show = async (place) => {
  const outcome = await calls('s_echo', [ALICE])(place);
  const requests = place.upstream.asked.map(({ path, headers, body }) => [
    path,
    headers['x-key'],
    headers.authorization,
    body,
  ]);
  return [requests, Array.isArray(outcome) && outcome.map((one) => Array.isArray(one) && one[0])];
};
const API = { openapi: './api.json' };
const USER = { username: 'ann', password: '${secret:key}' };
const FLOW = { clientId: 'me', clientSecret: '${secret:key}' };
const auth = (scheme: string, given: unknown) => ({ openapi: `./${scheme}.json`, auth: { [scheme]: given } });
const openapis: readonly Row[] = [
  source('(openapi).openapi', [API, { openapi: './other.json' }], called, apis),
  source('(openapi).baseUrl', [API, { ...API, baseUrl: 'SERVER/pets' }], called, apis),
  source('(openapi).headers', [API, { ...API, headers: { 'x-key': '${secret:key}' } }], called, apis),
  source('(openapi).auth', [auth('token', 'key'), auth('token', 'other')], called, apis),
  source(
    '(openapi).outputSchemas',
    [{ openapi: './typed.json' }, { openapi: './typed.json', outputSchemas: true }],
    called,
    apis,
  ),
  ...Object.entries({ username: 'bob', password: '${secret:other}' }).map(([name, value]) =>
    source(
      `(openapi).auth.*(username).${name}`,
      [auth('basic', USER), auth('basic', { ...USER, [name]: value })],
      called,
      apis,
    ),
  ),
  ...Object.entries({
    tokenUrl: 'SERVER/token/two',
    clientId: 'you',
    clientSecret: '${secret:other}',
    scope: 'read',
  }).map(([name, value]) =>
    source(
      `(openapi).auth.*(clientId).${name}`,
      [auth('flow', FLOW), auth('flow', { ...FLOW, [name]: value })],
      called,
      apis,
    ),
  ),
];

const SERVER_FILE = join(import.meta.dirname, '../../kinds/mcp/servers/editable.ts');
const child = (more: Written = {}) => ({ mcp: { command: process.execPath, args: [SERVER_FILE], ...more } });
const inside = (key: string, more: Written, show: Show = marked, files: Partial<Row> = {}) =>
  source(`(mcp).mcp(command).${key}`, [child(), child(more)], show, files);
/** The environment that a child process reports. */
const marked: Show = async (place) => [await calls('s_mark', [ALICE])(place), (await listedState(place)) as unknown];
const listedState: Show = async ({ crib }) =>
  crib.sources().map(({ name, state, toolCount }) => [name, state, toolCount]);
/** True if the same child process serves two callers. */
const shared: Show = async ({ crib }) => {
  const pids = [];
  for (const caller of [ALICE, BOB]) pids.push(outcomeOf(await (await crib.open(undefined, caller)).call('s_pid')));
  return JSON.stringify(pids[0]) === JSON.stringify(pids[1]);
};
const SERVERS_FILE = { mcpFile: './servers.json' };
const remote = (more: Written = {}) => ({ mcp: { url: 'SERVER/mcp', ...more } });
const children: readonly Row[] = [
  inside('command', { command: 'no-such-program' }, listedState),
  inside('args', { args: ['no-such-file.js'] }, listedState),
  inside('env', { env: { MARK: 'marked' } }),
  inside('envFile', { envFile: './env' }, marked, { files: { env: 'MARK=from a file\n' } }),
  inside('cwd', { cwd: './nowhere' }, listedState),
  source('(mcp).passEnv', [child(), { ...child(), passEnv: ['MARK'] }], marked),
  source('(mcpFile).passEnv', [SERVERS_FILE, { ...SERVERS_FILE, passEnv: 'MARK' }], calls('a_mark', [ALICE]), {
    files: { 'servers.json': JSON.stringify({ mcpServers: { a: child().mcp } }) },
    readAs: 'sources.*(mcp).passEnv',
  }),
  source('(mcp).share', [child(), { ...child(), share: 'caller' }], shared),
  source('(mcp).mcp(url).url', [remote(), remote({ url: 'SERVER/mcp/two' })], asked),
  source('(mcp).mcp(url).headers', [remote(), remote({ headers: { 'x-key': '${secret:key}' } })], asked),
  source(
    '(mcp).mcp(url).auth(bearer).bearer',
    [remote({ auth: { bearer: 'a' } }), remote({ auth: { bearer: 'b' } })],
    asked,
  ),
  source('(mcp).mcp(url).type', [remote(), remote({ type: 'sse' })], listedState),
];

export const sourceRows = [...plain, ...openapis, ...children];
