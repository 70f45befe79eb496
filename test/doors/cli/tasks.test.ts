import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConcurrency, readTaskFlags } from '../../../src/doors/cli/flags.ts';
import { parseCommandLine } from '../../../src/doors/cli/parse-command-line.ts';
import { OFFICE } from './office.ts';
import { createWorkshop } from './workshop.ts';

/** A tool that says when it began, and ends when a file appears or its call is cancelled. */
const SLOW = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
export const slow = { name: 'slow', description: 'Wait for a file', input: { type: 'object' }, effects: { destructive: false }, execute: async (input, { signal }) => {
  writeFileSync('begun', '');
  while (!existsSync('enough') && !signal.aborted) await setTimeout(10);
  return 'finished';
} };
`;

const office = createWorkshop({
  ...OFFICE,
  'toolcrib.yaml': `${OFFICE['toolcrib.yaml']}\nserver: { graceMs: 300 }\n`,
  'patient.yaml': `${OFFICE['toolcrib.yaml']}\nserver: { graceMs: 60000 }\n`,
  'tools/slow.mjs': SLOW,
});
afterAll(office.remove);

const START_ONE =
  'No server or worker with this configuration runs tasks on this machine. To run them: toolcrib worker';

/** A worker of the office, once it says what it runs. */
async function startWorker(...args: readonly string[]) {
  const child = office.start(['worker', ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close');
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said.stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said.stderr += chunk;
  });
  await until(child, () => said.stderr.includes('runs background calls'));
  return { child, said, ended, until: (holds: () => boolean) => until(child, holds) };
}

async function until(child: ChildProcessWithoutNullStreams, holds: () => boolean): Promise<void> {
  await expect.poll(() => holds() || child.exitCode !== null, { timeout: 10_000, interval: 20 }).toBe(true);
  expect(holds(), `it ended with ${child.exitCode}`).toBe(true);
}

const submit = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await office.run(['call', ...args, '--background']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Stored as a task.') });
  return stdout.trim();
};

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
const taskOf = async (id: string): Promise<any> =>
  ((await office.json(['tasks', 'show', id])) as { task: unknown }).task;

const fileOf = (name: string) => join(office.folder, name);

describe('background calls on the command line', () => {
  it('are stored without a server, and run by a worker that is started later', async () => {
    const { code, stdout, stderr } = await office.run(['call', 'add', 'a=1', 'b=2', '--background']);
    const id = stdout.trim();
    expect(code).toBe(0);
    expect(stderr).toContain(`toolcrib tasks show ${id}`);
    expect(stderr).toContain(START_ONE);
    const listed = await office.run(['tasks', '--state', 'queued']);
    expect(listed.stdout).toMatch(new RegExp(`${id} +add +queued +operator`));
    expect(listed.stderr).toContain(START_ONE);

    const { child, said, ended, until: untilWorker } = await startWorker('--json', '--concurrency', '2');
    expect(said.stderr).toContain('runs background calls of all profiles from all sources, at most 2 at once.');
    await untilWorker(() => said.stdout.includes(id));
    expect(JSON.parse(said.stdout)).toEqual({ at: expect.any(String), id, tool: 'add', outcome: 'done' });
    await expect.poll(async () => (await taskOf(id)).state, { timeout: 15_000 }).toBe('done');
    expect(await taskOf(id)).toMatchObject({
      outcome: 'done',
      result: { ok: true, data: 3 },
      arguments: { a: 1, b: 2 },
    });
    const shown = await office.run(['tasks', 'show', id]);
    expect(shown.stdout).toMatch(/^state +done$/m);
    expect(shown.stdout).toMatch(/result\n3\n$/);

    const again = await office.run(['tasks', 'resend', id]);
    expect(again).toMatchObject({ code: 0, stderr: expect.not.stringContaining(START_ONE) });
    await untilWorker(() => said.stdout.includes(again.stdout.trim()));
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(said.stderr).toContain('waiting for running tasks');
  });

  it('are cancelled, as often as wanted', async () => {
    const id = await submit('add', 'a=1', 'b=2', '--delay', '1h');
    expect(await office.run(['tasks', 'cancel', id])).toMatchObject({ code: 0, stdout: `${id} cancelled\n` });
    expect(await office.run(['tasks', 'cancel', id])).toMatchObject({ code: 0, stdout: `${id} cancelled\n` });
    expect(await taskOf(id)).toMatchObject({
      state: 'done',
      outcome: 'cancelled',
      cancelledBy: expect.stringMatching(/^cli/),
    });
    const { code, stdout } = await office.run(['tasks', '--outcome', 'cancelled', '--tool', 'add', '--json']);
    expect({ code, tasks: JSON.parse(stdout).tasks }).toMatchObject({ code: 0, tasks: [{ id }] });
  });

  it('end within server.graceMs after a signal; what may not be repeated has an unknown outcome', async () => {
    rmSync(fileOf('begun'), { force: true });
    const id = await submit('slow');
    const { child, ended, until: untilWorker } = await startWorker('--source', 'office', '--profile', 'all');
    await untilWorker(() => existsSync(fileOf('begun')));
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    expect(await taskOf(id)).toMatchObject({ state: 'done', outcome: 'unknown_outcome' });
  });

  it('a second signal ends a worker at once', async () => {
    rmSync(fileOf('begun'), { force: true });
    await submit('slow');
    const { child, said, ended, until: untilWorker } = await startWorker('--config', 'patient.yaml');
    await untilWorker(() => existsSync(fileOf('begun')));
    child.kill('SIGTERM');
    await untilWorker(() => said.stderr.includes('Send the signal again'));
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
  });

  it.each([
    [['tasks', 'cancel', 'a\u001b[31m\nb'], 1, 'was not found'],
    [['tasks', 'resend', 'nothing'], 1, 'The task "nothing" was not found.'],
    [['call', 'add', '--background'], 1, 'invalid_input'],
    [['call', 'add', 'a=1', 'b=2', '--background', '--notify', 'x'], 1, 'The webhook "x" was not found'],
    [['worker', '--source', 'offic'], 2, 'The source "offic" was not found. Did you mean "office"?'],
    [['worker', '--profile', 'nobody'], 2, 'The profile "nobody" was not found.'],
  ])('toolcrib %j ends with %i', async (args, code, sentence) => {
    const ran = await office.run(args);
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(sentence) });
    expect(ran.stderr).not.toContain('\u001b[31m');
  });
});

describe('flags of background calls', () => {
  const readFlags = (...args: readonly string[]) => readTaskFlags(parseCommandLine(['call', 'add', ...args]).flags);

  it('are read', () => {
    expect(readFlags()).toBeUndefined();
    expect(readFlags('--background')).toEqual({});
    expect(readFlags('--background', '--delay', '1.5', '--priority', '-5', '--notify', 'x')).toEqual({
      delayMs: 1500,
      priority: -5,
      notify: 'x',
    });
    expect(readFlags('--background', '--delay', '2h')).toEqual({ delayMs: 7_200_000 });
    expect(readFlags('--background', '--at', '2030-01-01T01:00+01:00')).toEqual({ at: Date.UTC(2030, 0, 1) });
    expect(readFlags('--background', '--at', '2030-01-01')).toEqual({ at: Date.UTC(2030, 0, 1) });
    expect(readConcurrency('12')).toBe(12);
  });

  it.each([
    [['--at', '2030-01-01'], '--at can only be used with --background.'],
    [['--priority', '1'], '--priority can only be used with --background.'],
    [['--background', '--yes'], '--yes cannot be combined with --background'],
    [['--background', '--approval', 'x'], '--approval cannot be combined with --background'],
    [['--background', '--at', '2030-01-01', '--delay', '1'], 'Use either --at or --delay, not both.'],
    [['--background', '--at', 'tomorrow'], '--at takes a date'],
    [['--background', '--at', '2030-01-01T10:00'], 'a time with its zone'],
    [['--background', '--at', '2030-13-01T10:00Z'], '--at takes a date'],
    [['--background', '--delay', '-1'], '--delay takes seconds'],
    [['--background', '--delay', '1y'], '--delay takes seconds'],
    [['--background', '--priority', '101'], '--priority takes a whole number from -100 to 100'],
    [['--background', '--priority', '1.5'], '--priority takes a whole number from -100 to 100'],
    [['--background', '--priority', '-x'], '--priority needs a value'],
  ])('%j are refused', (args, sentence) => {
    expect(() => readFlags(...args)).toThrow(sentence);
  });

  it.each(['0', '-1', '1001', 'many', '1.5', ''])('--concurrency %j is refused', (text) => {
    expect(() => readConcurrency(text)).toThrow('--concurrency takes a whole number from 1 to 1000');
  });

  it('worker takes several profiles and sources, other commands one', () => {
    const { flags, lists } = parseCommandLine(['worker', '--profile', 'a', '--source', 's', '--profile', 'b']);
    expect({ flags, lists }).toEqual({ flags: {}, lists: { profile: ['a', 'b'], source: ['s'] } });
    expect(() => parseCommandLine(['list', '--source', 'a', '--source', 'b'])).toThrow('--source is given twice');
    expect(() => parseCommandLine(['tasks', '--state', 'approved'])).toThrow(
      '--state must be one of queued, running, waiting, done, all',
    );
  });
});
