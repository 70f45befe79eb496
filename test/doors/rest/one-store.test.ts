import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../../crib/workshop.ts';
import { MAIN, SURROUNDINGS } from '../cli/workshop.ts';
import { type Ask, askThrough, execute } from './served.ts';

/** Tools that write a line outside of the configuration's folder for each run. */
const TOOLS = `
import { appendFileSync } from 'node:fs';
const tool = (name, more = {}) => ({
  name, description: name, input: { type: 'object' }, ...more,
  execute: () => { appendFileSync(process.env.HOME + '/ledger', name + '\\n'); return name; },
});
export const pay = tool('pay');
export const noted = tool('noted');
export const wipe = tool('wipe', { effects: { destructive: true } });
`;

const CONFIG = `
sources: { shop: { modules: ./tools } }
extensions: { audit: { requireFor: [noted] } }
`;

const NAMESPACE = process.getuid?.() === 0 ? '-m' : '-Urm';
const READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"';
const MAY_MOUNT = spawnSync('unshare', [NAMESPACE, 'sh', '-c', READ_ONLY, 'sh', import.meta.dirname]).status === 0;

interface Shop {
  readonly folder: string;
  readonly home: string;
}

/** `readOnly`: a folder that is mounted read-only for the process. */
interface Surroundings {
  readonly readOnly?: string;
}

interface Serving {
  readonly ask: Ask;
  said(): string;
  stop(): Promise<void>;
}

function shop(): Shop {
  const folder = folderWith({ 'toolcrib.yaml': CONFIG, 'tools/shop.mjs': TOOLS });
  return { folder, home: folderWith({}) };
}

const ledger = ({ home }: Shop): readonly string[] =>
  existsSync(join(home, 'ledger')) ? readFileSync(join(home, 'ledger'), 'utf8').trim().split('\n') : [];

/** The databases of all places. */
function databases({ folder, home }: Shop): readonly string[] {
  const found = [folder, home].flatMap((top) =>
    readdirSync(top, { recursive: true, encoding: 'utf8' }).map((name) => join(top, name)),
  );
  return found.filter((file) => file.endsWith('/crib.db'));
}

/** The real command, in the folder of the configuration. */
function start({ folder, home }: Shop, args: readonly string[], { readOnly }: Surroundings = {}) {
  const options = { cwd: folder, env: { ...SURROUNDINGS, HOME: home } };
  const command = [process.execPath, MAIN, ...args];
  if (readOnly === undefined) return spawn(process.execPath, [MAIN, ...args], options);
  const script = `${READ_ONLY} && shift && cd "$PWD" && exec "$@"`;
  return spawn('unshare', [NAMESPACE, 'sh', '-c', script, 'sh', readOnly, ...command], options);
}

async function run(at: Shop, args: readonly string[], surroundings?: Surroundings) {
  const child = start(at, args, surroundings);
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: (await ended)[0] as number | null, stdout, stderr }; // so it is documented
}

async function serve(at: Shop, surroundings?: Surroundings): Promise<Serving> {
  const child = start(at, ['serve', '--port', '0'], surroundings);
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  let stderr = '';
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error(`it ended: ${stderr}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
      const [, found] = /listens on (\S+)[\s\S]*Or try:\n.*\n/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    ask: askThrough((request) => fetch(request), url),
    said: () => stderr,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

const pay = (ask: Ask) => execute(ask, 'pay', {}, { idempotencyKey: 'pay-1' });

describe.runIf(MAY_MOUNT)('a state folder that is read-only at a restart', () => {
  it.each(['.', '.toolcrib'])('starts no second store: %s', async (path) => {
    const at = shop();
    const store = join(at.folder, '.toolcrib/crib.db');
    const before = await serve(at);
    expect((await pay(before.ask)).json).toMatchObject({ ok: true });
    await before.stop();

    const surroundings = { readOnly: join(at.folder, path) };
    const { ask, said, stop } = await serve(at, surroundings);
    await expect.poll(said).toMatch(new RegExp(`warning: The store ${store} is on a read-only disk`));
    expect((await ask('/readyz')).status).toBe(503);
    for (const guarded of [pay(ask), execute(ask, 'wipe', {}), execute(ask, 'noted', {})])
      expect(await guarded).toMatchObject({ status: 503, json: { error: { code: 'unavailable' } } });
    await stop();
    const checked = await run(at, ['check'], surroundings);
    expect(checked).toMatchObject({ code: 1, stdout: expect.stringContaining(`${store} is on a read-only disk`) });
    const verified = await run(at, ['audit', 'verify'], surroundings);
    expect(verified).toMatchObject({ code: 1, stderr: expect.stringContaining(`${store} is on a read-only disk`) });
    expect([ledger(at), databases(at)]).toEqual([['pay'], [store]]);

    const after = await serve(at);
    expect((await pay(after.ask)).json).toMatchObject({ ok: true });
    expect((await after.ask('/readyz')).status).toBe(200);
    await after.stop();
    expect(ledger(at)).toEqual(['pay']);
    expect(await run(at, ['audit', 'verify'])).toMatchObject({ code: 0 });
  });

  it('keeps a store that was started in the state directory there, and says so at every start', async () => {
    const at = shop();
    const first = await serve(at, { readOnly: at.folder });
    await expect.poll(first.said).toMatch(/warning: .*\.toolcrib is not writable, so state is kept in .* stays there/);
    expect((await first.ask('/readyz')).status).toBe(200);
    expect((await pay(first.ask)).json).toMatchObject({ ok: true });
    await first.stop();
    const [store = '', ...others] = databases(at);
    expect([store.startsWith(at.home), others]).toEqual([true, []]);

    const { ask, said, stop } = await serve(at);
    await expect.poll(said).toMatch(/warning: The store is in .* It stays there/);
    expect((await pay(ask)).json).toMatchObject({ ok: true });
    expect((await ask('/readyz')).status).toBe(200);
    await stop();
    expect([ledger(at), databases(at)]).toEqual([['pay'], [store]]);
    expect(await run(at, ['check'])).toMatchObject({ code: 0, stdout: expect.stringContaining('stays there') });
    expect(await run(at, ['audit', 'verify'])).toMatchObject({ code: 0 });

    renameSync(store, join(at.folder, '.toolcrib/crib.db')); // the operator moves it
    const moved = await run(at, ['audit', 'verify']);
    expect(moved).toMatchObject({ code: 0, stderr: expect.stringMatching(/[1-9] rows? in 1 chain/) });
    expect(moved.stderr).not.toContain('stays there');
    expect(databases(at)).toEqual([join(at.folder, '.toolcrib/crib.db')]);
  });
});

it('the audit, whose checkpoints are elsewhere, reports a removed database', async () => {
  const at = shop();
  const { ask, stop } = await serve(at);
  expect((await pay(ask)).json).toMatchObject({ ok: true });
  await stop();
  rmSync(join(at.folder, '.toolcrib/crib.db'));
  const verified = await run(at, ['audit', 'verify']);
  expect(verified).toMatchObject({ code: 1, stdout: expect.stringContaining('chain_removed') });
  expect(verified.stderr).toMatch(/warning: The store .* is missing, .* Toolcrib creates a new, empty store/);
});

it('a folder that is not mounted at a restart is reported', async () => {
  const at = shop();
  const { ask, stop } = await serve(at);
  expect((await pay(ask)).json).toMatchObject({ ok: true });
  await stop();
  rmSync(join(at.folder, '.toolcrib'), { recursive: true });
  mkdirSync(join(at.folder, '.toolcrib'));
  const again = await serve(at);
  await expect.poll(again.said).toMatch(/warning: The store .* or its disk is not mounted/);
  await again.stop();
});
