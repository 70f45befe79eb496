import type { Policy } from '../core/policy.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { Effects } from '../core/tool-spec.ts';
import { readPolicy } from '../define/read-policy.ts';

const MAX_SHARED_POLICIES = 1000;

/** Reads plain effects: there are only 81 ways to say what a tool does, and each is one object. `undefined` for what is no effects. */
export function createSharedEffects(): (value: unknown) => Effects | undefined {
  const shared = new Map<number, Effects>();
  return (value) => {
    let code = 0;
    if (value !== undefined) {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
      for (const key in value) {
        const claim = (value as Record<string, unknown>)[key]; // an own key
        const place = placeOf(key);
        if (typeof claim !== 'boolean' || place === 0) return undefined;
        code += claim ? place : 2 * place;
      }
    }
    const known = shared.get(code);
    if (known !== undefined) return known;
    const effects: Effects = Object.freeze({ ...(value as Effects | undefined) }); // its keys and claims were seen above
    shared.set(code, effects);
    return effects;
  };
}

function placeOf(effect: string): number {
  switch (effect) {
    case 'readOnly':
      return 1;
    case 'destructive':
      return 3;
    case 'idempotent':
      return 9;
    case 'openWorld':
      return 27;
    default:
      return 0;
  }
}

/** Reads policies; the tools of one list tend to have the same few, and equal ones are one object. `undefined` for a bad one. */
export function createSharedPolicies(): (value: unknown) => Policy | undefined {
  const shared = new Map<string, Policy>();
  return (value) => {
    const key = value === undefined ? '' : JSON.stringify(value);
    const known = shared.get(key);
    if (known !== undefined) return known;
    const policy = policyIn(value);
    if (policy !== undefined && shared.size < MAX_SHARED_POLICIES) shared.set(key, policy);
    return policy;
  };
}

function policyIn(value: unknown): Policy | undefined {
  try {
    return readPolicy(value, 'a tool');
  } catch (error) {
    if (error instanceof ToolcribError) return undefined;
    throw error;
  }
}
