import { isRecord, resolveReference } from '../../../../core/json.ts';
import { ToolcribError } from '../../../../core/tool-error.ts';
import type { Description, Fields } from '../description.ts';

/** What a reference points to, or why it points to nothing. */
export type Pointed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** How many references may follow each other until something stands there. */
const MAX_HOPS = 50;

/** Longer ones take more time to follow than any honest description needs. */
const MAX_REF = 1000;

/** What a `$ref` points to inside the description. Others are never fetched. */
export function followPointer({ root }: Description, ref: string): Pointed {
  const shown = ref.length > 120 ? `${ref.slice(0, 120)}…` : ref;
  if (!ref.startsWith('#'))
    return { ok: false, reason: `"${shown}" points outside the description and is never fetched` };
  if (ref.length > MAX_REF) return { ok: false, reason: `"${shown}" is longer than ${MAX_REF} characters` };
  const value = resolveReference(ref, root);
  return value === undefined
    ? { ok: false, reason: `"${shown}" points to nothing in the description` }
    : { ok: true, value };
}

/** The object itself, wherever its `$ref`s say that it stands. Throws for what cannot be found. */
export function followRefs(description: Description, given: unknown, what: string): Fields {
  let value = given;
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    if (!isRecord(value)) throw new ToolcribError('invalid_description', `${what} is no object`);
    if (typeof value.$ref !== 'string') return value;
    const pointed = followPointer(description, value.$ref);
    if (!pointed.ok) throw new ToolcribError('invalid_description', `the $ref of ${what}, ${pointed.reason}`);
    value = pointed.value;
  }
  throw new ToolcribError('invalid_description', `the $refs of ${what} lead in a circle`);
}
