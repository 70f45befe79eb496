import type { SchemaNode } from '../../../src/config/schema-node.ts';
import { isKey, memberOf, nameOf, shapeFor } from './schema-keys.ts';

type Note = (key: string) => void;

/** Functions that visit every member to print, compare or freeze a value, or to find paths. They do not count as reading a key. */
const WALKS = /\b(sortKeys|sortItems|spellOut|stringify|freezeJson|copyJson|connectionText|pathsOf\w*|pathsIn)\b/;

/** A copy of the value that records every key of the schema that is read by name, or copied for one reader. */
export function recordReads<Value>(node: SchemaNode, value: Value, note: Note): Value {
  return record({ node, path: '' }, value, note) as Value; // the same data
}

function record(at: Parameters<typeof shapeFor>[0], value: unknown, note: Note): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (at.node.use === 'spec') return value; // it is copied as a whole for the reader of spec files
  const shape = shapeFor(at, value);
  if (Array.isArray(value)) {
    const item = memberOf(shape, '0');
    return item === undefined ? value : value.map((one) => record(item, one, note));
  }
  const entries = Object.entries(value).map(([key, member]) => {
    const inside = memberOf(shape, key);
    return [key, inside === undefined ? member : record(inside, member, note)] as const;
  });
  return new Proxy(Object.fromEntries(entries), {
    get(members, key) {
      if (typeof key === 'string' && isKey(shape, key) && Object.hasOwn(members, key) && !WALKS.test(readerOf()))
        note(nameOf(shape, key));
      return Reflect.get(members, key);
    },
  });
}

/** The names of the functions that read: the one that asks for the member, and those that called it. */
function readerOf(): string {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 6;
  Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFunctionName()); // texts with places take far longer
  const names: unknown = new Error().stack;
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return Array.isArray(names) ? names.slice(2).join('\n') : '';
}
