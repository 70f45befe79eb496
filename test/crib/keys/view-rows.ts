import { ALICE, calls, listed, type Row, type Show, tool, type Written } from './rows.ts';

const TOOLS = [tool({ tags: ['talk'] }), tool({}, 'counted')];

/** The tools that the default profile lists and can call. */
const opened: Show = async (place) => {
  const chest = await place.crib.open(undefined, ALICE);
  return [
    chest.profile,
    chest.list().map(({ name }) => name),
    await calls('echo', [ALICE, { a: 1 }], [ALICE, { a: 2 }])(place),
    place.crib.explain(ALICE, undefined, 'echo'),
  ];
};

const found: Show = async ({ crib }) =>
  (await (await crib.open(undefined, ALICE)).search('an echo that is counted')).map(({ name, why }) => [name, why]);

function profile(key: string, before: Written, after: Written, more: Written = {}): Row {
  const side = (one: Written) => ({ tools: TOOLS, profiles: { default: one }, ...more });
  return { key: `profiles.*.${key}`, before: side(before), after: side(after), show: opened };
}

const RULE = { tools: 'echo', when: { properties: { a: { const: 1 } } }, otherwise: 'deny' };
const rules = (more: Written) => ({ rules: [{ ...RULE, ...more }] });
const TALK = { bundles: { talk: { include: 'echo' }, count: { include: 'counted' } } };

const profiles: readonly Row[] = [
  profile('include', {}, { include: 'counted' }),
  profile('exclude', {}, { exclude: 'tag:talk' }),
  profile('essential', { active: [] }, { active: [], essential: 'talk' }, TALK),
  profile('active', {}, { active: 'count' }, TALK),
  profile('expose', {}, { expose: 'search' }),
  { ...profile('search.pin', { search: {} }, { search: { pin: 'counted' } }), show: found },
  { ...profile('search.boost', { search: {} }, { search: { boost: 'counted' } }), show: found },
  { ...profile('search.bury', { search: {} }, { search: { bury: 'counted' } }), show: found },
  profile('approve', {}, { approve: 'echo' }),
  profile('policy', {}, { policy: { rates: [{ scope: 'all', amount: 1, perMs: 1e12 }] } }),
  profile('rules.tools', rules({}), rules({ tools: 'counted' })),
  profile('rules.when', rules({}), rules({ when: { properties: { a: { const: 2 } } } })),
  profile('rules.otherwise', rules({}), rules({ otherwise: 'approve' })),
  profile('settings', {}, { settings: { calendar: 'work' } }),
  { ...profile('delegate', {}, { delegate: { default: 'open' } }), show: listed },
  {
    key: 'profiles.*.description',
    before: { tools: TOOLS, profiles: { default: { delegate: { other: 'open' } }, other: {} } },
    after: { tools: TOOLS, profiles: { default: { delegate: { other: 'open' } }, other: { description: 'Talks' } } },
    show: async ({ crib }) => (await crib.open(undefined, ALICE)).list().map(({ description }) => description),
  },
  {
    key: 'defaultProfile',
    before: { tools: TOOLS, profiles: { one: {}, two: { include: 'echo' } } },
    after: { tools: TOOLS, profiles: { one: {}, two: { include: 'echo' } }, defaultProfile: 'two' },
    show: opened,
  },
];

/** The tools of bundles, the order of their setups, and their instructions. */
const bundled: Show = async (place) => {
  const { crib } = place;
  const chest = await crib.open(undefined, ALICE);
  const names = crib.bundles.names();
  return [
    names.map((name) => [crib.bundles.get(name), crib.bundles.info(name)]),
    chest.list().map(({ name }) => name),
    chest.instructions(),
    chest.activate === undefined ? [] : (await chest.activate(['talk'])).ok,
    chest.active(),
  ];
};

function bundle(key: string, before: Written, after: Written, more: Written = {}): Row {
  const side = (talk: Written) => ({ tools: TOOLS, bundles: { count: { include: 'counted' }, talk }, ...more });
  return { key: `bundles.*.${key}`, before: side(before), after: side(after), show: bundled };
}

const ALL = { include: 'echo' };
const ASLEEP = { profiles: { default: { active: [] } } };
const bundles: readonly Row[] = [
  bundle('description', ALL, { ...ALL, description: 'Talking' }),
  bundle('include', {}, ALL),
  bundle('instructions', ALL, { ...ALL, instructions: 'Talk little.' }),
  bundle('requires', ALL, { ...ALL, requires: 'count' }, ASLEEP),
  bundle('extends', ALL, { ...ALL, extends: 'count' }),
  bundle('when', ALL, { ...ALL, when: { env: 'NO_SUCH_VARIABLE' } }),
  bundle('priority', ALL, { ...ALL, priority: 9 }),
  bundle('meta', ALL, { ...ALL, meta: { colour: 'red' } }),
];

const SERVICE = { tools: [tool({ needs: 'clock' })] };
const roots: readonly Row[] = [
  {
    key: 'services',
    before: SERVICE,
    after: { ...SERVICE, services: { clock: './service.mjs' } },
    files: { 'service.mjs': 'export default { now: () => 1 };' },
    show: calls('echo'),
  },
  {
    key: 'onDuplicate',
    before: { sources: { one: { files: './one.json' }, two: { http: 'SERVER/specs', kinds: 'task' } } },
    after: {
      sources: { one: { files: './one.json' }, two: { http: 'SERVER/specs', kinds: 'task' } },
      onDuplicate: 'error',
    },
    files: { 'one.json': JSON.stringify({ tools: [tool()] }) },
    show: async ({ crib }) => crib.sources().map(({ name, state, toolCount }) => [name, state, toolCount]),
  },
];

function row(key: string, [before, after]: readonly [Written, Written], show: Show, more: Partial<Row> = {}): Row {
  return { key, before, after, show, ...more };
}

const OVERRIDDEN = {
  name: 'echo',
  description: 'Says it',
  input: { type: 'object', properties: { a: { type: 'number', default: 1 } } },
  run: { kind: 'task', task: 'echo' },
};
const overridden = (override: Written) => ({
  sources: { list: { files: './list.json', overrides: { echo: override } } },
});
const list = { files: { 'list.json': JSON.stringify({ tools: [OVERRIDDEN] }) } };
const overrides: readonly Row[] = Object.entries({
  title: 'Other',
  description: 'Other',
  effects: { readOnly: true },
  tags: 'talk',
  category: 'talk',
  policy: { approval: 'always' },
  priority: 7,
  requires: 'echo',
  meta: { author: 'Ada' },
}).map(([name, value]) => row(`overrides.*.${name}`, [overridden({}), overridden({ [name]: value })], listed, list));
const withheld: readonly Row[] = [
  row(
    'overrides.*.hiddenArguments',
    [overridden({}), overridden({ hiddenArguments: 'a' })],
    calls('echo', [ALICE, { a: 7 }]),
    list,
  ),
  row(
    'overrides.*.fixedArguments',
    [overridden({}), overridden({ fixedArguments: { a: 9 } })],
    calls('echo', [ALICE]),
    list,
  ),
];

export const viewRows = [...profiles, ...bundles, ...roots, ...overrides, ...withheld];
