import type { Description } from '../description.ts';
import { followPointer } from './local-refs.ts';
import type { Work } from './work.ts';

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
