import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { childEnvironment } from '../../../src/system/processes/child-environment.ts';
import { createOutputTail } from '../../../src/system/processes/child-output.ts';
import { type Child, startChild } from '../../../src/system/processes/start-child.ts';
import { type Presence, watchPresence } from './upstream.ts';

const SERVERS = join(import.meta.dirname, 'servers');
const PROCESSES = join(import.meta.dirname, 'processes');
const ROUGH = `${process.execPath} --no-warnings ${join(SERVERS, 'rough.ts')}`;

/** A child that runs a shell, or a program. */
function start(presence: Presence | undefined, command: string, ...args: readonly string[]): Child {
  const env = childEnvironment(process.env, { PRESENCE: presence?.path });
  const child = startChild({ command, args, env });
  onTestFinished(() => child.end(0));
  return child;
}

/** A process of ours that keeps children, to be ended by whatever the test wants. */
function startParent(presence: Presence, script: string, ...args: readonly string[]): ChildProcess {
  const parent = spawn(process.execPath, ['--no-warnings', join(PROCESSES, script), ...args], {
    env: { ...process.env, PRESENCE: presence.path },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  return parent;
}

describe('a child', () => {
  it('exchanges messages, and reports how it ended', async () => {
    const child = start(undefined, 'sh', '-c', 'read line; echo "got $line"; echo oops >&2; exit 3');
    child.stdin.write('this\n');
    const said = Promise.all([text(child.stdout), text(child.stderr)]);
    expect(await child.ended).toEqual({ kind: 'ended', code: 3, signal: null });
    expect(await said).toEqual(['got this\n', 'oops\n']);
    await child.gone;
  });

  it('that cannot be started says why', async () => {
    expect(await start(undefined, 'there-is-no-such-program').ended).toEqual({ kind: 'failed', reason: 'ENOENT' });
    expect(await start(undefined, 'a\0b').ended).toEqual({ kind: 'failed', reason: 'ERR_INVALID_ARG_VALUE' });
    expect(await start(undefined, '/').ended).toEqual({ kind: 'failed', reason: 'EACCES' });
  });

  it('that ignores signals is killed', async () => {
    const ends = Array.from({ length: 10 }, async () => {
      const child = start(undefined, 'sh', '-c', 'trap "" TERM; echo deaf; while true; do sleep 1; done');
      await new Promise((resolve) => child.stdout.once('data', resolve));
      await child.end(50);
      return child.ended;
    });
    for (const ended of ends) expect(await ended).toEqual({ kind: 'ended', code: null, signal: 'SIGKILL' });
  });

  it('has time to end normally', async () => {
    const child = start(undefined, 'sh', '-c', 'trap "echo bye; exit 0" TERM; echo up; while true; do sleep 0.1; done');
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const rest = text(child.stdout);
    await child.end();
    expect(await rest).toContain('bye');
  });

  it('ends together with all its descendants, in any process group', async () => {
    const presence = await watchPresence();
    const child = start(presence, 'sh', '-c', `${ROUGH} family & exec ${ROUGH} sleeps`);
    await presence.arrived(3); // two servers, and what one of them started in a session of its own
    await child.end();
    await presence.left();
  });

  it('that ends by itself leaves nothing behind', async () => {
    const presence = await watchPresence();
    const child = start(presence, 'sh', '-c', `${ROUGH} sleeps & read line; exit 0`);
    await presence.arrived(1);
    child.stdin.end('go\n');
    await child.gone;
    await presence.left();
  });

  it('whose supervisor is killed ends, too', async () => {
    const presence = await watchPresence();
    const child = start(presence, process.execPath, '--no-warnings', join(SERVERS, 'rough.ts'), 'sleeps');
    await presence.arrived(1);
    const [pid] = presence.pids();
    expect(pid).toBe(child.pid());
    process.kill(await parentOf(pid), 'SIGKILL');
    expect(await child.ended).toMatchObject({ kind: 'failed' });
    await presence.left();
  });

  it('gets the necessary variables of the environment, and the configured ones', () => {
    const env = { PATH: '/bin', HOME: '/home', LANG: 'C', SECRET_TOKEN: 'x', SHELL: '() { evil; }', TERM: undefined };
    expect(childEnvironment(env, { A: '1', PATH: '/other', B: undefined })).toEqual({
      A: '1',
      HOME: '/home',
      LANG: 'C',
      PATH: '/other',
    });
    expect(env.PATH).toBe('/bin');
  });
});

describe('no child outlives its parent', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)('that ends by %s', async (signal) => {
    const presence = await watchPresence();
    const parent = startParent(presence, 'keep-children.ts', 'sh', '-c', `${ROUGH} family & ${ROUGH} sleeps; true`);
    await presence.arrived(3);
    parent.kill(signal);
    await presence.left();
  });

  it('also if they are servers of a crib that were started through a shell', async () => {
    const presence = await watchPresence();
    const parent = startParent(presence, 'keep-crib.ts', 'sh', '-c', `${ROUGH} family; true`);
    await presence.arrived(2);
    await new Promise((resolve) => parent.stdout?.once('data', resolve));
    parent.kill('SIGKILL');
    await presence.left();
  });
});

describe('the output of a child', () => {
  it('is kept to its last 64 kB, in complete characters', () => {
    const tail = createOutputTail();
    for (let index = 0; index < 5000; index++) tail.add(Buffer.from(`line ${index} ü\n`));
    expect(Buffer.byteLength(tail.text())).toBeLessThanOrEqual(65_536);
    expect(tail.text().endsWith('line 4999 ü\n')).toBe(true);
    const cut = createOutputTail(5);
    cut.add(Buffer.from('üüüü'));
    expect(cut.text()).toBe('üü');
    cut.add(Buffer.from('a'));
    expect(cut.text()).toBe('üüa');
  });

  it('is empty at first', () => {
    expect(createOutputTail().text()).toBe('');
  });
});

/** The parent of a process, as the system knows it. */
async function parentOf(pid = 0): Promise<number> {
  const ps = spawn('ps', ['-o', 'ppid=', '-p', String(pid)]);
  return Number(await text(ps.stdout));
}
