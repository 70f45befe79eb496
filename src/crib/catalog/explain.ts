import { type AccessClause, admits } from '../../core/access-clause.ts';
import type { Caller } from '../../core/caller.ts';
import type { Generation } from '../../core/catalog.ts';
import { canonicalJson } from '../../core/json.ts';
import { LIMIT_KEYS, type Policy, rateInWords, TUNING_KEYS } from '../../core/policy.ts';
import type { Profile } from '../../core/profile.ts';
import { describe, didYouMean } from '../../core/read-options.ts';
import { compileSelector, type Selector } from '../../core/selector.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { RUN, type ToolSpec, WITHHELD } from '../../core/tool-spec.ts';

/** Explains why a tool is visible to a caller or not, and where each of its limits comes from. For operators only, as it names hidden tools. */
export interface Explanation {
  readonly tool: string;
  readonly profile: string;
  readonly visible: boolean;
  /** The reasons in the order of the decision. */
  readonly reasons: readonly string[];
  readonly bundles: readonly string[];
  /** Arguments that `overrides` fix or hide; absent if there are none. */
  readonly withheld?: WithheldNames;
  /** Explains each rate limit of the policy; absent if there are none. */
  readonly rates?: readonly string[];
  /** The emergency stops that refuse its calls; absent if there are none. */
  readonly stops?: readonly string[];
  /** The effective policy; each value with the layers that set it. */
  readonly policy: Readonly<Record<string, { readonly value: unknown; readonly from: readonly string[] }>>;
}

/** Names of the arguments that are withheld from callers. */
export interface WithheldNames {
  readonly fixed: readonly string[];
  readonly hidden: readonly string[];
}

/** Names of the withheld arguments, for operators. Values are not included. */
export function withheldNames(spec: ToolSpec): WithheldNames | undefined {
  const withheld = spec[RUN][WITHHELD];
  return withheld && { fixed: withheld.fixed, hidden: withheld.hidden };
}

export function explain(generation: Generation, profile: Profile, caller: Caller, tool: string): Explanation {
  if (typeof tool !== 'string')
    throw new ToolcribError('invalid_option', `explain() needs the name of a tool, got ${describe(tool)}.`);
  if (/[\p{Cc}\p{Cs}]/u.test(tool))
    throw new ToolcribError('unknown_tool', `The tool ${describe(tool)} was not found.`);
  const spec = generation.catalog.get(tool);
  if (spec === undefined) return hidden(tool, profile, whyAbsent(generation, tool));
  const bundles = generation.bundles.of(tool).map((bundle) => bundle.name);
  const why = whyHidden(spec, profile, caller, bundles);
  const view = generation.viewFor(profile, caller);
  const held = view.get(tool)?.policy ?? spec.policy;
  const withheld = withheldNames(spec);
  return {
    tool,
    profile: profile.name,
    visible: view.has(tool),
    reasons: why ?? [whyIncluded(spec, profile, bundles)],
    bundles,
    ...(withheld !== undefined && { withheld }),
    ...(held.rates !== undefined && held.rates.length > 0 && { rates: held.rates.map(rateInWords) }),
    policy: explainPolicy(held, spec, profile, bundles, generation.policyDefaults),
  };
}

function hidden(tool: string, profile: Profile, reason: string): Explanation {
  return { tool, profile: profile.name, visible: false, reasons: [reason], bundles: [], policy: {} };
}

function whyAbsent(generation: Generation, tool: string): string {
  const reason = generation.leftOut.tools.get(tool);
  if (reason !== undefined) return `the tool is left out: ${reason}`;
  return `no source has a tool with this name.${didYouMean(
    tool,
    generation.catalog.specs.map((spec) => spec.name),
  )}`;
}

function whyIncluded(spec: ToolSpec, profile: Profile, bundles: readonly string[]): string {
  if (profile.include === undefined) return 'the profile includes all tools';
  return `included by ${firstMatch(profile.include, spec, bundles)}`;
}

function whyHidden(
  spec: ToolSpec,
  profile: Profile,
  caller: Caller,
  bundles: readonly string[],
): readonly string[] | undefined {
  if (profile.include !== undefined && firstMatch(profile.include, spec, bundles) === undefined)
    return ['no include selector matches the tool'];
  const excluded = firstMatch(profile.exclude ?? [], spec, bundles);
  if (excluded !== undefined) return [`excluded by ${excluded}`];
  const clauses = [...(spec.policy.access ?? []), ...(profile.policy?.access ?? [])];
  const unmet = clauses.filter((clause) => !admits(clause, caller));
  return unmet.length === 0 ? undefined : unmet.map((clause) => `the caller does not meet ${inWords(clause)}`);
}

function firstMatch(selectors: readonly Selector[], spec: ToolSpec, bundles: readonly string[]): string | undefined {
  const found = selectors.find((selector) => compileSelector(selector)(spec, bundles));
  return found === undefined ? undefined : JSON.stringify(found);
}

function inWords(clause: AccessClause): string {
  return canonicalJson(clause);
}

function explainPolicy(
  held: Policy,
  spec: ToolSpec,
  profile: Profile,
  bundles: readonly string[],
  defaults: Policy,
): Explanation['policy'] {
  const mustAsk = firstMatch(profile.approve ?? [], spec, bundles);
  const layers: readonly (readonly [string, Policy])[] = [
    ['tool', spec.policy],
    [`profile ${profile.name}`, profile.policy ?? {}],
    ...(mustAsk === undefined
      ? []
      : [[`profile ${profile.name}: approve ${mustAsk}`, { approval: 'always' }] as const]),
    ...(profile.rules === undefined
      ? []
      : [
          [
            `profile ${profile.name}: rules`,
            { rules: profile.rules.map(({ when, otherwise }) => ({ when, otherwise })) },
          ] as const,
        ]),
    ['default', defaults],
  ];
  const rows = [...LIMIT_KEYS, ...TUNING_KEYS].flatMap((key) => {
    const value = held[key];
    if (value === undefined) return [];
    const from = layers.filter(([, policy]) => contributes(policy[key], value)).map(([layer]) => layer);
    return [[key, { value, from: from.length > 0 ? from : ['clamped by maxTimeoutMs'] }] as const];
  });
  return Object.fromEntries(rows);
}

// A list combines values of several layers; a single value comes from the layers with exactly this value.
function contributes(said: unknown, value: unknown): boolean {
  if (said === undefined) return false;
  if (Array.isArray(said) && Array.isArray(value)) {
    const texts = value.map((item) => canonicalJson(withoutOwner(item)));
    return said.some((item) => texts.includes(canonicalJson(withoutOwner(item))));
  }
  return said === value;
}

function withoutOwner(item: unknown): unknown {
  if (typeof item !== 'object' || item === null || !('of' in item)) return item;
  const { of: _of, ...rest } = item;
  return rest;
}
