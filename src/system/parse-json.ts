import type { JsonValue } from '../core/json.ts';

/** Parses JSON; undefined if the text is invalid. Members named `__proto__` are dropped, because they could change the prototype of a copy. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const bare = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
    return JSON.parse(bare, isSuspect(bare) ? withoutPrototype : undefined);
  } catch {
    return undefined;
  }
}

/** True if a key may be `__proto__`, also with escapes. */
function isSuspect(text: string): boolean {
  return text.includes('__proto__') || text.includes('\\u00');
}

function withoutPrototype(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value;
}
