import { type JsonSchema, resolveReference } from '../core/json.ts';

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
    if (typeof $ref === 'string') open.push(resolveReference($ref, root)); // anchors and embedded ids are rare; there an issue is merely told less well;
    for (const member of Object.values(node)) open.push(member);
  }
  return found;
}
