import { describe, expect, it, onTestFinished } from 'vitest';
import { createProgressWatch } from '../../../src/system/processes/process-progress.ts';
import type { Family } from '../../../src/system/processes/process-tree.ts';
import { type Child, startChild } from '../../../src/system/processes/start-child.ts';
import { manualClock } from '../../crib/manual-clock.ts';

/** Runs this code in a process of its own and resolves when it has printed something. */
async function runs(code: string): Promise<{ child: Child; family: Family }> {
  const child = startChild({ command: process.execPath, args: ['-e', code], env: { PATH: process.env.PATH ?? '' } });
  onTestFinished(() => child.end(0));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const family = child.family();
  if (family === undefined) throw new Error('it runs, and nobody knows as what');
  return { child, family };
}

/** Counts what is told of a family in a time that stands still. */
function watching(family: Family) {
  const clock = manualClock();
  let told = 0;
  const stop = createProgressWatch(clock).watch(family, () => void told++);
  onTestFinished(stop);
  return {
    clock,
    stop,
    /** What one look tells. */
    look(): number {
      const before = told;
      clock.advance(1000);
      return told - before;
    },
  };
}

/** Looks until nothing is told: whatever a program does when it begins is over. */
async function settled({ look }: { look(): number }): Promise<void> {
  await expect.poll(look, { timeout: 30_000, interval: 200 }).toBe(0);
}

/** Tells a program to go on, and resolves when it says that it has. */
async function poke(child: Child): Promise<void> {
  const answered = new Promise((resolve) => child.stdout.once('data', resolve));
  child.stdin.write('go\n');
  await answered;
}

const WAITS = "console.log('here'); process.stdin.on('data', () => { WORK });";
const program = (work: string) => WAITS.replace('WORK', `${work}; process.stdout.write('done')`);

describe('the progress of a process tree', () => {
  it('is not reported for one that waits', async () => {
    const { family } = await runs(program(''));
    const watched = watching(family);
    await settled(watched);
    expect(watched.look()).toBe(0);
  });

  it('is reported when it computes', async () => {
    const { child, family } = await runs(
      program('const at = process.cpuUsage().user; while (process.cpuUsage().user - at < 200_000);'),
    );
    const watched = watching(family);
    await settled(watched);
    await poke(child);
    expect(watched.look()).toBe(1);
  });

  it.runIf(process.platform === 'linux')('is reported when it reads', async () => {
    const { child, family } = await runs(program("require('node:fs').readFileSync(process.execPath)"));
    const watched = watching(family);
    await settled(watched);
    await poke(child);
    expect(watched.look()).toBe(1);
  });

  it('is reported when it starts a process, also one that leaves its group', async () => {
    const { child, family } = await runs(
      program(
        "require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 9e5)'], { detached: true, stdio: 'ignore' })",
      ),
    );
    const watched = watching(family);
    await settled(watched);
    await poke(child);
    expect(watched.look()).toBe(1);
  });

  it('is reported when all of it has ended, and then no more', async () => {
    const { child, family } = await runs(program(''));
    const watched = watching(family);
    await settled(watched);
    await child.end(0);
    expect(watched.look()).toBe(1);
    expect(watched.look()).toBe(0);
  });

  it('is polled only while there is something to watch', async () => {
    const { family } = await runs(program(''));
    const { clock, stop } = watching(family);
    expect(clock.count()).toBe(1);
    stop();
    stop();
    expect(clock.count()).toBe(0);
  });
});
