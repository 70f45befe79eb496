import type { JsonValue } from '../core/json.ts';

/** The value of a JSON text; undefined for what is none. A member named `__proto__` is left out: whoever copies it would be changed by it. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const bare = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    return JSON.parse(bare, isSuspect(bare) ? withoutPrototype : undefined);
  } catch {
    return undefined;
  }
}

/** True if a name in it may be `__proto__`, also in another spelling. */
function isSuspect(text: string): boolean {
  return text.includes('__proto__') || text.includes('\\u00');
}

function withoutPrototype(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}
