import { createHmac } from 'node:crypto';
import { vi } from 'vitest';
import { startServer } from '../../../src/doors/rest/start-server.ts';
import type { ToolResult } from '../../../src/index.ts';
import { ALICE, outcomeOf, type Place, type Row, type Show, tool, type Written } from './rows.ts';

const TOOLS = [tool({ effects: { readOnly: true } }), tool({}, 'together')];
const tasking = (tasks: Written, more: Written = {}) => ({ tools: TOOLS, tasks, ...more });

function idOf(result: ToolResult): string {
  if (result.status === 'waiting') return result.waiting.id;
  throw new Error(JSON.stringify(result));
}

/** Outcomes of submissions that all stay in the queue. */
function submissions(inputs: readonly unknown[]): Show {
  return async ({ crib }) => {
    const chest = await crib.open(undefined, ALICE);
    const outcomes = [];
    for (const input of inputs) outcomes.push(outcomeOf(await chest.submit('echo', input, { delayMs: 3_600_000 })));
    return outcomes;
  };
}

/** What a server does with a background call of another process. */
const served: Show = async ({ crib }) => {
  const server = await startServer(crib);
  const chest = await crib.open(undefined, ALICE);
  const id = idOf(await chest.submit('echo', {}, { door: 'cli' }));
  const isOver = async () => (await crib.tasks.get(id))?.state === 'done';
  const ended = await vi.waitUntil(isOver, { timeout: 1500, interval: 20 }).catch(() => false);
  await server.close();
  return ended;
};

const together: Show = async ({ crib }) => {
  const chest = await crib.open(undefined, ALICE);
  const ids = [];
  for (let count = 0; count < 3; count++) ids.push(idOf(await chest.submit('together')));
  const seen = [];
  for (const id of ids) seen.push(outcomeOf((await crib.tasks.wait(id)) as ToolResult)); // the task was stored
  return Math.max(...seen.map(Number));
};

const ISSUER = 'https://id.example.com';

/** A caller that a token identified some time before its call runs. */
const late: Show = async ({ crib }) => {
  const chest = await crib.open('a', { id: 'alice', roles: ['dev'], credential: { kind: 'token', issuer: ISSUER } });
  const result = await crib.tasks.wait(idOf(await chest.submit('echo', {}, { delayMs: 50 })));
  return result && outcomeOf(result);
};
const TOKENS = { profiles: { a: {} }, access: { jwt: { issuer: ISSUER }, roles: { dev: { profiles: 'a' } } } };

const expiry: Show = async ({ crib }) => {
  const chest = await crib.open(undefined, ALICE);
  const id = idOf(await chest.submit('echo', {}, { delayMs: 3_600_000 }));
  const task = await crib.tasks.get(id);
  return Number(task?.expiresAt) - Number(task?.runAt);
};

/** True if an ended task is still stored after further ones. */
const kept: Show = async ({ crib }) => {
  const chest = await crib.open(undefined, ALICE);
  const first = idOf(await chest.submit('echo'));
  await crib.tasks.wait(first);
  for (let count = 0; count < 120; count++) await chest.submit('echo', {}, { delayMs: 3_600_000 });
  return (await crib.tasks.get(first)) !== undefined;
};

const hook = (more: Written) =>
  tasking(
    { webhooks: { ci: { url: 'SERVER/one', secret: 'key', ...more } } },
    { secrets: { key: { env: 'KEYS_ONE' }, other: { env: 'KEYS_TWO' } } },
  );
/** The address that was told, and the secret that signed the message. */
const told: Show = async ({ crib, upstream }: Place) => {
  const chest = await crib.open(undefined, ALICE);
  await crib.tasks.wait(idOf(await chest.submit('echo', {}, { notify: 'ci' })));
  const message = await vi.waitFor(() => {
    const found = upstream.asked.find(({ headers }) => headers['toolcrib-signature'] !== undefined);
    if (found === undefined) throw new Error('not told yet');
    return found;
  }, 5000);
  const signed = `${message.headers['toolcrib-timestamp']}.${message.body}`;
  const isSigned = (secret = '') =>
    message.headers['toolcrib-signature'] === `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`;
  return [message.path, isSigned(process.env.KEYS_ONE), isSigned(process.env.KEYS_TWO)];
};

const row = (key: string, [before, after]: readonly [Written, Written], show: Show): Row => ({
  key,
  before,
  after,
  show,
});
const PORT = { server: { port: 0 } };
const HUNDRED = 'x'.repeat(100);

export const taskRows: readonly Row[] = [
  row('tasks.runHere', [tasking({}, PORT), tasking({ runHere: false }, PORT)], served),
  row('tasks.concurrency', [tasking({ concurrency: 3 }), tasking({ concurrency: 1 })], together),
  row('tasks.maxIdentityMs', [tasking({}, TOKENS), tasking({ maxIdentityMs: 1 }, TOKENS)], late),
  row('tasks.expireMs', [tasking({}), tasking({ expireMs: 60_000 })], expiry),
  row('tasks.keepMs', [tasking({}), tasking({ keepMs: 1 })], kept),
  row('tasks.maxPerCaller', [tasking({}), tasking({ maxPerCaller: 1 })], submissions([{}, {}])),
  row('tasks.maxTotal', [tasking({}), tasking({ maxTotal: 1 })], submissions([{}, {}])),
  row('tasks.maxBytesPerCaller', [tasking({}), tasking({ maxBytesPerCaller: 50 })], submissions([{ text: HUNDRED }])),
  row('tasks.maxTotalBytes', [tasking({}), tasking({ maxTotalBytes: 50 })], submissions([{ text: HUNDRED }])),
  row('tasks.webhooks.*.url', [hook({}), hook({ url: 'SERVER/two' })], told),
  row('tasks.webhooks.*.secret', [hook({}), hook({ secret: 'other' })], told),
];
