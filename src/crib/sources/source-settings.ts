import { hash } from 'node:crypto';
import type { SourceSettings } from '../../config/types/sources.ts';
import { prefix, rename } from '../../core/algebra.ts';
import { defined } from '../../core/defined.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Source } from '../../core/source.ts';
import { compileGlob, listOf } from '../../core/text/names.ts';
import { createRun, isToolName, RUN, type ToolSpec, toToolName } from '../../core/tool-spec.ts';
import type { SourceConfig } from '../config/loaded-config.ts';
import { recordOf, settingsOfSources } from '../config/source-schema.ts';
import { createOverrides } from './overrides.ts';

/** A source under what its owner says about it. */
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
    problems: (specs) =>
      overrides.idle(specs).map((glob) => `The overrides "${glob}" of source "${source.name}" match no tool.`),
  };
}

/** What of an entry decides what is started: everything but what is said about its tools. */
export function connectionText(entry: SourceConfig, more: unknown): string {
  const rest = Object.entries(entry).filter(([key]) => !isSetting(key, entry));
  return hash('sha256', canonicalJson([Object.fromEntries(rest), more])); // a hash, since a credential may stand in it
}

/** A source that chooses itself is read with what is included of it. */
function isSetting(key: string, entry: SourceConfig): boolean {
  const isChoice = key === 'include' || key === 'exclude';
  return Object.hasOwn(settingsOfSources, key) && !(isChoice && recordOf(entry).choosesItself === true);
}

function nameSpecs(specs: readonly ToolSpec[], settings: SourceSettings): readonly ToolSpec[] {
  const kept = specs.filter(isKept(settings));
  return settings.prefix === undefined ? kept : safeNames(prefix(kept.map(asOrigin), settings.prefix));
}

/** The spec under its name at the source, so that a name that has to be shortened is shortened once. */
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
