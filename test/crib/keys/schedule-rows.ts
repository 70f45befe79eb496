import { outcomeOf, type Row, type Show, tool, type Written } from './rows.ts';

const NIGHTLY = { tool: 'echo', cron: '0 3 1 1 *' };

const scheduling = (one: Written) => ({
  tools: [tool(), tool({}, 'counted')],
  profiles: { a: {}, b: {} },
  defaultProfile: 'a',
  schedules: { one },
});

/** The task that the schedule submits. */
const submitted: Show = async ({ crib }) => {
  const result = await crib.schedules.run('one');
  if (result === undefined || result.status !== 'waiting') return result && outcomeOf(result);
  const task = await crib.tasks.get(result.waiting.id);
  if (task === undefined) return 'gone';
  const { id: _id, createdAt, runAt: _runAt, expiresAt, ...rest } = task;
  return { ...rest, hours: Math.round((expiresAt - createdAt) / 3_600_000) };
};

const listed: Show = ({ crib }) => crib.schedules.list();

function row(key: string, more: Written, show: Show = submitted): Row {
  return { key: `schedules.*.${key}`, before: scheduling(NIGHTLY), after: scheduling({ ...NIGHTLY, ...more }), show };
}

export const scheduleRows: readonly Row[] = [
  row('tool', { tool: 'counted' }),
  row('arguments', { arguments: { a: 1 } }),
  row('profile', { profile: 'b' }),
  row('roles', { roles: ['ops'] }),
  row('priority', { priority: 7 }),
  row('expiresMs', { expiresMs: 3_600_000 }),
  row('notify', { notify: 'nowhere' }),
  row('cron', { cron: '0 4 1 1 *' }, listed),
  row('timeZone', { timeZone: 'Asia/Tokyo' }, listed),
  row('missed', { missed: 'once' }, listed),
  {
    key: 'schedules.*.at',
    before: scheduling({ tool: 'echo', at: '2999-01-01T00:00' }),
    after: scheduling({ tool: 'echo', at: '2999-01-02T00:00' }),
    show: listed,
  },
];
