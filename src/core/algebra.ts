import { type Policy, tightenPolicy } from './policy.ts';
import type { Effects, ToolSpec } from './tool-spec.ts';

/** The specs for which `isKept` holds, in their order. */
export function keep(specs: readonly ToolSpec[], isKept: (spec: ToolSpec) => boolean): readonly ToolSpec[] {
  return specs.filter(isKept);
}

/** The specs under new names. What they require among themselves is renamed along; how they run stays. */
export function rename(specs: readonly ToolSpec[], newName: (name: string) => string): readonly ToolSpec[] {
  const renamed = new Map(specs.map((spec) => [spec.name, newName(spec.name)]));
  return specs.map((spec) => {
    const name = renamed.get(spec.name) ?? spec.name;
    if (spec.requires === undefined) return { ...spec, name };
    return { ...spec, name, requires: spec.requires.map((required) => renamed.get(required) ?? required) };
  });
}

/** The specs named `{word}_{name}`, not doubled where a name starts so already. */
export function prefix(specs: readonly ToolSpec[], word: string): readonly ToolSpec[] {
  if (word === '') return specs;
  return rename(specs, (name) => (name.startsWith(`${word}_`) ? name : `${word}_${name}`));
}

/** The specs under stricter limits. No layer loosens, whatever the order. */
export function tighten(specs: readonly ToolSpec[], policy: Policy): readonly ToolSpec[] {
  return specs.map((spec) => ({ ...spec, policy: tightenPolicy(spec.policy, policy) }));
}

const NO_TAGS: readonly string[] = Object.freeze([]);

/** What a spec may say about itself when its source is not trusted: only what raises caution. */
export function distrust(spec: ToolSpec): ToolSpec {
  const { category: _category, priority: _priority, ...rest } = spec;
  const { timeoutMs: _timeoutMs, retries: _retries, cacheMs: _cacheMs, approvers: _approvers, ...limits } = spec.policy;
  const effects = Object.freeze(cautiousEffects(spec.effects));
  return Object.freeze({ ...rest, tags: NO_TAGS, effects, policy: Object.freeze(limits) });
}

// "Read-only", "repeatable" and "closed world" lower caution; a stranger's word is not enough for that.
function cautiousEffects(effects: Effects): Effects {
  return {
    ...(effects.readOnly === false && { readOnly: false }),
    ...(effects.destructive === true && { destructive: true }),
    ...(effects.idempotent === false && { idempotent: false }),
    ...(effects.openWorld === true && { openWorld: true }),
  };
}
