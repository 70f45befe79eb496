import { type AccessClause, uniteClauses } from './access-clause.ts';
import { canonicalJson, type JsonSchema } from './json.ts';
import type { Effects, ToolSpec } from './tool-spec.ts';

/** Modes of approval: never; if known to be destructive; if not known to be read-only; always. */
export const APPROVAL_MODES = ['never', 'dangerous', 'cautious', 'always'] as const;
export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** Approvers besides the operator, who always may: callers with a role, or the calling client itself. */
export type Approver = 'operator' | 'caller' | `role:${string}`;

/** Scopes: the calls that share one counter. */
export const SCOPES = ['all', 'caller', 'tool', 'profile', 'source'] as const;
export type Scope = (typeof SCOPES)[number];

/** At most `amount` calls per `perMs`. `of` names the layer that set it, so that each layer has its own counter. */
export interface Rate {
  readonly scope: Scope;
  readonly amount: number;
  readonly perMs: number;
  readonly of?: string;
}

/** Describes a rate (token bucket: each call takes a token, and tokens refill one by one). */
export function rateInWords({ scope, amount, perMs }: Rate): string {
  const [calls, each] = [amount === 1 ? 'one call' : `${amount} calls`, Math.ceil(perMs / amount)];
  const most =
    amount === 1 ? '' : `, so at most ${amount} in the first ${perMs} ms from rest and ${2 * amount - 1} in any`;
  return `${calls} at once (scope: ${scope}), then one each ${each} ms${most}`;
}

/** At most `amount` calls at the same time. */
export interface Slots {
  readonly scope: Scope;
  readonly amount: number;
  readonly of?: string;
}

/** Calls may cost at most `amount` per `perMs`, in the unit of the tools' prices. */
export interface Budget {
  readonly scope: Scope;
  readonly amount: number;
  readonly perMs: number;
  readonly of?: string;
}

/** A condition on the validated arguments; a call that does not meet it is denied or requires approval. */
export interface Rule {
  readonly when: JsonSchema;
  readonly otherwise: 'approve' | 'deny';
  readonly of?: string;
}

/** Limits: layers can only tighten them. */
export interface Limits {
  readonly approval?: ApprovalMode;
  readonly approvers?: readonly Approver[];
  readonly access?: readonly AccessClause[];
  readonly rates?: readonly Rate[];
  readonly concurrency?: readonly Slots[];
  /** Set by the profile whose rules select the tool. */
  readonly rules?: readonly Rule[];
  /** The cost of one call. */
  readonly price?: number;
  readonly budgets?: readonly Budget[];
  readonly maxTimeoutMs?: number;
  readonly maxResultBytes?: number;
}

/** Tuning: the nearest value wins, in the order call, tool, profile, default. */
export interface Tuning {
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly cacheMs?: number;
  /** Time to answer an approval request. */
  readonly approvalTimeoutMs?: number;
}

/** The limits and tuning of a tool. */
export interface Policy extends Limits, Tuning {}

export const LIMIT_KEYS = [
  'approval',
  'approvers',
  'access',
  'rates',
  'concurrency',
  'rules',
  'price',
  'budgets',
  'maxTimeoutMs',
  'maxResultBytes',
] as const satisfies readonly (keyof Limits)[];
export const TUNING_KEYS = [
  'timeoutMs',
  'retries',
  'cacheMs',
  'approvalTimeoutMs',
] as const satisfies readonly (keyof Tuning)[];

/** The numeric fields, with their minimum. */
export const LEAST_VALUES = {
  maxTimeoutMs: 1,
  maxResultBytes: 1,
  timeoutMs: 1,
  retries: 0,
  cacheMs: 0,
  approvalTimeoutMs: 1,
  price: 0,
} as const satisfies Partial<Record<keyof Policy, number>>;

/** Combines two policies: the stricter limits, and the tuning of the first. Idempotent, commutative and associative on limits. */
export function tightenPolicy(a: Policy, b: Policy): Policy {
  return pruned({
    approval: stricterApproval(a.approval, b.approval),
    approvers: both(a.approvers, b.approvers, (x, y) => sorted(x.filter((who) => y.includes(who)))),
    access: both(a.access, b.access, uniteClauses),
    rates: both(a.rates, b.rates, unite),
    concurrency: both(a.concurrency, b.concurrency, unite),
    rules: both(a.rules, b.rules, unite),
    price: both(a.price, b.price, Math.max),
    budgets: both(a.budgets, b.budgets, unite),
    maxTimeoutMs: both(a.maxTimeoutMs, b.maxTimeoutMs, Math.min),
    maxResultBytes: both(a.maxResultBytes, b.maxResultBytes, Math.min),
    timeoutMs: a.timeoutMs ?? b.timeoutMs,
    retries: a.retries ?? b.retries,
    cacheMs: a.cacheMs ?? b.cacheMs,
    approvalTimeoutMs: a.approvalTimeoutMs ?? b.approvalTimeoutMs,
  });
}

/** Fills the fields that `policy` does not set from `fallback`. */
export function withFallback(policy: Policy, fallback: Policy): Policy {
  return { ...fallback, ...policy };
}

/** Clamps tuning to the limits. */
export function clampTuning(policy: Policy): Policy {
  const { timeoutMs, maxTimeoutMs } = policy;
  if (maxTimeoutMs === undefined || (timeoutMs !== undefined && timeoutMs <= maxTimeoutMs)) return policy;
  return { ...policy, timeoutMs: maxTimeoutMs };
}

/** Marks the counted limits of a policy as set by `layer`. */
export function ownedBy(policy: Policy, layer: string): Policy {
  if (!isCounted(policy)) return policy;
  const mark = <T extends { readonly of?: string }>(limit: T): T => ({ ...limit, of: limit.of ?? layer });
  return pruned({
    ...policy,
    rates: policy.rates?.map(mark),
    concurrency: policy.concurrency?.map(mark),
    budgets: policy.budgets?.map(mark),
  });
}

/** True if the policy has limits that count calls. */
export function isCounted({ rates, concurrency, budgets }: Policy): boolean {
  return rates !== undefined || concurrency !== undefined || budgets !== undefined;
}

function stricterApproval(a: ApprovalMode | undefined, b: ApprovalMode | undefined): ApprovalMode | undefined {
  return both(a, b, (x, y) => (APPROVAL_MODES.indexOf(x) >= APPROVAL_MODES.indexOf(y) ? x : y));
}

function both<T>(a: T | undefined, b: T | undefined, join: (a: T, b: T) => T): T | undefined {
  // Joining a value with itself normalizes its order, so the result does not depend on the order of layers.
  if (a === undefined) return b === undefined ? undefined : join(b, b);
  return join(a, b ?? a);
}

function unite<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  const byText = new Map([...a, ...b].map((item) => [canonicalJson(item), item]));
  return sorted([...byText.keys()]).flatMap((text) => byText.get(text) ?? []);
}

function sorted<T extends string>(items: readonly T[]): readonly T[] {
  return [...new Set(items)].sort();
}

function pruned(policy: { readonly [Key in keyof Policy]: Policy[Key] | undefined }): Policy {
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined)); // drops only undefined
}

/** The specs for which `isKept` holds, in their order. */
export function keep(specs: readonly ToolSpec[], isKept: (spec: ToolSpec) => boolean): readonly ToolSpec[] {
  return specs.filter(isKept);
}

/** Renames specs. References among them in `requires` are renamed, too. */
export function rename(specs: readonly ToolSpec[], newName: (name: string) => string): readonly ToolSpec[] {
  const renamed = new Map(specs.map((spec) => [spec.name, newName(spec.name)]));
  return specs.map((spec) => {
    const name = renamed.get(spec.name) ?? spec.name;
    if (spec.requires === undefined) return { ...spec, name };
    return { ...spec, name, requires: spec.requires.map((required) => renamed.get(required) ?? required) };
  });
}

/** Prefixes names as `{word}_{name}`, unless a name already has the prefix. */
export function prefix(specs: readonly ToolSpec[], word: string): readonly ToolSpec[] {
  if (word === '') return specs;
  return rename(specs, (name) => (name.startsWith(`${word}_`) ? name : `${word}_${name}`));
}

/** Tightens the policy of specs. */
export function tighten(specs: readonly ToolSpec[], policy: Policy): readonly ToolSpec[] {
  return specs.map((spec) => ({ ...spec, policy: tightenPolicy(spec.policy, policy) }));
}

const NO_TAGS: readonly string[] = Object.freeze([]);

/** Reduces a spec of an untrusted source to claims that raise caution. */
export function distrust(spec: ToolSpec): ToolSpec {
  const { category: _category, priority: _priority, ...rest } = spec;
  const { approvers: _approvers, ...policy } = spec.policy;
  const limits = Object.fromEntries(
    Object.entries(policy).filter(([key]) => !TUNING_KEYS.some((tuning) => tuning === key)),
  );
  const effects = Object.freeze(cautiousEffects(spec.effects));
  return Object.freeze({ ...rest, tags: NO_TAGS, effects, policy: Object.freeze(limits) });
}

// "Read-only", "idempotent" and "closed world" lower caution, so an untrusted source cannot claim them.
function cautiousEffects(effects: Effects): Effects {
  return {
    ...(effects.readOnly === false && { readOnly: false }),
    ...(effects.destructive === true && { destructive: true }),
    ...(effects.idempotent === false && { idempotent: false }),
    ...(effects.openWorld === true && { openWorld: true }),
  };
}
