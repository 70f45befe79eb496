import { describe } from '../core/read-options.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { isDelicate, type Path, toPathText } from './mistake.ts';
import type { JsonType, SchemaNode } from './schema-node.ts';

const MANY_KEYS = 20;

/** The words for a key that the schema does not know. */
export function unknownKey(node: SchemaNode, key: string, path: Path): string {
  const known = Object.keys(node.properties ?? {});
  const guess = didYouMean(key, known);
  const all = guess === '' && known.length <= MANY_KEYS ? ` Known are ${known.join(', ')}.` : guess;
  return `is not known: ${toPathText(path)} has no ${describe(key)}.${all}`;
}

/** The words for a value of the wrong type. */
export function wrongType(node: SchemaNode, value: unknown, path: Path): string {
  if (value === null && typeof path.at(-1) === 'number') {
    return 'is empty: YAML takes what follows "#" for a comment; put the entry in quotes, or remove it.';
  }
  if (value === null) return `is empty; it must be ${phrase(node)}.`;
  const seen = typeof value === 'string' && isDelicate(path) ? 'a text' : describe(value);
  return `must be ${phrase(node)}, got ${seen}${hintFor(node, value)}.`;
}

/** `"a" and "b"`. */
export function quoted(keys: readonly string[]): string {
  return keys.map((key) => `"${key}"`).join(' and ');
}

function hintFor(node: SchemaNode, value: unknown): string {
  const nodes = node.anyOf ?? [node];
  const takes = (type: JsonType) => nodes.some((one) => one.type === type);
  if ((typeof value === 'number' || typeof value === 'boolean') && takes('string')) return '; put it in quotes';
  if (typeof value !== 'string') return '';
  if (takes('boolean') && /^(yes|no|on|off|y|n)$/i.test(value)) return '; YAML 1.2 takes only true and false';
  if ((takes('number') || takes('integer')) && /^[\d._-]+$/.test(value)) return '; leave the quotes away';
  return '';
}

const PHRASES: Readonly<Record<JsonType, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
};

function phrase(node: SchemaNode): string {
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(phrase))].join(' or ');
  if (node.enum !== undefined) return node.enum.length === 1 ? String(node.enum[0]) : `one of ${node.enum.join(', ')}`;
  return node.type === undefined ? 'something' : PHRASES[node.type];
}
