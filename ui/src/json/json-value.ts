import type { JsonNode } from './json-text.ts';

/** The way from the root of a JSON value to a part of it. */
export type JsonPath = readonly (string | number)[];

/** The node at a path; undefined if it is absent. */
export function nodeAt(node: JsonNode | undefined, path: JsonPath): JsonNode | undefined {
  let found = node;
  for (const step of path) {
    if (found === undefined) return undefined;
    found = childOf(found, step);
  }
  return found;
}

/** A direct part of a node; undefined if it is absent. */
export function childOf(node: JsonNode, step: string | number): JsonNode | undefined {
  if (node.type === 'array') return node.items[Number(step)];
  if (node.type === 'object') return node.members.find(({ key }) => key === String(step))?.value;
  return undefined;
}

/** The node as a JavaScript value, for hints. Integers beyond 2^53 lose digits here alone. */
export function toValue(node: JsonNode): unknown {
  if (node.type === 'number') return Number(node.raw);
  if (node.type === 'array') return node.items.map(toValue);
  if (node.type !== 'object') return node.value;
  const value: Record<string, unknown> = {};
  for (const member of node.members)
    Object.defineProperty(value, member.key, {
      value: toValue(member.value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return value;
}

/** The JSON pointer of a path. */
export function toPointer(path: JsonPath): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The steps of a JSON pointer. */
export function toSteps(pointer: string): readonly string[] {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Writes a node without spaces; members in their order, or sorted so that equal values have equal texts. */
export function printJson(node: JsonNode, order: 'kept' | 'sorted' = 'kept'): string {
  if (node.type === 'number') return node.raw;
  if (node.type === 'array') return `[${node.items.map((item) => printJson(item, order)).join(',')}]`;
  if (node.type !== 'object') return JSON.stringify(node.value);
  const members =
    order === 'kept' ? node.members : node.members.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return `{${members.map(({ key, value }) => `${JSON.stringify(key)}:${printJson(value, order)}`).join(',')}}`;
}

/** Writes a node over several lines; short lists and objects without parts stay on one. */
export function printPretty(node: JsonNode, indent = ''): string {
  const inner = `${indent}  `;
  if (node.type === 'array')
    return between(
      '[',
      node.items.map((item) => printPretty(item, inner)),
      { close: ']', indent },
    );
  if (node.type === 'object') {
    const members = node.members.map(({ key, value }) => `${JSON.stringify(key)}: ${printPretty(value, inner)}`);
    return between('{', members, { close: '}', indent });
  }
  return printJson(node);
}

function between(open: string, parts: readonly string[], { close, indent }: { close: string; indent: string }): string {
  if (parts.length === 0) return open + close;
  return `${open}\n${parts.map((part) => `${indent}  ${part}`).join(',\n')}\n${indent}${close}`;
}
