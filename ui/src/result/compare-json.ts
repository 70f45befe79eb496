import type { JsonNode } from '../json/json-text.ts';
import { type JsonPath, printJson, toPointer } from '../json/json-value.ts';

/** A difference between two JSON values, at one place. */
export interface JsonChange {
  readonly pointer: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly before?: string;
  readonly after?: string;
}

const MAX_CHANGES = 500;

/** What differs between two values, place by place. Order of members does not count; digits of numbers do. */
export function compareJson(before: JsonNode | undefined, after: JsonNode | undefined): readonly JsonChange[] {
  const changes: JsonChange[] = [];
  compareAt(before, after, { path: [], changes });
  return changes;
}

interface Comparison {
  readonly path: JsonPath;
  readonly changes: JsonChange[];
}

function compareAt(before: JsonNode | undefined, after: JsonNode | undefined, { path, changes }: Comparison): void {
  if (changes.length >= MAX_CHANGES) return;
  const pointer = toPointer(path);
  if (before === undefined && after === undefined) return;
  if (before === undefined || after === undefined) {
    const written = printSpaced((before ?? after) as JsonNode); // one of them is there
    changes.push(
      after === undefined ? { pointer, kind: 'removed', before: written } : { pointer, kind: 'added', after: written },
    );
    return;
  }
  if (before.type === 'object' && after.type === 'object') {
    const [old, young] = [membersOf(before), membersOf(after)];
    for (const key of new Set([...old.keys(), ...young.keys()]))
      compareAt(old.get(key), young.get(key), { path: [...path, key], changes });
    return;
  }
  if (before.type === 'array' && after.type === 'array') {
    const length = Math.max(before.items.length, after.items.length);
    for (let index = 0; index < length; index++)
      compareAt(before.items[index], after.items[index], { path: [...path, index], changes });
    return;
  }
  if (printJson(before) !== printJson(after))
    changes.push({ pointer, kind: 'changed', before: printSpaced(before), after: printSpaced(after) });
}

function membersOf(node: Extract<JsonNode, { type: 'object' }>): ReadonlyMap<string, JsonNode> {
  return new Map(node.members.map(({ key, value }) => [key, value]));
}

/** On one line, with spaces at which a narrow column wraps it. */
function printSpaced(node: JsonNode): string {
  if (node.type === 'array') return `[${node.items.map(printSpaced).join(', ')}]`;
  if (node.type !== 'object' || node.members.length === 0) return printJson(node);
  return `{ ${node.members.map(({ key, value }) => `${JSON.stringify(key)}: ${printSpaced(value)}`).join(', ')} }`;
}
