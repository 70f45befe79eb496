import type { OverrideConfig, SourceSettings } from '../../config/types/sources.ts';
import { defined } from '../../core/defined.ts';
import type { JsonObject } from '../../core/json.ts';
import { tightenPolicy } from '../../core/policy.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { compileGlob, listOf } from '../../core/text/names.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { readPolicy } from '../../define/read-policy.ts';
import { argumentsOf } from '../../schemas/schema-mentions.ts';
import { type Withholding, withhold } from '../../schemas/withhold.ts';

/** What the owner of a source corrects about its tools. */
export interface Overrides {
  /** The specs as the owner wants them. Throws for an argument that none of the tools meant has, or that cannot be withheld. */
  apply(specs: readonly ToolSpec[]): readonly ToolSpec[];
  /** The globs that mean none of these tools. */
  idle(specs: readonly ToolSpec[]): readonly string[];
}

interface Correction {
  readonly glob: string;
  readonly override: OverrideConfig;
  matches(name: string): boolean;
}

export function createOverrides(overrides: SourceSettings['overrides'] = {}): Overrides {
  const corrections = Object.entries(overrides).map(
    ([glob, override]): Correction => ({ glob, override, matches: compileGlob(glob) }),
  );
  const withholding = corrections.filter(({ override }) => namesOf(override).length > 0);
  return {
    apply(specs) {
      for (const correction of withholding) requireKnown(correction, specs);
      if (corrections.length === 0) return specs;
      return specs.map((spec) => {
        const fitting = corrections.filter(({ matches }) => matches(spec.name)).map(({ override }) => override);
        return withholdAll(fitting.reduce(correct, spec), fitting);
      });
    },
    idle: (specs) =>
      corrections.filter(({ matches }) => !specs.some(({ name }) => matches(name))).map(({ glob }) => glob),
  };
}

function namesOf({ fixedArguments = {}, hiddenArguments }: OverrideConfig): readonly string[] {
  return [...Object.keys(fixedArguments), ...listOf(hiddenArguments)];
}

/** An argument that no tool has is a typing mistake, and what was meant would stay open. */
function requireKnown({ glob, override, matches }: Correction, specs: readonly ToolSpec[]): void {
  const meant = specs.filter(({ name }) => matches(name));
  if (meant.length === 0) return;
  const known = new Set(meant.flatMap((spec) => [...knownTo(spec)]));
  const unknown = namesOf(override).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const [only, ...others] = meant;
  const who = others.length === 0 ? `the tool "${only?.name}" has no` : `none of the ${meant.length} tools has an`;
  throw new ToolcribError(
    'invalid_config',
    `overrides "${glob}": ${who} argument "${unknown}".${didYouMean(unknown, known)}`,
  );
}

function knownTo(spec: ToolSpec): ReadonlySet<string> {
  try {
    return argumentsOf(spec.input);
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    throw new ToolcribError(cause.code, `The arguments of tool "${spec.name}" cannot be withheld: ${cause.message}.`, {
      cause,
    });
  }
}

/** All of them at once, so that each is judged by the schema that the source gave. The later word wins. */
function withholdAll(spec: ToolSpec, fitting: readonly OverrideConfig[]): ToolSpec {
  const hidden = fitting.flatMap((override) => listOf(override.hiddenArguments));
  const fixed = Object.fromEntries(fitting.flatMap((override) => Object.entries(override.fixedArguments ?? {})));
  const wanted: Withholding = { hidden, fixed: fixed as JsonObject }; // a configuration is plain JSON
  return hidden.length === 0 && Object.keys(fixed).length === 0 ? spec : withhold(spec, wanted);
}

/** The owner corrects what a source says; limits of both hold. */
function correct(spec: ToolSpec, override: OverrideConfig): ToolSpec {
  const { title, description, effects, tags, category, policy } = override;
  return Object.freeze({
    ...spec,
    ...defined({ title, description, category }),
    ...(tags !== undefined && { tags: Object.freeze([...listOf(tags)]) }),
    ...(effects !== undefined && { effects: Object.freeze({ ...spec.effects, ...effects }) }),
    ...(policy !== undefined && { policy: Object.freeze(overridePolicy(spec, policy)) }),
  });
}

function overridePolicy(spec: ToolSpec, policy: NonNullable<OverrideConfig['policy']>): ToolSpec['policy'] {
  return tightenPolicy(readPolicy(policy, `the overrides of "${spec.name}"`), spec.policy);
}
