import { isKnownDialect } from './schema-dialect.ts';
import { JSON_TYPES } from './schema-keywords.ts';

const MAX_DEPTH = 50;
const MAX_NODES = 2000;

/**
 * True for most schemas: small plain data without a single word that could make trouble. Ten thousand tools are
 * looked at when a crib starts, so this comes before any closer look; false means only "look closer".
 */
export function isHarmless(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false;
  const { $schema } = schema as { $schema?: unknown }; // read as unknown
  return isKnownDialect($schema) && isHarmlessAt(schema, 0, { nodes: MAX_NODES });
}

function isHarmlessAt(node: object, depth: number, left: { nodes: number }): boolean {
  left.nodes -= 1;
  if (depth > MAX_DEPTH || left.nodes < 0) return false;
  if (Array.isArray(node)) {
    for (const item of node) {
      if (typeof item === 'object' && item !== null && !isHarmlessAt(item, depth + 1, left)) return false;
    }
    return true;
  }
  for (const key in node) {
    if (isSuspicious(key)) return false;
    const member = (node as Record<string, unknown>)[key]; // a key of it
    if (key === 'type' && typeof member === 'string' && !JSON_TYPES.has(member)) return false;
    if (typeof member === 'object' && member !== null && !isHarmlessAt(member, depth + 1, left)) return false;
  }
  return true;
}

function isSuspicious(key: string): boolean {
  switch (key) {
    case 'pattern':
    case 'patternProperties':
    case '$ref':
    case '$dynamicRef':
    case '$recursiveRef':
    case '__proto__':
      return true;
    default:
      return false;
  }
}
