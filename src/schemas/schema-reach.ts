import { type JsonSchema, unescapePointer } from '../core/json.ts';

/** True if `part` is applied by `branch`: it stands inside it, or inside what it refers to. */
export type Reach = (branch: unknown, part: unknown) => boolean;

/** Tells which part of `schema` belongs to which branch. Without a schema every part belongs to every branch. */
export function createReach(schema: JsonSchema | undefined): Reach {
  if (schema === undefined) return () => true;
  const reached = new Map<unknown, ReadonlySet<unknown>>();
  return function isReached(branch, part) {
    let parts = reached.get(branch);
    if (parts === undefined) {
      parts = collect(branch, schema);
      reached.set(branch, parts);
    }
    // `false` is a schema too, but has no identity; what stands among a branch's errors is taken for its own.
    return parts.has(part) || typeof part !== 'object';
  };
}

function collect(branch: unknown, root: JsonSchema): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const open = [branch];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null || found.has(node)) continue;
    found.add(node);
    const { $ref } = node as { $ref?: unknown }; // an array has none
    if (typeof $ref === 'string') open.push(follow($ref, root));
    for (const member of Object.values(node)) open.push(member);
  }
  return found;
}

// Pointers only. Anchors and embedded ids are rare; there an issue is merely told less well.
function follow(ref: string, root: JsonSchema): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let node: unknown = root;
  for (const segment of ref.slice(2).split('/')) {
    if (typeof node !== 'object' || node === null) return undefined;
    const key = unescapePointer(decode(segment));
    node = Object.hasOwn(node, key) ? (node as Record<string, unknown>)[key] : undefined; // an own key
  }
  return node;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
