import { afterAll, describe, expect, it } from 'vitest';
import { createCrib } from '../../../src/index.ts';
import { OFFICE } from './office.ts';
import { createWorkshop } from './workshop.ts';

const WRITTEN = 'schedules: { written: { tool: add, cron: "0 3 * * *", timeZone: Europe/Berlin } }\n';
const shop = createWorkshop({ ...OFFICE, 'toolcrib.yaml': `${OFFICE['toolcrib.yaml']}${WRITTEN}` });
afterAll(shop.remove);

const run = (...args: readonly string[]) => shop.run(['schedules', ...args]);

describe('toolcrib schedules', () => {
  it('adds, lists, runs and removes schedules', async () => {
    const added = await run(
      'add',
      'once',
      'add',
      '--at',
      '2999-12-24T18:00:00',
      '--time-zone',
      'Europe/Berlin',
      '--args',
      '{"a":1,"b":2}',
    );
    expect(added).toMatchObject({ code: 0, stdout: 'once is next due 2999-12-24T17:00:00.000Z\n' });
    expect(added.stderr).toContain('No server or worker with this configuration runs tasks on this machine');
    const listed = await run();
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(
      /^once +add +2999-12-24T17:00:00.000Z +Europe\/Berlin +2999-12-24T17:00:00.000Z +store$/m,
    );
    expect(listed.stdout).toMatch(/^written +add +0 3 \* \* \* +Europe\/Berlin +\d{4}-\S+ +configuration$/m);

    const ran = await run('run', 'once');
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\w-]{20,}\n$/) });
    const crib = await createCrib({ configFile: shop.folder, watch: false });
    const task = await crib.tasks.get(ran.stdout.trim());
    await crib.close();
    expect(task).toMatchObject({
      tool: 'add',
      arguments: { a: 1, b: 2 },
      caller: { id: 'schedule:once' },
      state: 'queued',
    });

    expect(await run('remove', 'once')).toEqual({ code: 0, stdout: 'once removed\n', stderr: '' });
    expect(await run('remove', 'once')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The schedule "once" was not found.'),
    });
  });

  it('takes every property, and replaces on request', async () => {
    const flags = [
      '--cron',
      '@daily',
      '--missed',
      'once',
      '--role',
      'dev',
      '--role',
      'ops',
      '--priority',
      '-5',
      '--profile',
      'reader',
    ];
    await run('add', 'full', 'add', ...flags);
    expect(await run('add', 'full', 'add', ...flags)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('A schedule named "full" exists'),
    });
    expect(await shop.json(['schedules', 'add', 'full', 'echo', ...flags, '--replace'])).toMatchObject({
      ...{
        name: 'full',
        tool: 'echo',
        cron: '@daily',
        missed: 'once',
        roles: ['dev', 'ops'],
        priority: -5,
        profile: 'reader',
      },
      by: expect.stringMatching(/^cli/),
    });
  });

  it('shows why a schedule cannot run', async () => {
    await run('add', 'stray', 'unknown', '--cron', '@daily');
    const { stderr } = await run();
    expect(stderr).toContain(
      'Schedule "stray": The tool "unknown" cannot be called: no source has a tool with this name.',
    );
    expect(await run('run', 'stray')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('"unknown" was not found'),
    });
  });

  it.each([
    [['add', 'x'], 2, 'needs a NAME and a TOOL'],
    [['add'], 2, 'needs a NAME'],
    [['remove', 'x', 'y'], 2, 'does not take "y"'],
    [['edit', 'x'], 2, 'schedules takes list, add, remove or run, not "edit"'],
    [['remove', 'x', '--cron', '@daily'], 2, '--cron can only be used with "toolcrib schedules add"'],
    [['add', 'x', 'add', '--cron', '@daily', '--priority', 'high'], 2, '--priority takes a whole number'],
    [['add', 'x', 'add', '--cron', '@daily', '--missed', 'all'], 2, 'skip'],
    [['add', 'x', 'add', '--cron', '0 0 31 2 *'], 2, 'it never matches'],
    [['add', 'x', 'add', '--at', '2000-01-01T00:00:00Z'], 2, 'its time is in the past'],
    [['remove', 'written'], 1, 'is in the configuration; change it there'],
    [['run', 'x'], 1, 'The schedule "x" was not found'],
  ])('refuses %j', async (args, code, reason) => {
    const refused = await run(...args);
    expect(refused.stderr).toContain(reason);
    expect(refused.code).toBe(code);
    expect(refused.stdout).toBe('');
  });
});
