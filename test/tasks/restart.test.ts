import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Chest, type Crib, createCrib } from '../../src/index.ts';
import { folderWith } from '../crib/workshop.ts';
import { createWorkshop } from '../doors/cli/workshop.ts';
import { askThrough, execute } from '../doors/rest/served.ts';
import { idOf } from './background.ts';

const OPERATOR = { id: 'operator', operator: true };
const WITHIN = { timeout: 20_000, interval: 20 };

/** Tools that note each run; slow ones end when a file appears or their call is cancelled. */
const NOTES = `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
const folder = join(import.meta.dirname, '..');
const note = (name, effects, isSlow) => ({
  name, description: 'Note: ' + name, input: { type: 'object' }, effects,
  execute: async (input, { signal }) => {
    appendFileSync(join(folder, 'runs'), name + '\\n');
    appendFileSync(join(folder, 'begun-' + name), '');
    while (isSlow && !existsSync(join(folder, 'enough')) && !signal.aborted) await setTimeout(10);
    return name;
  },
});
`;
const ALL = `${NOTES}
export const read = note('read', { readOnly: true });
export const read_slowly = note('read_slowly', { readOnly: true }, true);
export const pay_slowly = note('pay_slowly', { destructive: false }, true);
export const remove = note('remove', { destructive: true });
`;
const STORE = 'store: { url: "sqlite:crib.db" }\n';
/** Tokens are accepted. */
const JWT = `profiles: { staff: {} }
access: { jwt: { issuer: "https://id.example.com", audience: a }, roles: { staff: { profiles: [staff] } } }
`;
const ANN = {
  id: 'ann',
  roles: ['staff'],
  profiles: ['staff'],
  credential: { kind: 'token', issuer: 'https://id.example.com' },
} as const;
const OWN = 'sources: { own: { modules: ./tools } }\n';

/** A crib of one of the configurations of a folder. It runs no tasks until it is told to. */
async function openCrib(folder: string, file = 'toolcrib.yaml'): Promise<Crib> {
  const crib = await createCrib({ configFile: join(folder, file) });
  onTestFinished(() => crib.close());
  return crib;
}

/** Submits as a server does, so that the crib does not begin to run tasks by itself. */
const submit = async (chest: Chest, tool: string, more: object = {}): Promise<string> =>
  idOf(await chest.submit(tool, {}, { door: 'rest', ...more }));

const stateOf = async (crib: Crib, id: string) => {
  const { state, outcome } = (await crib.tasks.get(id)) ?? {};
  return outcome ?? state;
};

const hasRun = (folder: string, tool: string) => existsSync(join(folder, `begun-${tool}`));

describe('a server that stops', () => {
  it('leaves tasks that have not begun, or may be repeated, to others, and says that the outcome of the rest is unknown', async () => {
    const config = `${OWN}${STORE}tasks: { concurrency: 2 }\nserver: { graceMs: 200 }\n`;
    const shop = createWorkshop({ 'toolcrib.yaml': config, 'tools/t.mjs': ALL });
    onTestFinished(shop.remove);
    const child = shop.start(['serve', '--port', '0']);
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'close');
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
    const url = await vi.waitUntil(() => /listens on (\S+)/.exec(said)?.[1], WITHIN);
    const ask = askThrough((request) => fetch(request), url);
    const send = async (tool: string): Promise<string> =>
      (await execute(ask, tool, {}, { async: true })).json.waiting.id;
    const [pay, slow] = [await send('pay_slowly'), await send('read_slowly')];
    await vi.waitUntil(() => hasRun(shop.folder, 'pay_slowly') && hasRun(shop.folder, 'read_slowly'), WITHIN);
    const queued = await send('read');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);

    const crib = await openCrib(shop.folder);
    expect([await stateOf(crib, pay), await stateOf(crib, slow), await stateOf(crib, queued)]).toEqual([
      'unknown_outcome',
      'queued',
      'queued',
    ]);
    writeFileSync(join(shop.folder, 'enough'), '');
    crib.server.runTasks();
    expect(await crib.tasks.wait(slow)).toMatchObject({ ok: true });
    expect(await crib.tasks.wait(queued)).toMatchObject({ ok: true });
    expect(await stateOf(crib, pay)).toBe('unknown_outcome');
  });
});

describe('a task after a restart', () => {
  it('is left by a process that does not have its source', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `sources: { own: { modules: ./tools }, other: { modules: ./others } }\n${STORE}`,
      'other.yaml': `sources: { other: { modules: ./others } }\n${STORE}`,
      'tools/t.mjs': ALL,
      'others/t.mjs': `${NOTES}export const look = note('look', { readOnly: true });`,
    });
    const crib = await openCrib(folder);
    const chest = await crib.open();
    const [left, taken] = [await submit(chest, 'read'), await submit(chest, 'look')];
    const other = await openCrib(folder, 'other.yaml');
    other.server.runTasks({ isWorker: true });
    expect(await other.tasks.wait(taken)).toMatchObject({ ok: true });
    expect(await stateOf(crib, left)).toBe('queued');
    expect(await crib.tasks.get(left)).toMatchObject({ attempts: 0 });
    crib.server.runTasks();
    expect(await crib.tasks.wait(left)).toMatchObject({ ok: true });
  });

  it.each([
    [
      'its tool is gone',
      `${OWN}${STORE}profiles: { staff: {} }\n`,
      `${NOTES}export const look = note('look', { readOnly: true });`,
      'unknown_tool',
    ],
    ['its profile lost the tool', `${OWN}${STORE}profiles: { staff: { exclude: [read] } }\n`, ALL, 'unknown_tool'],
    ['its profile is gone', `${OWN}${STORE}profiles: { guests: {} }\n`, ALL, 'denied'],
  ])('is refused if %s', async (_, config, tools, code) => {
    const folder = folderWith({
      'toolcrib.yaml': `${OWN}${STORE}profiles: { staff: {} }\n`,
      'later/toolcrib.yaml': config.replace('sqlite:crib.db', 'sqlite:../crib.db'),
      'tools/t.mjs': ALL,
      'later/tools/t.mjs': tools,
    });
    const first = await openCrib(folder);
    const id = await submit(await first.open('staff', { id: 'ann' }), 'read');
    await first.close();
    const later = await openCrib(folder, 'later/toolcrib.yaml');
    later.server.runTasks();
    expect(await later.tasks.wait(id)).toMatchObject({ status: 'failed', error: { code } });
    expect(existsSync(join(folder, 'later/runs'))).toBe(false);
  });

  it('is refused if it is approved after the key of its caller was revoked', async () => {
    const access = 'profiles: { staff: {} }\naccess: { keys: true, roles: { staff: { profiles: [staff] } } }\n';
    const folder = folderWith({ 'toolcrib.yaml': `${OWN}${STORE}${access}`, 'tools/t.mjs': ALL });
    const crib = await openCrib(folder);
    const { key, info } = await crib.keys.create({ name: 'ann', caller: 'ann', roles: ['staff'] }, 'operator');
    const identified = await crib.identify(`Bearer ${key}`);
    if (!identified.ok) throw new Error('not identified');
    const id = await submit(await crib.open('staff', identified.caller), 'remove');
    crib.server.runTasks();
    await vi.waitFor(async () => expect(await stateOf(crib, id)).toBe('waiting'), WITHIN);
    const { approvalId = '' } = (await crib.tasks.get(id)) ?? {};
    await crib.keys.revoke(info.id, 'operator');
    expect(await crib.approvals.answer(approvalId, { decision: 'approve' }, OPERATOR)).toMatchObject({ ok: true });
    expect(await crib.tasks.wait(id)).toMatchObject({ error: { code: 'denied' } });
    expect(hasRun(folder, 'remove')).toBe(false);
  });

  it('is refused if its caller was identified by a token too long ago', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `${OWN}${STORE}${JWT}`,
      'strict.yaml': `${OWN}${STORE}${JWT}tasks: { maxIdentityMs: 1 }\n`,
      'tools/t.mjs': ALL,
    });
    const crib = await openCrib(folder);
    const chest = await crib.open('staff', ANN);
    const fresh = await submit(chest, 'read');
    crib.server.runTasks();
    expect(await crib.tasks.wait(fresh)).toMatchObject({ ok: true });
    await crib.close();
    const strict = await openCrib(folder, 'strict.yaml');
    const old = await submit(await strict.open('staff', ANN), 'read', { delayMs: 20 });
    strict.server.runTasks();
    expect(await strict.tasks.wait(old)).toMatchObject({ error: { code: 'unauthenticated' } });
  });

  it('is refused if its caller was identified before the machine slept for long', async () => {
    const folder = folderWith({
      'toolcrib.yaml': `${OWN}${STORE}${JWT}tasks: { maxIdentityMs: 3600000 }\n`,
      'tools/t.mjs': ALL,
    });
    const crib = await openCrib(folder);
    const id = await submit(await crib.open('staff', ANN), 'read');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 7_200_000 }); // the steady clock stood still meanwhile
    onTestFinished(() => void vi.useRealTimers());
    crib.server.runTasks();
    expect(await crib.tasks.wait(id)).toMatchObject({ error: { code: 'unauthenticated' } });
  });

  it('does not run if it was cancelled while no process ran tasks', async () => {
    const folder = folderWith({ 'toolcrib.yaml': `${OWN}${STORE}`, 'tools/t.mjs': ALL });
    const first = await openCrib(folder);
    const chest = await first.open(undefined, { id: 'ann' });
    const [cancelled, kept] = [await submit(chest, 'read'), await submit(chest, 'read_slowly')];
    await first.tasks.cancel(cancelled, { id: 'ann' });
    await first.close();
    writeFileSync(join(folder, 'enough'), '');
    const later = await openCrib(folder);
    later.server.runTasks();
    expect(await later.tasks.wait(kept)).toMatchObject({ ok: true });
    expect(await stateOf(later, cancelled)).toBe('cancelled');
    expect(hasRun(folder, 'read')).toBe(false);
  });

  it('runs though the process that stored it was closed before', async () => {
    const folder = folderWith({ 'toolcrib.yaml': `${OWN}${STORE}`, 'tools/t.mjs': ALL });
    const first = await openCrib(folder);
    const id = await submit(await first.open(undefined, { id: 'ann' }), 'read');
    await first.close();
    const later = await openCrib(folder);
    later.server.runTasks();
    expect(await later.tasks.wait(id, { by: { id: 'ann' } })).toMatchObject({ ok: true });
  });
});
