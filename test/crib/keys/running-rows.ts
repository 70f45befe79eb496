// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are secrets written
import { request } from 'node:http';
import { join } from 'node:path';
import { messageOf } from '../../../src/core/tool-error.ts';
import { startServer } from '../../../src/doors/rest/start-server.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { withPrograms } from '../../kinds/shell/shell-shop.ts';
import { ALICE, BOB, calls, outcomeOf, type Row, type Show, tool, type Written } from './rows.ts';

function row(key: string, [before, after]: readonly [Written, Written], show: Show, more: Partial<Row> = {}): Row {
  return { key, before, after, show, ...more };
}

/** The status of an answer to a request that names another host. */
const answered: Show = async ({ crib }) => {
  const server = await startServer(crib);
  try {
    return await new Promise((resolve, reject) => {
      const asked = request(`${server.url}/health`, { headers: { host: 'proxy.test' } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on('error', reject);
      asked.end();
    });
  } finally {
    await server.close();
  }
};

const SLOW = { name: 'ask', description: 'Asks', run: { kind: 'http', method: 'GET', url: 'SERVER/slower' } };
const serving = (server: Written) => ({
  tools: [SLOW],
  executors: { http: { allowPrivate: '127.0.0.1' } },
  server: { port: 0, ...server },
});
/** The result of a call that is running when the server stops. */
const ended: Show = async ({ crib, upstream }) => {
  const running = await startServer(crib);
  const headers = { 'content-type': 'application/json' };
  const answering = fetch(`${running.url}/api/tools/execute/ask`, { method: 'POST', headers, body: '{}' });
  await upstream.came('/slower');
  await running.close();
  return (await answering).status;
};

/** The status that a page of another origin gets. */
const crossOrigin: Show = async ({ crib }) => {
  const running = await startServer(crib);
  const { status } = await fetch(`${running.url}/api/session`, { headers: { origin: 'https://app.test' } });
  await running.close();
  return status;
};

/** The address of the trace of a call. */
const traced: Show = async ({ crib }) => {
  const running = await startServer(crib);
  const authorization = `Bearer ${await crib.operatorToken()}`;
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const ask = async (path: string, more: RequestInit = {}) =>
    (
      await fetch(`${running.url}${path}`, {
        ...more,
        headers: { authorization, traceparent, 'content-type': 'application/json' },
      })
    ).json();
  const { callId } = (await ask('/api/tools/execute/nothing', { method: 'POST', body: '{}' })) as { callId: string }; // a refusal has an id, too
  const { traceUrl } = (await ask(`/api/calls/${callId}`)) as { traceUrl?: string }; // of the documented shape
  await running.close();
  return traceUrl ?? 'none';
};

const TOUCH = { tools: [{ name: 'run', description: 'Runs', run: { kind: 'shell', command: ['true'] } }] };
const unconfined: Show = async (place) => {
  withPrograms(['bwrap']);
  return calls('run', [ALICE])(place);
};

const PYTHON = { sources: { py: { python: './py', initTimeoutMs: 60_000 } } };
const python = (settings: Written) => ({ ...PYTHON, executors: { python: settings } });
const files = { 'py/a.py': 'import os\n\ndef mark():\n    """Tells."""\n    return os.environ.get("MARK", "none")\n' };

const searched: Show = async ({ crib, upstream }) => {
  const chest = await crib.open(undefined, ALICE);
  const hits = await chest.search('say what was told');
  const asked = upstream.asked.map(({ path, headers, body }) => [path, headers.authorization, body]);
  return [hits, asked];
};
const ALIKE = [tool(), tool({}, 'counted')];
const retrieval = (settings: Written) => ({ tools: ALIKE, retrieval: settings });
const enriching = (enrich: string) => ({
  ...retrieval({ examples: './said.jsonl', enrich }),
  executors: { agent: { models: { one: {}, two: {} } } },
});
const foundByRequest: Show = async ({ crib }) => {
  const found = await (await crib.open(undefined, ALICE)).search('umbrella');
  return [found, await crib.server.examples.list().catch(messageOf)];
};
const planned: Show = async ({ crib }) => (await crib.server.examples.plan()).model;
const twins = (settings: Written) => ({
  tools: [tool({ name: 'copy_xqzj' }), tool({ name: 'copy_xqzk' })],
  retrieval: { embeddings: 'none', ...settings },
});
/** True if the last search hit is still last after it was used. */
const preferred: Show = async ({ crib }) => {
  const chest = await crib.open(undefined, ALICE);
  const find = async () => (await chest.search('copy')).map(({ name }) => name);
  const last = (await find()).at(-1);
  await chest.call(String(last));
  return (await find()).at(-1) === last;
};
const SECRETS = {
  secrets: { key: { env: 'KEYS_ONE', hosts: '127.0.0.1' }, other: { env: 'KEYS_TWO', hosts: '127.0.0.1' } },
};
const END = { url: 'SERVER/v1', model: 'small', key: '${secret:key}' };
const endpoint = (more: Written) => ({ ...retrieval({ embeddings: { ...END, ...more } }), ...SECRETS });

const FLOW = { clientId: 'me', clientSecret: '${secret:key}', tokenUrl: 'SERVER/token' };
const flow = (more: Written) => ({
  ...SECRETS,
  sources: { s: { mcp: { url: 'SERVER/mcp/secured', auth: { clientCredentials: { ...FLOW, ...more } } } } },
});
const tokens: Show = async ({ upstream }) =>
  upstream.asked
    .filter(({ path }) => path.startsWith('/token'))
    .map(({ path, headers, body }) => [path, headers.authorization, body]);
const credentials = 'sources.*(mcp).mcp(url).auth(clientCredentials).clientCredentials';

const server = { command: process.execPath, args: [join(import.meta.dirname, '../../kinds/mcp/servers/editable.ts')] };
const shared: Show = async ({ crib }) => {
  const pids = [];
  for (const caller of [ALICE, BOB]) pids.push(outcomeOf(await (await crib.open(undefined, caller)).call('s_pid')));
  return JSON.stringify(pids[0]) === JSON.stringify(pids[1]);
};

/** True if the list was read again while the fence list was read several times. */
const refreshed: Show = async ({ upstream }) => {
  const count = () => upstream.asked.filter(({ path }) => path.startsWith('/mcp') || path.startsWith('/api')).length;
  const atFirst = count() + upstream.asked.filter(({ path }) => path === '/specs').length;
  await upstream.came('/specs/fence', 6);
  return count() + upstream.asked.filter(({ path }) => path === '/specs').length > atFirst;
};
const FENCE = { http: 'SERVER/specs/fence', kinds: 'task', refreshMs: 100 };
const again = (kind: string, entry: Written, more: Partial<Row> = {}) => {
  const side = (s: Written) => ({ sources: { fence: FENCE, s } });
  return row(`sources.*(${kind}).refreshMs`, [side(entry), side({ ...entry, refreshMs: 20 })], refreshed, more);
};
const mcpFile = (address: Written, name = 's') => ({
  files: { 'mcp.json': JSON.stringify({ mcpServers: { [name]: address } }) },
});

const meeting = `import os, time

HERE = os.path.dirname(__file__)

def meet(n: int):
    """Waits for the other call."""
    open(f"{HERE}/met{n}", "w").close()
    end = time.monotonic() + 4
    while time.monotonic() < end and not os.path.exists(f"{HERE}/met{3 - n}"):
        time.sleep(0.01)
    return os.path.exists(f"{HERE}/met{3 - n}")
`;
/** True if two calls run concurrently. */
const met: Show = async ({ crib }) => {
  const chest = await crib.open(undefined, ALICE);
  const results = await Promise.all([1, 2].map((n) => chest.call('meet', { n })));
  return results.map(outcomeOf).every((outcome) => JSON.stringify(outcome).includes('true'));
};

/** The tools of the store, one of which another process has put there a while ago. */
const looked: Show = async ({ crib, folder, upstream }) => {
  const store = await openStore({ url: `sqlite:${folder}/crib.db`, env: {} });
  await store.specs.put(
    { name: 'put', description: '', run: { kind: 'http', method: 'GET', url: 'https://a.test' } },
    'ann',
  );
  await store.close();
  await upstream.came('/specs/fence', 6);
  return crib.catalog.specs.map(({ name }) => name).includes('put');
};
const polled = (refreshMs: number) => ({
  store: { url: 'sqlite:./crib.db' },
  sources: { fence: FENCE, s: { database: true, refreshMs } },
});

export const runningRows: readonly Row[] = [
  row('server.hosts', [{ server: { port: 0 } }, { server: { port: 0, hosts: 'proxy.test' } }], answered),
  row('server.cors', [{ server: { port: 0 } }, { server: { port: 0, cors: 'https://app.test' } }], crossOrigin),
  row(
    'server.traceUrl',
    [{ server: { port: 0 } }, { server: { port: 0, traceUrl: 'https://traces.test/{traceId}' } }],
    traced,
  ),
  row('server.graceMs', [serving({}), serving({ graceMs: 0 })], ended),
  row(
    'executors.shell.sandbox',
    [
      { ...TOUCH, executors: { shell: {} } },
      { ...TOUCH, executors: { shell: { sandbox: 'required' } } },
    ],
    unconfined,
  ),
  row('executors.python.env', [python({}), python({ env: { MARK: 'marked' } })], calls('mark', [ALICE]), { files }),
  row('executors.python.interpreter', [python({}), python({ interpreter: './no-python' })], calls('mark', [ALICE]), {
    files,
  }),
  row('executors.python.workers', [python({}), python({ workers: 1 })], met, { files: { 'py/a.py': meeting } }),
  row('sources.*(database).refreshMs', [polled(3_600_000), polled(20)], looked),
  row('retrieval.embeddings', [retrieval({}), retrieval({ embeddings: 'none' })], searched),
  row('retrieval.synonyms', [retrieval({}), retrieval({ synonyms: [['told', 'counted']] })], searched),
  row(
    'retrieval.examples',
    [retrieval({ embeddings: 'none' }), retrieval({ embeddings: 'none', examples: './said.jsonl' })],
    foundByRequest,
    { files: { 'said.jsonl': '{"tool":"counted","requests":["my umbrella broke"]}\n' } },
  ),
  row('retrieval.enrich', [enriching('one'), enriching('two')], planned),
  row('retrieval.embeddings.url', [endpoint({}), endpoint({ url: 'SERVER/v2' })], searched),
  row('retrieval.embeddings.model', [endpoint({}), endpoint({ model: 'large' })], searched),
  row('retrieval.embeddings.key', [endpoint({}), endpoint({ key: '${secret:other}' })], searched),
  row('retrieval.usage', [twins({}), twins({ usage: true })], preferred),
  row(`${credentials}.tokenUrl`, [flow({}), flow({ tokenUrl: 'SERVER/token/two' })], tokens),
  row(`${credentials}.clientId`, [flow({}), flow({ clientId: 'you' })], tokens),
  row(`${credentials}.clientSecret`, [flow({}), flow({ clientSecret: '${secret:other}' })], tokens),
  row(`${credentials}.scope`, [flow({}), flow({ scope: 'read' })], tokens),
  row(
    'sources.*(mcpFile).share',
    [{ sources: { f: { mcpFile: './mcp.json' } } }, { sources: { f: { mcpFile: './mcp.json', share: 'caller' } } }],
    shared,
    { ...mcpFile(server), readAs: 'sources.*(mcp).share' },
  ),
  again('http', { http: 'SERVER/specs', kinds: 'task' }),
  again('openapi', { openapi: 'SERVER/api.json' }),
  again('mcp', { mcp: { url: 'SERVER/mcp' } }),
  again(
    'mcpFile',
    { mcpFile: './mcp.json' },
    { ...mcpFile({ url: 'SERVER/mcp' }, 'm'), readAs: 'sources.*(mcp).refreshMs' },
  ),
];
