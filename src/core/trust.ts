import type { Effects, ToolSpec } from './tool-spec.ts';

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
