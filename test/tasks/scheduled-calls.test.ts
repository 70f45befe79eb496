import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Crib, type CribOptions, createCrib, defineTool, type ToolCall } from '../../src/index.ts';
import { cribOf, folderWith, write } from '../crib/workshop.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-11-16T10:30:00Z');

/** The time of stores stands still until it is moved. */
function stillAt(at: number): void {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.setSystemTime(at);
}

/** A crib with a tool that notes its calls, closed after the test. */
async function openCrib(options: CribOptions) {
  const calls: Pick<ToolCall, 'caller' | 'profile' | 'timeZone' | 'input'>[] = [];
  const tidy = defineTool({
    name: 'tidy',
    description: 'Tidy up',
    input: { type: 'object', properties: { days: { type: 'number' } } },
    effects: { idempotent: true },
    run: (_input, { caller, profile, timeZone, input }) => {
      calls.push({ caller, profile, input, ...(timeZone !== undefined && { timeZone }) });
      return 'tidied';
    },
  });
  const crib = await createCrib({ store: 'memory', tools: [tidy], ...options });
  onTestFinished(() => crib.close());
  return { crib, calls };
}

/** Starts the scheduler, and waits until it has seen all schedules. */
async function begin(crib: Crib): Promise<void> {
  crib.server.runTasks();
  const count = (await crib.schedules.list()).length;
  await vi.waitFor(async () => expect((await crib.store?.schedules.progress())?.progress).toHaveLength(count));
}

/** Moves the time and lets the scheduler look, which a change of schedules does. */
async function moveTo(crib: Crib, at: number): Promise<void> {
  vi.setSystemTime(at);
  await crib.schedules.add({ name: 'nudge', tool: 'tidy', cron: '0 0 1 1 *', replace: true }, 'ann');
}

describe('a schedule of the configuration', () => {
  const nightly = {
    ...{ tool: 'tidy', arguments: { days: 3 }, profile: 'care', roles: 'ops', cron: '0 12 * * *' },
    ...{ timeZone: 'Europe/Berlin', priority: 5 },
  };
  const config = { profiles: { care: {}, other: {} }, defaultProfile: 'other', schedules: { nightly } };

  it('calls its tool as a task of its own caller', async () => {
    stillAt(START);
    const { crib, calls } = await openCrib({ config });
    await begin(crib);
    await moveTo(crib, START + HOUR / 2);
    const slot = `nightly@${START + HOUR / 2}`;
    const [task] = await vi.waitUntil(async () => {
      const found = await crib.tasks.list({ outcome: 'done' });
      return found.length > 0 && found;
    });
    expect(task).toMatchObject({ tool: 'tidy', profile: 'care', slot, priority: 5, door: 'schedule', state: 'done' });
    expect(task?.caller).toEqual({ id: 'schedule:nightly', roles: ['ops'] });
    expect(calls).toEqual([
      {
        caller: { id: 'schedule:nightly', roles: ['ops'] },
        profile: 'care',
        timeZone: 'Europe/Berlin',
        input: { days: 3 },
      },
    ]);
    const [shown] = await crib.schedules.list();
    expect(shown).toMatchObject({ last: { slot: START + HOUR / 2, taskId: task?.id }, nextAt: START + 24.5 * HOUR });
    const rows = await crib.calls.list({ caller: 'schedule:nightly' });
    expect(rows.map(({ outcome, door }) => [outcome, door])).toEqual([
      ['done', 'task'],
      ['waiting', 'schedule'],
    ]);
  });

  it('is submitted once by two processes with one store', async () => {
    stillAt(START);
    const store = `sqlite:${join(temporaryFolder(), 'crib.db')}`;
    const cribs = [await openCrib({ config, store }), await openCrib({ config, store })];
    for (const { crib } of cribs) await begin(crib);
    vi.setSystemTime(START + HOUR / 2);
    const nudged = cribs.map(({ crib }, index) =>
      crib.schedules.add({ name: `nudge${index}`, tool: 'tidy', cron: '0 0 1 1 *' }, 'ann'),
    );
    await Promise.all(nudged);
    await vi.waitFor(() => expect(cribs.flatMap(({ calls }) => calls)).toHaveLength(1));
    for (const { crib } of cribs) await crib.close(); // waits for looks and tasks under way
    expect(cribs.flatMap(({ calls }) => calls)).toHaveLength(1);
  });

  it('follows an edit of the configuration', async () => {
    const entry = (hour: number) =>
      `schedules: { one: { tool: echo, cron: "0 ${hour} * * *" } }\ntools: [{ name: echo, description: Echo, run: { kind: shell, command: [echo] } }]\n`;
    stillAt(START);
    const folder = folderWith({ 'toolcrib.yaml': entry(3) });
    const crib = await cribOf(folder, { watch: false });
    expect(await crib.schedules.list()).toMatchObject([{ name: 'one', nextAt: Date.parse('2026-11-17T03:00Z') }]);
    write(folder, { 'toolcrib.yaml': entry(4) });
    await crib.reload();
    expect(await crib.schedules.list()).toMatchObject([{ name: 'one', nextAt: Date.parse('2026-11-17T04:00Z') }]);
    write(folder, { 'toolcrib.yaml': entry(77) });
    await expect(crib.reload()).rejects.toThrow('schedules.one.cron: The cron expression "0 77 * * *" cannot be used');
    expect(await crib.schedules.list()).toMatchObject([{ cron: '0 4 * * *' }]);
  });

  it.each<[string, unknown, string]>([
    [
      'a cron that never matches',
      { tool: 'a', cron: '0 0 31 2 *' },
      'schedules.one.cron: The cron expression "0 0 31 2 *" cannot be used: it never matches',
    ],
    ['seconds', { tool: 'a', cron: '* * * * * *' }, 'seconds cannot be given'],
    [
      'an unknown time zone',
      { tool: 'a', cron: '* * * * *', timeZone: 'Mars/X' },
      'schedules.one.timeZone: The time zone "Mars/X" is not known',
    ],
    [
      'cron and at',
      { tool: 'a', cron: '* * * * *', at: '2030-01-01T00:00' },
      'schedules.one: The schedule cannot be used: it has cron and at',
    ],
    ['neither of them', { tool: 'a' }, 'it needs cron or at'],
    ['a time that is none', { tool: 'a', at: 'noon' }, 'schedules.one.at: at must be a date and time'],
    ['no tool', { cron: '* * * * *' }, 'schedules.one needs "tool"'],
    ['an unknown rule', { tool: 'a', cron: '* * * * *', missed: 'all' }, 'must be one of skip, once'],
    ['an unknown key', { tool: 'a', cron: '* * * * *', every: 1 }, 'has no "every"'],
    ['a list of arguments', { tool: 'a', cron: '* * * * *', arguments: [1] }, 'schedules.one.arguments must be a map'],
  ])('with %s is refused', async (_what, one, reason) => {
    const refused = createCrib({ config: { schedules: { one: one as never } }, store: 'memory' }); // as it may be written
    await expect(refused).rejects.toMatchObject({ code: 'invalid_config', message: expect.stringContaining(reason) });
  });

  it('is one of at most 1,000', async () => {
    const many = Array.from({ length: 1001 }, (_, index) => [`s${index}`, { tool: 'a', cron: '0 3 * * *' }]);
    const refused = createCrib({ config: { schedules: Object.fromEntries(many) }, store: 'memory' });
    await expect(refused).rejects.toThrow('schedules has 1001 entries; at most 1000 are allowed.');
  });
});

describe('a call that is refused when its time comes', () => {
  it.each<[string, CribOptions['config'], string, string]>([
    [
      'an unknown tool',
      { schedules: { one: { tool: 'tydy', cron: '0 * * * *' } } },
      'unknown_tool',
      'Did you mean "tidy"?',
    ],
    [
      'an unknown profile',
      { schedules: { one: { tool: 'tidy', profile: 'nowhere', cron: '0 * * * *' } } },
      'denied',
      'The profile "nowhere" was not found.',
    ],
    [
      'an unknown webhook',
      { schedules: { one: { tool: 'tidy', notify: 'chat', cron: '0 * * * *' } } },
      'invalid_input',
      'The webhook "chat" was not found in tasks.webhooks.',
    ],
  ])('because of %s is shown with its reason, and checked before', async (_what, config, code, reason) => {
    stillAt(START);
    const { crib, calls } = await openCrib({ config: config ?? {} });
    expect(await crib.schedules.list()).toMatchObject([{ problem: expect.stringContaining(reason) }]);
    expect((await crib.schedules.review()).problems).toEqual([expect.stringContaining(reason)]);
    await begin(crib);
    await moveTo(crib, START + HOUR / 2);
    const refused = { name: 'one', last: { error: { code } } };
    await vi.waitFor(async () => expect((await crib.schedules.list()).at(-1)).toMatchObject(refused));
    expect(await crib.tasks.list()).toEqual([]);
    expect(calls).toEqual([]);
  });

  it('because of its arguments is not made', async () => {
    stillAt(START);
    const { crib, calls } = await openCrib({
      config: { schedules: { one: { tool: 'tidy', arguments: { days: 'x' }, cron: '0 * * * *' } } },
    });
    await begin(crib);
    await moveTo(crib, START + HOUR / 2);
    const refused = { name: 'one', last: { error: { code: 'invalid_input' } } };
    await vi.waitFor(async () => expect((await crib.schedules.list()).at(-1)).toMatchObject(refused));
    expect(calls).toEqual([]);
  });
});

describe('a schedule that an operator adds', () => {
  it('is due at its time, without a look in between', async () => {
    const { crib, calls } = await openCrib({ config: {} });
    crib.server.runTasks();
    await crib.schedules.add({ name: 'soon', tool: 'tidy', at: Date.now() + 100 }, 'ann');
    await vi.waitFor(() => expect(calls).toHaveLength(1), { timeout: 5000 });
    expect((await crib.schedules.list())[0]).not.toHaveProperty('nextAt');
  });

  it('is called now on request', async () => {
    const { crib, calls } = await openCrib({ config: {} });
    await crib.schedules.add({ name: 'later', tool: 'tidy', cron: '0 3 * * *', roles: ['ops'] }, 'ann');
    crib.server.runTasks();
    const result = await crib.schedules.run('later');
    expect(result).toMatchObject({ status: 'waiting', waiting: { for: 'task' } });
    const id = result?.status === 'waiting' ? result.waiting.id : '';
    expect(await crib.tasks.wait(id)).toMatchObject({ status: 'done' });
    expect(calls).toMatchObject([{ caller: { id: 'schedule:later', roles: ['ops'] } }]);
    expect(await crib.tasks.get(id)).not.toHaveProperty('slot');
  });

  it('cannot take the caller of a key', async () => {
    const { crib } = await openCrib({ config: { access: { keys: true, roles: { dev: { profiles: '*' } } } } });
    const key = crib.keys.create({ name: 'x', caller: 'schedule:later', roles: ['dev'] }, 'ann');
    await expect(key).rejects.toThrow('caller "schedule:later" is reserved');
  });
});
