import { isRecord, resolveReference } from '../../../core/json.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { Description, Fields } from './load-description.ts';

/** What a reference points to, or why it points to nothing. */
export type Pointed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** How many references may follow each other until something stands there. */
const MAX_HOPS = 50;

/** Longer ones take more time to follow than any honest description needs. */
const MAX_REF = 1000;

/** What a `$ref` points to inside the description. Others are never fetched. */
export function followPointer({ root, written = root }: Description, ref: string): Pointed {
  const shown = ref.length > 120 ? `${ref.slice(0, 120)}…` : ref;
  if (!ref.startsWith('#'))
    return { ok: false, reason: `"${shown}" points outside the description and is never fetched` };
  if (ref.length > MAX_REF) return { ok: false, reason: `"${shown}" is longer than ${MAX_REF} characters` };
  const value = resolveReference(ref, written);
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

/** True if a schema contains itself, however far below: such a schema needs a name. */
export type LeadsToItself = (ref: string) => boolean;

interface Visit {
  readonly ref: string;
  readonly next: readonly string[];
  at: number;
  readonly order: number;
  lowest: number;
}

/** Finds schemas that contain themselves, each looked at once (Tarjan's circles, without a stack that could overflow). */
export function createRefCircles(description: Description, work: Work): LeadsToItself {
  const known = new Map<string, boolean>();
  return (ref) => {
    if (!known.has(ref)) explore(ref, known, (from) => refsBelow(description, from, work));
    return known.get(ref) ?? true;
  };
}

function explore(start: string, known: Map<string, boolean>, refsOf: (ref: string) => readonly string[]): void {
  const visits = new Map<string, Visit>();
  const open: Visit[] = []; // of which the circle is not known yet
  const path: Visit[] = [];
  const enter = (ref: string): void => {
    const visit = { ref, next: refsOf(ref), at: 0, order: visits.size, lowest: visits.size };
    visits.set(ref, visit);
    open.push(visit);
    path.push(visit);
  };
  enter(start);
  for (let here = path.at(-1); here !== undefined; here = path.at(-1)) {
    const next = here.next[here.at++];
    if (next !== undefined) {
      const seen = visits.get(next);
      if (seen === undefined && !known.has(next)) enter(next);
      else if (seen !== undefined && !known.has(next)) here.lowest = Math.min(here.lowest, seen.order);
      continue;
    }
    path.pop();
    const above = path.at(-1);
    if (above !== undefined) above.lowest = Math.min(above.lowest, here.lowest);
    if (here.lowest === here.order) closeCircle(here, open, known);
  }
}

function closeCircle(first: Visit, open: Visit[], known: Map<string, boolean>): void {
  const circle = open.splice(open.lastIndexOf(first));
  const isCircle = circle.length > 1 || first.next.includes(first.ref);
  for (const { ref } of circle) known.set(ref, isCircle);
}

/** The references anywhere below what one points to. */
function refsBelow(description: Description, ref: string, work: Work): readonly string[] {
  const pointed = followPointer(description, ref);
  const found = new Set<string>();
  const open: unknown[] = pointed.ok ? [pointed.value] : [];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    work.spend(1);
    if ('$ref' in node && typeof node.$ref === 'string') found.add(node.$ref);
    for (const member of Object.values(node)) if (typeof member === 'object' && member !== null) open.push(member);
  }
  return [...found];
}

/** What reading one description may cost: a small one can refer to itself in ways that take for ever to follow. */
export interface Work {
  spend(steps: number): void;
}

/** Many times what the largest honest descriptions take. */
const MAX_STEPS = 5_000_000;

/** Thrown when it is too much: then the description is refused, not only an operation. */
export class DescriptionWorkError extends ToolcribError {
  constructor() {
    super('invalid_description', 'it takes too much work to read: it is too large, or refers to itself too often');
  }
}

export function createWork(): Work {
  let left = MAX_STEPS;
  return {
    spend(steps) {
      left -= steps;
      if (left < 0) throw new DescriptionWorkError();
    },
  };
}
