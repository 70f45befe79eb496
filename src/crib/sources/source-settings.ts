import { hash } from 'node:crypto';
import type { OverrideConfig, SourceSettings } from '../../config/types/sources.ts';
import { canonicalJson, frozenCopy, type JsonObject } from '../../core/json.ts';
import { prefix, rename, tightenPolicy } from '../../core/policy.ts';
import { defined, didYouMean } from '../../core/read-options.ts';
import type { Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { createRun, isToolName, RUN, type ToolSpec, toToolName } from '../../core/tool-spec.ts';
import { compileGlob, listOf } from '../../core/visible-text.ts';
import { readPolicy } from '../../define/read-policy.ts';
import { argumentsOf } from '../../schemas/schema-mentions.ts';
import { type Withholding, withhold } from '../../schemas/withhold.ts';
import type { SourceConfig } from '../config/loaded-config.ts';
import { recordOf, settingsOfSources } from '../config/source-schema.ts';

/** Applies the settings of the configuration to a source. */
export function withSettings(source: Source, settings: SourceSettings): Source {
  const { bundle = source.bundle, trust = source.trust } = settings;
  const kinds = settings.kinds === undefined ? source.kinds : listOf(settings.kinds);
  const overrides = createOverrides(settings.overrides);
  return {
    ...source,
    ...defined({ bundle, trust, kinds, onChange: settings.onChange }),
    adjust(specs) {
      const corrected = overrides.apply(nameSpecs(source.adjust?.(specs) ?? specs, settings));
      const { settings: defaults } = settings;
      return defaults === undefined ? corrected : corrected.map((spec) => withDefaults(spec, defaults));
    },
    problems: (specs, excluded) => [
      ...overrides.idle(specs).map((glob) => `The overrides "${glob}" of source "${source.name}" match no tool.`),
      ...idleChoices(settings, [...specs.map(({ origin }) => origin), ...excluded]).map(
        ([key, glob]) => `Source "${source.name}": ${key} "${glob}" matches no tool.`,
      ),
    ],
  };
}

/** Globs of include and exclude that match no tool: a tool that should be left out may be listed. `*` is never reported. */
function idleChoices(settings: SourceSettings, names: readonly string[]): readonly (readonly [string, string])[] {
  return (['include', 'exclude'] as const).flatMap((key) => {
    const globs = listOf(settings[key]).filter((glob) => glob !== '*' && !names.some(compileGlob(glob)));
    return globs.map((glob) => [key, glob] as const);
  });
}

/** A hash of the part of an entry that defines its connection: everything except settings of its tools. */
export function connectionText(entry: SourceConfig, more: unknown): string {
  const rest = Object.entries(entry).filter(([key]) => !isSetting(key, entry));
  return hash('sha256', canonicalJson([Object.fromEntries(rest), more])); // hashed, since it may contain a credential
}

/** True for a setting that does not affect the connection. `include` and `exclude` do if the source applies them itself. */
function isSetting(key: string, entry: SourceConfig): boolean {
  const isChoice = key === 'include' || key === 'exclude';
  return Object.hasOwn(settingsOfSources, key) && !(isChoice && recordOf(entry).choosesItself === true);
}

function nameSpecs(specs: readonly ToolSpec[], settings: SourceSettings): readonly ToolSpec[] {
  const kept = specs.filter(isKept(settings));
  return settings.prefix === undefined ? kept : safeNames(prefix(kept.map(asOrigin), settings.prefix));
}

/** The spec under its original name, so that a long name is shortened only once. */
function asOrigin(spec: ToolSpec): ToolSpec {
  return spec.name === spec.origin ? spec : { ...spec, name: spec.origin };
}

function isKept({ include, exclude }: SourceSettings): (spec: ToolSpec) => boolean {
  const included = include === undefined ? [() => true] : listOf(include).map(compileGlob);
  const excluded = listOf(exclude).map(compileGlob);
  return ({ origin }) => included.some((matches) => matches(origin)) && !excluded.some((matches) => matches(origin));
}

function safeNames(specs: readonly ToolSpec[]): readonly ToolSpec[] {
  if (specs.every((spec) => isToolName(spec.name))) return specs;
  return rename(specs, (name) => (isToolName(name) ? name : toToolName(name, (text) => hash('sha256', text))));
}

function withDefaults(spec: ToolSpec, settings: Readonly<Record<string, unknown>>): ToolSpec {
  return Object.freeze({ ...spec, [RUN]: createRun({ ...spec[RUN], settings }) });
}

/** The operator's corrections of the tools of a source. */
interface Overrides {
  /** Applies the corrections. Throws for an argument that no matching tool has, or that cannot be withheld. */
  apply(specs: readonly ToolSpec[]): readonly ToolSpec[];
  /** Globs that match no tool. `*` is never reported. */
  idle(specs: readonly ToolSpec[]): readonly string[];
}

interface Correction {
  readonly glob: string;
  readonly override: OverrideConfig;
  matches(name: string): boolean;
}

function createOverrides(overrides: SourceSettings['overrides'] = {}): Overrides {
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
      corrections
        .filter(({ glob, matches }) => glob !== '*' && !specs.some(({ name }) => matches(name)))
        .map(({ glob }) => glob),
  };
}

function namesOf({ fixedArguments = {}, hiddenArguments }: OverrideConfig): readonly string[] {
  return [...Object.keys(fixedArguments), ...listOf(hiddenArguments)];
}

/** Throws for an unknown argument: it is a misspelling, and the intended argument would stay visible. */
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

/** Withholds all arguments at once, so that each is checked against the original schema. Later overrides win. */
function withholdAll(spec: ToolSpec, fitting: readonly OverrideConfig[]): ToolSpec {
  const hidden = fitting.flatMap((override) => listOf(override.hiddenArguments));
  const fixed = Object.fromEntries(fitting.flatMap((override) => Object.entries(override.fixedArguments ?? {})));
  const wanted: Withholding = { hidden, fixed: fixed as JsonObject }; // from the configuration, so plain JSON
  return hidden.length === 0 && Object.keys(fixed).length === 0 ? spec : withhold(spec, wanted);
}

/** Applies one override. Limits of the source and the override both apply. */
function correct(spec: ToolSpec, override: OverrideConfig): ToolSpec {
  const { title, description, effects, tags, category, policy, priority, requires, meta } = override;
  return Object.freeze({
    ...spec,
    ...defined({ title, description, category, priority }),
    ...(requires !== undefined && { requires: Object.freeze([...listOf(requires)]) }),
    ...(meta !== undefined && { meta: frozenMeta({ ...spec.meta, ...meta }) }),
    ...(tags !== undefined && { tags: Object.freeze([...listOf(tags)]) }),
    ...(effects !== undefined && { effects: Object.freeze({ ...spec.effects, ...effects }) }),
    ...(policy !== undefined && { policy: Object.freeze(overridePolicy(spec, policy)) }),
  });
}

/** Both parts are plain JSON already. */
function frozenMeta(meta: Readonly<Record<string, unknown>>): NonNullable<ToolSpec['meta']> {
  return frozenCopy(meta) as JsonObject;
}

function overridePolicy(spec: ToolSpec, policy: NonNullable<OverrideConfig['policy']>): ToolSpec['policy'] {
  return tightenPolicy(readPolicy(policy, `the overrides of "${spec.name}"`), spec.policy);
}
