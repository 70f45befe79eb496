import type { SchemaNode } from '../../../src/config/schema-node.ts';
import { isRecord } from '../../../src/core/json.ts';

/** Parts that stand in several places and are read by the same code: their keys count once. */
const SHARED = ['policy', 'effects', 'when', 'overrides'];

/** One shape of a value, and the name of its keys' owner. */
interface Shape {
  readonly node: SchemaNode;
  readonly path: string;
}

/** Every key of a schema by name: `*` stands for a name that the author chooses, `(files)` for the shape with that key. */
export function keysOf(node: SchemaNode): readonly string[] {
  return [...new Set(keysUnder({ node, path: '' }))];
}

function keysUnder(at: Shape): readonly string[] {
  if (at.node.anyOf !== undefined) return shapesOf(at).flatMap(keysUnder);
  const { items, additionalProperties: others, properties = {} } = at.node;
  const members = Object.keys(properties).flatMap((key) => {
    const member = memberOf(at, key);
    return member === undefined ? [] : [nameOf(at, key), ...keysUnder(member)];
  });
  return [
    ...members,
    ...(items ? keysUnder({ ...at, node: items }) : []),
    ...(others ? keysUnder({ node: others, path: `${at.path}.*` }) : []),
  ];
}

/** The name of a key whose owner is of this shape. */
export function nameOf({ path }: Shape, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** The shape that a value has. */
export function shapeFor(at: Shape, value: unknown): Shape {
  if (Array.isArray(value)) {
    const list = shapesOf(at).find(({ node }) => node.type === 'array');
    return list ?? at;
  }
  if (!isRecord(value)) return at;
  const maps = shapesOf(at).filter(({ node }) => node.type === 'object');
  return maps.find(({ node }) => (node.required ?? []).every((key) => Object.hasOwn(value, key))) ?? maps[0] ?? at;
}

/** The schema node of a member of a value. */
export function memberOf({ node, path }: Shape, key: string): Shape | undefined {
  const { properties = {}, additionalProperties: others, items } = node;
  if (items !== undefined) return { node: items, path };
  const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (known !== undefined) return { node: known, path: SHARED.includes(key) ? key : nameOf({ node, path }, key) };
  return others ? { node: others, path: `${path}.*` } : undefined;
}

/** True for a key of the schema, as against a name that the author chose. */
export function isKey({ node }: Shape, key: string): boolean {
  return Object.hasOwn(node.properties ?? {}, key);
}

/** The shapes that a value may have; several maps are told apart by a key that only one of them requires. */
function shapesOf(at: Shape): readonly Shape[] {
  const branches = at.node.anyOf;
  if (branches === undefined) return [at];
  const maps = branches.filter(({ type }) => type === 'object');
  return branches.map((node) => {
    const telling = node.required?.find((key) => !maps.every(({ required }) => required?.includes(key)));
    return { node, path: maps.length > 1 && telling !== undefined ? `${at.path}(${telling})` : at.path };
  });
}

/** The keys that two configurations set differently, the innermost ones. */
export function keysApart(node: SchemaNode, before: unknown, after: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  compare({ node, path: '' }, [before, after], (key) => void found.add(key));
  return found;
}

function compare(at: Shape, [before, after]: readonly [unknown, unknown], found: (key: string) => void): boolean {
  const areMaps = isRecord(before) && isRecord(after);
  const areLists = Array.isArray(before) && Array.isArray(after);
  if (!areMaps && !areLists) return JSON.stringify(before) !== JSON.stringify(after);
  const [left, right] = [before, after] as readonly Readonly<Record<string, unknown>>[];
  const shape = shapeFor(at, after);
  let isOpen = false;
  for (const key of new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])) {
    const member = memberOf(shape, key) ?? { node: {}, path: '' };
    if (!compare(member, [left?.[key], right?.[key]], found)) continue;
    if (areMaps && isKey(shape, key)) found(nameOf(shape, key));
    else isOpen = true; // the key around it is told
  }
  return isOpen;
}
