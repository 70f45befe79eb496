import { type Policy, tightenPolicy } from './policy.ts';
import type { ToolSpec } from './tool-spec.ts';

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
