import { hash } from 'node:crypto';
import { prefix, rename } from '../core/algebra.ts';
import { listOf } from '../core/bundle.ts';
import { tightenPolicy } from '../core/policy.ts';
import { compileGlob } from '../core/selector.ts';
import type { Source } from '../core/source.ts';
import { createRun, isToolName, RUN, type ToolSpec, toToolName } from '../core/tool-spec.ts';
import { readPolicy } from '../runtime/read-policy.ts';
import type { OverrideConfig, SourceSettings } from './config/source-config.ts';

/** A source under what its owner says about it. */
export function withSettings(source: Source, settings: SourceSettings): Source {
  const { bundle = source.bundle, trust = source.trust } = settings;
  const kinds = settings.kinds === undefined ? source.kinds : listOf(settings.kinds);
  return {
    ...source,
    ...(bundle !== undefined && { bundle }),
    ...(trust !== undefined && { trust }),
    ...(kinds !== undefined && { kinds }),
    adjust: (specs) => adjustSpecs(specs, settings),
  };
}

function adjustSpecs(specs: readonly ToolSpec[], settings: SourceSettings): readonly ToolSpec[] {
  const kept = specs.filter(isKept(settings));
  const named = settings.prefix === undefined ? kept : safeNames(prefix(kept, settings.prefix));
  const corrections = Object.entries(settings.overrides ?? {}).map(([glob, override]) => ({
    matches: compileGlob(glob),
    override,
  }));
  return named.map((spec) => {
    const corrected = corrections
      .filter(({ matches }) => matches(spec.name))
      .reduce((before, { override }) => correct(before, override), spec);
    return settings.settings === undefined ? corrected : withDefaults(corrected, settings.settings);
  });
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

/** The owner corrects what a source says; limits of both hold. */
function correct(spec: ToolSpec, override: OverrideConfig): ToolSpec {
  const { title, description, effects, tags, category, policy } = override;
  return Object.freeze({
    ...spec,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(category !== undefined && { category }),
    ...(tags !== undefined && { tags: Object.freeze([...listOf(tags)]) }),
    ...(effects !== undefined && { effects: Object.freeze({ ...spec.effects, ...effects }) }),
    ...(policy !== undefined && { policy: Object.freeze(overridePolicy(spec, policy)) }),
  });
}

function overridePolicy(spec: ToolSpec, policy: NonNullable<OverrideConfig['policy']>): ToolSpec['policy'] {
  return tightenPolicy(readPolicy(policy, `the overrides of "${spec.name}"`), spec.policy);
}

function withDefaults(spec: ToolSpec, settings: Readonly<Record<string, unknown>>): ToolSpec {
  return Object.freeze({ ...spec, [RUN]: createRun({ ...spec[RUN], settings }) });
}
