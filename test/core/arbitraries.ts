import fc from 'fast-check';
import type { AccessClause } from '../../src/core/access-clause.ts';
import type { Caller } from '../../src/core/caller.ts';
import { APPROVAL_MODES, type Approver, type Limits, type Policy, SCOPES } from '../../src/core/policy.ts';
import type { LiveSource, Source } from '../../src/core/source.ts';
import { createRun, RUN, type ToolSpec } from '../../src/core/tool-spec.ts';

/** A spec as a source would list it. */
export function specOf(name: string, changes: Partial<ToolSpec> = {}): ToolSpec {
  return {
    name,
    description: `What ${name} does`,
    input: { type: 'object' },
    effects: {},
    policy: {},
    tags: [],
    source: 'code',
    origin: name,
    [RUN]: createRun({ kind: 'function', run: () => name }),
    ...changes,
  };
}

/** A source that lists these specs and no others. */
export function sourceOf(name: string, specs: readonly ToolSpec[]): Source {
  const live: LiveSource = {
    specs: () => specs,
    onChange: () => () => {},
    status: () => ({ state: 'ready' }),
    close: async () => {},
  };
  return { name, start: async () => live };
}

/** Few names, so that lists clash often. */
const NAMES = ['alpha', 'beta', 'gamma', 'w_alpha', 'w_delta', 'wide'] as const;
const toolName = fc.constantFrom<string>(...NAMES);

/** Specs of distinct names that require each other and tools that are elsewhere. */
export const distinctSpecs: fc.Arbitrary<readonly ToolSpec[]> = fc.uniqueArray(
  fc
    .record({ name: toolName, requires: fc.option(fc.array(fc.constantFrom(...NAMES, 'elsewhere'))) })
    .map(({ name, requires }) => specOf(name, requires === null ? {} : { requires })),
  { selector: (spec) => spec.name },
);

/** Lists of several sources in configuration order; a name may stand in many, and twice in one. */
export const sourceLists = fc.array(fc.array(toolName, { maxLength: 5 }), { maxLength: 5 }).map((lists) =>
  lists.map((list, index) => ({
    source: `source${index}`,
    specs: list.map((name) => specOf(name, { source: `source${index}` })),
  })),
);

const roleNames = fc.uniqueArray(fc.constantFrom('dev', 'ops', 'intern'), { maxLength: 3 });
const userNames = fc.uniqueArray(fc.constantFrom('alice', 'bob', 'carol'), { maxLength: 3 });
const permissionNames = fc.uniqueArray(fc.constantFrom('read', 'write'), { maxLength: 2 });

export const caller: fc.Arbitrary<Caller> = fc.record(
  { id: fc.constantFrom('alice', 'bob', 'carol'), roles: roleNames, permissions: permissionNames },
  { requiredKeys: [] },
);

export const accessClause: fc.Arbitrary<AccessClause> = fc.record(
  {
    roles: roleNames,
    users: userNames,
    permissions: permissionNames,
    deny: fc.record({ roles: roleNames, users: userNames }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

const amount = fc.integer({ min: 1, max: 5 });
const scope = fc.constantFrom(...SCOPES);
const approver = fc.constantFrom<Approver>('operator', 'caller', 'role:lead', 'role:owner');

export const limits: fc.Arbitrary<Limits> = fc.record(
  {
    approval: fc.constantFrom(...APPROVAL_MODES),
    approvers: fc.array(approver, { maxLength: 4 }),
    access: fc.array(accessClause, { maxLength: 3 }),
    rates: fc.array(fc.record({ scope, amount, perMs: fc.constantFrom(1000, 60_000) }), { maxLength: 3 }),
    concurrency: fc.array(fc.record({ scope, amount }), { maxLength: 3 }),
    maxTimeoutMs: fc.integer({ min: 1, max: 9 }),
    maxResultBytes: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: [] },
);

export const policy: fc.Arbitrary<Policy> = fc
  .tuple(limits, fc.record({ timeoutMs: amount, retries: amount, cacheMs: amount }, { requiredKeys: [] }))
  .map(([limit, tuning]) => ({ ...limit, ...tuning }));
