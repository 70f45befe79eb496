import { createHmac, generateKeyPairSync } from 'node:crypto';
import { context } from '@opentelemetry/api';
import { vi } from 'vitest';
import { createCrib } from '../../../src/index.ts';
import { collect, spans, stopCollecting } from '../../extensions/collected-spans.ts';
import { folderWith } from '../workshop.ts';
import { ALICE, BOB, calls, outcomeOf, type Row, type Show, tool, type Written } from './rows.ts';
import { atOnce, retryAfter } from './tool-rows.ts';

const LONG = 1_000_000_000_000;
const HOUR = 3_600_000;

/** Two settings of an extension, seen through a tool. */
function row(key: string, [before, after]: readonly [Written, Written], show: Show, used: Written = tool()): Row {
  const name = key.split('.')[0] ?? '';
  const side = (options: Written) => ({ tools: [used], extensions: { [name]: options } });
  return { key: `extensions.${key}`, before: side(before), after: side(after), show };
}

/** Turned off, it takes no part in calls. */
function off(name: string): Row {
  const show: Show = async ({ crib }) => crib.extensions.list().map((extension) => extension.name);
  const tools = { tools: [tool()] };
  return {
    key: `extensions.${name}`,
    before: { ...tools, extensions: {} },
    after: { ...tools, extensions: { [name]: false } },
    show,
  };
}

const WIPE = tool({ effects: { destructive: true } });
const parked = (made: number): Show => {
  const times = [...Array(made).keys()];
  return async (place) =>
    calls('echo', ...times.map((a) => [a === 2 ? BOB : ALICE, { a }, { park: true }] as const))(place);
};
const bounds = ['maxPerCaller', 'maxBytesPerCaller', 'maxTotal', 'maxTotalBytes'];

/** The message that a chat gets about a parked call. */
const told: Show = async (place) => {
  await parked(1)(place);
  const [message] = await place.upstream.came('/hook');
  if (message === undefined) return 'nothing';
  const { headers, body, path } = message;
  const signed = `${headers['toolcrib-timestamp']}.${body}`;
  const signature = (secret: string) => `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`;
  return [path, ['one', 'two'].filter((secret) => signature(secret) === headers['toolcrib-signature'])];
};
process.env.KEYS_ONE = 'one';
process.env.KEYS_TWO = 'two';
const SECRETS = { secrets: { one: { env: 'KEYS_ONE' }, two: { env: 'KEYS_TWO' } } };
const HOOK = { url: 'SERVER/hook', secret: 'one' };
function hook(key: string, after: Written): Row {
  const made = row(`approval.webhook.${key}`, [{ webhook: HOOK }, { webhook: { ...HOOK, ...after } }], told, WIPE);
  return { ...made, before: { ...made.before, ...SECRETS }, after: { ...made.after, ...SECRETS } };
}

/** In how many hours the request for approval ends. */
const expiring: Show = async ({ crib }) => {
  const result = await (await crib.open(undefined, ALICE)).call('echo', {}, { park: true });
  return result.status === 'waiting' ? Math.round((result.waiting.expiresAt - Date.now()) / HOUR) : result.status;
};

const approvals: readonly Row[] = [
  off('approval'),
  row('approval.mode', [{}, { mode: 'always' }], calls('echo')),
  row('approval.timeoutMs', [{}, { timeoutMs: 7 * HOUR }], expiring, WIPE),
  hook('url', { url: 'SERVER/hook/two' }),
  hook('secret', { secret: 'two' }),
  ...bounds.map((key) => row(`approval.${key}`, [{}, { [key]: 1 }], parked(2), WIPE)),
  ...bounds.map((key) => row(`idempotency.${key}`, [{}, { [key]: 1 }], repeated)),
];

async function repeated({ crib }: Parameters<Show>[0]): Promise<unknown> {
  const chest = await crib.open(undefined, ALICE);
  const results = [];
  for (const idempotencyKey of ['a', 'b']) results.push(outcomeOf(await chest.call('echo', {}, { idempotencyKey })));
  return results;
}

const ONE = { scope: 'all', amount: 1 };
const RATE = { ...ONE, perMs: LONG };
const TOGETHER = tool({}, 'together');
const IDEMPOTENT = tool({ effects: { idempotent: true }, policy: { timeoutMs: 5000 } }, 'flaky');
const FAIL = tool({}, 'fail');
const limits: readonly Row[] = [
  off('rateLimit'),
  row('rateLimit.rates.scope', [{ rates: [RATE] }, { rates: [{ ...RATE, scope: 'caller' }] }], calls('echo')),
  row('rateLimit.rates.amount', [{ rates: [RATE] }, { rates: [{ ...RATE, amount: 2 }] }], calls('echo')),
  row('rateLimit.rates.perMs', [{ rates: [RATE] }, { rates: [{ ...RATE, perMs: 600_000 }] }], retryAfter('echo')),
  off('concurrency'),
  row('concurrency.slots.scope', [{ slots: [ONE] }, { slots: [{ ...ONE, scope: 'caller' }] }], atOnce, TOGETHER),
  row('concurrency.slots.amount', [{ slots: [ONE] }, { slots: [{ ...ONE, amount: 2 }] }], atOnce, TOGETHER),
  row('concurrency.maxWaiting', [{ slots: [ONE] }, { slots: [ONE], maxWaiting: 0 }], atOnce, TOGETHER),
  row(
    'concurrency.maxWaitingPerCaller',
    [{ slots: [ONE] }, { slots: [ONE], maxWaitingPerCaller: 0 }],
    atOnce,
    TOGETHER,
  ),
  off('breaker'),
  row('breaker.failures', [{}, { failures: 2 }], calls('fail'), FAIL),
  row('breaker.openMs', [{ failures: 1 }, { failures: 1, openMs: LONG }], retryAfter('fail'), FAIL),
  off('timeout'),
  row('timeout.timeoutMs', [{}, { timeoutMs: 5 }], calls('late'), tool({}, 'late')),
  off('retry'),
  row('retry.retries', [{}, { retries: 0 }], calls('flaky'), IDEMPOTENT),
  {
    ...row('retry.firstDelayMs', [{}, { firstDelayMs: LONG }], calls('flaky'), IDEMPOTENT),
    prepare: () => vi.spyOn(Math, 'random').mockReturnValue(0.9), // pauses are a part of the longest
  },
];

/** The stderr output of a call. */
const logged: Show = async (place) => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await calls('echo', [ALICE, { colour: 'red' }])(place);
    const lines = write.mock.calls.map(([line]) => JSON.parse(String(line)) as Written);
    return lines.map(({ level, event, arguments: given }) => ({ level, event, given }));
  } finally {
    write.mockRestore();
  }
};

/** The spans of a call. */
const traced: Show = async (place) => {
  collect();
  try {
    await calls('echo', [ALICE])(place);
    return spans().map(({ name }) => name);
  } finally {
    stopCollecting();
    context.disable();
  }
};

const counted: Show = async ({ crib }) =>
  crib.metrics().then(
    () => 'counted',
    (error: Error) => error.message,
  );

const records: readonly Row[] = [
  off('logging'),
  row('logging.level', [{ level: 'info' }, { level: 'silent' }], logged),
  row('logging.redact', [{ level: 'debug' }, { level: 'debug', redact: 'col*' }], logged),
  off('metrics'),
  row('metrics.prometheus', [{}, { prometheus: false }], counted),
  row('metrics.otel', [{}, { otel: false }], traced),
];

const [first, second] = ['a', 'b'].map(() => generateKeyPairSync('ed25519'));
const pemOf = (pair = first) => String(pair?.privateKey.export({ type: 'pkcs8', format: 'pem' }));
const publicOf = (pair = first) => String(pair?.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'));
process.env.AUDIT_ONE = pemOf(first);
process.env.AUDIT_TWO = pemOf(second);
const signedBy: Show = async ({ crib }) => crib.audit.key();
const STORED = { store: { url: 'sqlite:./crib.db' } };

/** The verification result for audit rows of another machine. */
const verified: Show = async ({ crib, folder }) => {
  const config = { store: { url: `sqlite:${folder}/crib.db` }, extensions: { audit: { key: { env: 'AUDIT_TWO' } } } };
  const elsewhere = folderWith({ 'toolcrib.yaml': JSON.stringify(config) });
  const other = await createCrib({
    configFile: elsewhere,
    watch: false,
    tools: [{ name: 'a', description: '', run: () => 1 }],
  });
  await (await other.open()).call('a');
  await other.close();
  return (await crib.audit.verify()).findings.map(({ kind }) => kind);
};

/** The kinds of rows that a call leaves. */
const rowKinds: Show = async (place) => {
  await calls('echo', [ALICE])(place);
  const kinds: string[] = [];
  for await (const { kind } of place.crib.audit.export()) kinds.push(kind);
  return kinds;
};

const PEMS = { 'one.pem': pemOf(first), 'two.pem': pemOf(second) };
const audits: readonly Row[] = [
  off('audit'),
  row('audit.retentionDays', [{}, { retentionDays: 3 }], async ({ crib }) => crib.audit.retention()),
  row('audit.requireFor', [{}, { requireFor: 'echo' }], rowKinds),
  stored('key(env).env', [{ key: { env: 'AUDIT_ONE' } }, { key: { env: 'AUDIT_TWO' } }], signedBy),
  stored('key(file).file', [{ key: { file: './one.pem' } }, { key: { file: './two.pem' } }], signedBy),
  stored('trustedKeys', [{}, { trustedKeys: [publicOf(second)] }], verified),
];

function stored(key: string, sides: readonly [Written, Written], show: Show): Row {
  const { before, after, ...made } = row(`audit.${key}`, sides, show);
  return { ...made, before: { ...before, ...STORED }, after: { ...after, ...STORED }, files: PEMS };
}

/** An extension of one's own that says with which options it was made, and when it is asked. */
const OWN = `
export const loud = ({ word = 'nothing' }) => ({ name: 'own', priority: 500, wrap: async (call, next) => {
  const result = await next(call);
  return { ...result, data: [word, result.ok] };
} });
export const quiet = () => ({ name: 'own', priority: 500, wrap: (call, next) => next(call) });
`;
const asked: Show = async (place) => [
  await calls('echo', [ALICE])(place),
  place.crib.extensions.list().map(({ name }) => name),
  place.crib.warnings(),
  await place.crib.review(),
];
function own(key: string, before: Written, after: Written): Row {
  const side = (more: Written) => ({
    tools: [tool()],
    extensions: { other: { module: './own.mjs#quiet' }, mine: { module: './own.mjs#loud', ...more } },
  });
  return {
    key: `extensions.*.${key}`,
    before: side(before),
    after: side(after),
    show: asked,
    files: { 'own.mjs': OWN },
  };
}

const owns: readonly Row[] = [
  own('module', {}, { module: './own.mjs#quiet' }),
  own('priority', {}, { priority: 600 }),
  own('unsafeOrder', { priority: 250, unsafeOrder: true }, { priority: 250, unsafeOrder: false }),
  own('options', {}, { options: { word: 'hello' } }),
];

export const extensionRows = [...approvals, ...limits, ...records, ...audits, ...owns];
