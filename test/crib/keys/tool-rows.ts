import { ALICE, BOB, calls, listed, type Row, type Show, tool, type Written } from './rows.ts';

const HOUR = 3_600_000;
const LONG = 1_000_000_000_000;

/** Two tools of the same name that differ in one key. */
function spec(key: string, before: Written, after: Written, show: Show = listed): Row {
  return { key: `tools(run).${key}`, before: { tools: [tool(before)] }, after: { tools: [tool(after)] }, show };
}

/** Two tools that differ in a shared part. */
function part(key: string, [before, after]: readonly [Written, Written], show: Show, name = 'echo'): Row {
  return { key, before: { tools: [tool(before, name)] }, after: { tools: [tool(after, name)] }, show };
}

/** Two policies of the tool `name`. */
function policy(key: string, [before, after]: readonly [Written, Written], show: Show, more: Written = {}): Row {
  const { name = 'echo', ...rest } = more;
  const sides = [
    { ...rest, policy: before },
    { ...rest, policy: after },
  ] as const;
  return part(`policy.${key}`, sides, show, String(name));
}

const SCHEMA = { type: 'object', properties: { a: { type: 'number' } } };

const specs: readonly Row[] = [
  spec('name', {}, { name: 'say' }),
  spec('title', {}, { title: 'Say it' }),
  spec('description', {}, { description: 'Repeats' }),
  spec('input', {}, { input: SCHEMA }, calls('echo', [ALICE, { a: 'no number' }])),
  spec('output', {}, { output: { type: 'string' } }, calls('echo')),
  spec('run.kind', { run: { kind: 'shell', command: ['true'] } }, { run: { kind: 'nothing', command: ['true'] } }),
  spec('effects', {}, { effects: { readOnly: true } }),
  spec('policy', {}, { policy: { approval: 'always' } }, calls('echo')),
  spec('category', {}, { category: 'talk' }),
  spec('tags', {}, { tags: ['talk'] }),
  spec('version', {}, { version: '2' }),
  spec('instructions', {}, { instructions: 'Say it once.' }),
  { ...spec('requires', {}, { requires: 'counted' }), ...requiring() },
  { ...spec('priority', {}, { priority: 5 }), ...ordered() },
  spec('examples.request', { examples: [{ input: {} }] }, { examples: [{ request: 'say hello', input: {} }] }),
  spec('examples.input', { examples: [{ request: 'a' }] }, { examples: [{ request: 'a', input: { b: 1 } }] }),
  spec('when', {}, { when: { env: 'NO_SUCH_VARIABLE' } }, calls('echo')),
  spec('meta', {}, { meta: { colour: 'red' } }),
  spec('needs', {}, { needs: 'setting:calendar' }, calls('echo')),
  {
    key: 'tools(tool_type).name',
    before: { tools: [older('old')] },
    after: { tools: [older('older')] },
    show: listed,
  },
];

function requiring(): Pick<Row, 'before' | 'after' | 'show'> {
  const others = [tool({}, 'counted')];
  return {
    before: { tools: [tool(), ...others] },
    after: { tools: [tool({ requires: 'counted' }), ...others] },
    show: async ({ crib }) => crib.bundles.expand(['echo']),
  };
}

function ordered(): Pick<Row, 'before' | 'after' | 'show'> {
  const bundles = { all: { include: '*' } };
  return {
    before: { tools: [tool({}, 'counted'), tool()], bundles },
    after: { tools: [tool({}, 'counted'), tool({ priority: 5 })], bundles },
    show: async ({ crib }) => [crib.catalog.specs.map(({ name }) => name), crib.bundles.get('all')],
  };
}

function older(name: string): Written {
  return { name, tool_type: 'task', input_schema: { type: 'object' }, implementation_config: { task: 'echo' } };
}

const cautious: Written = { extensions: { approval: { mode: 'cautious' } } };
const effects: readonly Row[] = [
  {
    ...part(
      'effects.readOnly',
      [{ effects: { openWorld: true } }, { effects: { openWorld: true, readOnly: true } }],
      calls('echo'),
    ),
  },
  part(
    'effects.destructive',
    [{ effects: { openWorld: true } }, { effects: { openWorld: true, destructive: true } }],
    calls('echo'),
  ),
  part(
    'effects.idempotent',
    [{ effects: { openWorld: true } }, { effects: { openWorld: true, idempotent: true } }],
    calls('flaky'),
    'flaky',
  ),
  part(
    'effects.openWorld',
    [{ effects: { readOnly: true } }, { effects: { readOnly: true, openWorld: true } }],
    listed,
  ),
].map((row) =>
  row.key === 'effects.readOnly'
    ? { ...row, before: { ...row.before, ...cautious }, after: { ...row.after, ...cautious } }
    : row,
);

const when: readonly Row[] = [
  part('when.env', [{ when: {} }, { when: { env: 'NO_SUCH_VARIABLE' } }], calls('echo')),
  part('when.platform', [{ when: {} }, { when: { platform: 'aix' } }], calls('echo')),
  part('when.service', [{ when: {} }, { when: { service: 'nobody' } }], calls('echo')),
];

const access = (clause: Written): Written => ({ access: clause });
const clock = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString().slice(11, 16);
const around = { from: clock(-1), to: clock(1) };
const today = new Date().getUTCDay();
const otherDay = ((today + 3) % 7) + 1;

/** True if bob may approve a call of alice. */
const answeredByBob: Show = async ({ crib }) => {
  const chest = await crib.open(undefined, ALICE);
  const result = await chest.call('echo', {}, { park: true });
  if (result.status !== 'waiting') return result.status;
  const answer = await crib.approvals.answer(result.waiting.id, { decision: 'approve' }, BOB);
  return answer.ok ? answer.approval.state : answer.error.code;
};

/** The timeout of an approval request. */
const timeToAnswer: Show = async ({ crib }) => {
  await (await crib.open(undefined, ALICE)).call('echo', {}, { park: true });
  return (await crib.approvals.list()).map(({ createdAt, expiresAt }) => expiresAt - createdAt);
};

/** The results of three concurrent calls. */
export const atOnce: Show = async ({ crib }) => {
  const chests = await Promise.all([ALICE, ALICE, BOB].map((caller) => crib.open(undefined, caller)));
  const results = await Promise.all(chests.map((chest) => chest.call('together')));
  return results.map((result) => result.ok && result.data);
};

const LIMITED = { name: 'together' };
const ONE = { scope: 'all', amount: 1 };
const policies: readonly Row[] = [
  policy('approval', [{}, { approval: 'always' }], calls('echo')),
  policy('approvers', [{ approval: 'always' }, { approval: 'always', approvers: 'role:ops' }], answeredByBob),
  policy('access.roles', [access({ users: ['bob'] }), access({ users: ['bob'], roles: ['dev'] })], calls('echo')),
  policy('access.users', [access({ roles: ['dev'] }), access({ roles: ['dev'], users: ['bob'] })], calls('echo')),
  policy('access.permissions', [access({}), access({ permissions: ['pay'] })], calls('echo')),
  policy(
    'access.hours.from',
    [access({ hours: around }), access({ hours: { ...around, from: clock(0.5) } })],
    calls('echo'),
  ),
  policy(
    'access.hours.to',
    [access({ hours: around }), access({ hours: { ...around, to: clock(-0.5) } })],
    calls('echo'),
  ),
  policy(
    'access.hours.timeZone',
    [access({ hours: around }), access({ hours: { ...around, timeZone: 'Asia/Tokyo' } })],
    calls('echo'),
  ),
  policy(
    'access.hours.days',
    [access({ hours: around }), access({ hours: { ...around, days: [otherDay] } })],
    calls('echo'),
  ),
  policy('access.deny.roles', [access({ deny: {} }), access({ deny: { roles: ['ops'] } })], calls('echo')),
  policy('access.deny.users', [access({ deny: {} }), access({ deny: { users: ['alice'] } })], calls('echo')),
  policy(
    'rates.scope',
    [{ rates: [{ ...ONE, perMs: LONG }] }, { rates: [{ ...ONE, scope: 'caller', perMs: LONG }] }],
    calls('echo'),
  ),
  policy(
    'rates.amount',
    [{ rates: [{ ...ONE, perMs: LONG }] }, { rates: [{ ...ONE, amount: 2, perMs: LONG }] }],
    calls('echo'),
  ),
  policy(
    'rates.perMs',
    [{ rates: [{ ...ONE, perMs: LONG }] }, { rates: [{ ...ONE, perMs: 600_000 }] }],
    retryAfter('echo'),
  ),
  policy(
    'concurrency.scope',
    [{ concurrency: [ONE] }, { concurrency: [{ ...ONE, scope: 'caller' }] }],
    atOnce,
    LIMITED,
  ),
  policy('concurrency.amount', [{ concurrency: [ONE] }, { concurrency: [{ ...ONE, amount: 2 }] }], atOnce, LIMITED),
  policy('maxTimeoutMs', [{}, { maxTimeoutMs: 5 }], calls('late'), { name: 'late' }),
  policy('maxResultBytes', [{}, { maxResultBytes: 2000 }], calls('large'), { name: 'large' }),
  policy('timeoutMs', [{}, { timeoutMs: 5 }], calls('late'), { name: 'late' }),
  policy('retries', [{}, { retries: 0 }], calls('flaky'), { name: 'flaky', effects: { idempotent: true } }),
  policy('cacheMs', [{}, { cacheMs: LONG }], calls('counted'), { name: 'counted', effects: { readOnly: true } }),
  policy('approvalTimeoutMs', [{ approval: 'always' }, { approval: 'always', approvalTimeoutMs: 5000 }], timeToAnswer),
  policy(
    'price',
    [{ budgets: [{ ...ONE, perMs: LONG }] }, { budgets: [{ ...ONE, perMs: LONG }], price: 1 }],
    calls('echo'),
  ),
  policy('budgets.scope', budgets({ scope: 'caller' }), calls('echo')),
  policy('budgets.amount', budgets({ amount: 2 }), calls('echo')),
  policy('budgets.perMs', budgets({ perMs: 5 * LONG }), calls('echo')),
];

function budgets(more: Written): readonly [Written, Written] {
  const budget = { ...ONE, perMs: LONG };
  return [
    { price: 1, budgets: [budget] },
    { price: 1, budgets: [{ ...budget, ...more }] },
  ];
}

/** True if the second call may be retried within the hour. */
export function retryAfter(name: string): Show {
  return async ({ crib }) => {
    const chest = await crib.open(undefined, ALICE);
    await chest.call(name);
    const result = await chest.call(name);
    return result.status === 'failed' ? Number(result.error.retryAfterMs) < HOUR : result.status;
  };
}

export const toolRows = [...specs, ...effects, ...when, ...policies];
