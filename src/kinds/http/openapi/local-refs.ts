import { isRecord } from '../../../core/json.ts';
import { resolveReference } from '../../../core/json-pointer.ts';
import { ToolcribError } from '../../../core/tool-error.ts';
import type { Description, Fields } from './load-description.ts';

/** The target of a reference, or the reason it has none. */
export type Pointed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** Most references in a chain. */
const MAX_HOPS = 50;

/** Longer references take too long to resolve; real descriptions do not need them. */
const MAX_REF = 1000;

/** Resolves a `$ref` inside the description. External references are never fetched. */
export function followPointer({ root, written = root, work }: Description, ref: string): Pointed {
  work.spend(1 + Math.min(ref.length, MAX_REF) / 20);
  const shown = ref.length > 120 ? `${ref.slice(0, 120)}…` : ref;
  if (!ref.startsWith('#'))
    return { ok: false, reason: `"${shown}" points outside the description; external references are not fetched` };
  if (ref.length > MAX_REF) return { ok: false, reason: `"${shown}" is longer than ${MAX_REF} characters` };
  const value = resolveReference(ref, written);
  return value === undefined
    ? { ok: false, reason: `"${shown}" is not found in the description` }
    : { ok: true, value };
}

/** Resolves an object through its `$ref`s. Throws if a target is not found. */
export function followRefs(description: Description, given: unknown, what: string): Fields {
  let value = given;
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    if (!isRecord(value)) throw new ToolcribError('invalid_description', `${what} is not an object`);
    if (typeof value.$ref !== 'string') return value;
    const pointed = followPointer(description, value.$ref);
    if (!pointed.ok) throw new ToolcribError('invalid_description', `the $ref of ${what}, ${pointed.reason}`);
    value = pointed.value;
  }
  throw new ToolcribError('invalid_description', `the $refs of ${what} form a cycle`);
}

/** True if a schema contains itself at any depth; such a schema needs a name. */
export type LeadsToItself = (ref: string) => boolean;

interface Visit {
  readonly ref: string;
  readonly next: readonly string[];
  at: number;
  readonly order: number;
  lowest: number;
}

/** Finds recursive schemas, visiting each once (Tarjan's algorithm, iterative so that the stack cannot overflow). */
export function createRefCircles(description: Description): LeadsToItself {
  const known = new Map<string, boolean>();
  return (ref) => {
    if (!known.has(ref)) explore(ref, known, (from) => refsBelow(description, from));
    return known.get(ref) ?? true;
  };
}

function explore(start: string, known: Map<string, boolean>, refsOf: (ref: string) => readonly string[]): void {
  const visits = new Map<string, Visit>();
  const open: Visit[] = []; // their cycle is not known yet
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

/** All references below the target of a reference. */
function refsBelow(description: Description, ref: string): readonly string[] {
  const pointed = followPointer(description, ref);
  const found = new Set<string>();
  const open: unknown[] = pointed.ok ? [pointed.value] : [];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    description.work.spend(1);
    if ('$ref' in node && typeof node.$ref === 'string') found.add(node.$ref);
    for (const member of Object.values(node)) if (typeof member === 'object' && member !== null) open.push(member);
  }
  return [...found];
}

/** Work limit for one description: a small one can refer to itself in ways that take too long to follow. */
export interface Work {
  spend(steps: number): void;
}

/** Many times what the largest real descriptions need. */
const MAX_STEPS = 5_000_000;

/** Thrown when the limit is exceeded. It rejects the whole description, not only one operation. */
export class DescriptionWorkError extends ToolcribError {
  constructor() {
    super('invalid_description', 'it takes too much work to read: it is too large, or refers to itself too often');
  }
}

/** The size of a value in steps: what reading it costs, however often it is referred to. */
export function sizeOf(value: unknown): number {
  let size = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const node = open.pop();
    size += typeof node === 'string' ? 1 + node.length / 20 : 1;
    if (typeof node === 'object' && node !== null) for (const member of Object.values(node)) open.push(member);
  }
  return size;
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
