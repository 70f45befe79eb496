import { RUN, type ToolSpec } from '../core/tool-spec.ts';
import type { SpecProblem } from './entry-collector.ts';

/** The entries and problems of a list that was read again. */
export interface NextSpecs {
  readonly entries: readonly { readonly spec: ToolSpec }[];
  readonly problems: readonly { readonly name?: string }[];
}

/**
 * Merges a list that was read again with the one before. A spec with the same content stays the same object, so it is
 * not checked again. A spec whose new text is invalid keeps its old version. While a problem has no readable name, no
 * missing spec counts as removed.
 */
export function keepKnown(before: readonly ToolSpec[], next: NextSpecs): readonly ToolSpec[] {
  if (before.length === 0) return next.entries.map(({ spec }) => spec);
  const known = new Map(before.map((spec) => [spec.name, spec]));
  const specs = next.entries.map(({ spec }) => {
    const old = known.get(spec.name);
    return old !== undefined && isSame(old, spec) ? old : spec;
  });
  if (next.problems.length === 0) return specs;
  const listed = new Set(specs.map(({ name }) => name));
  const broken = new Set(next.problems.map(({ name }) => name));
  const isKept = ({ name }: ToolSpec) => !listed.has(name) && (broken.has(name) || broken.has(undefined));
  return [...specs, ...before.filter(isKept)];
}

const MAX_TOLD = 20;

/** The problems of one list as sentences, at most `MAX_TOLD` and a total. */
export function describeProblems(problems: readonly SpecProblem[]): readonly string[] {
  const told = problems.slice(0, MAX_TOLD).map(describeProblem);
  const rest = problems.length - told.length;
  return rest === 0 ? told : [...told, `${problems[0]?.file}: ${rest} more entries are invalid.`];
}

/** A problem as a sentence that begins with its place. */
function describeProblem({ file, line, index, message }: SpecProblem): string {
  return `${file}, line ${line}, tools[${index}]: ${message}`;
}

function isSame(a: ToolSpec, b: ToolSpec): boolean {
  return isSameData(a, b) && isSameData(a[RUN], b[RUN]);
}

/** True for equal JSON, in any key order. Parts of one list are often the same object. */
export function isSameData(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]; // read by own keys
  return keys.every((key) => Object.hasOwn(right, key) && isSameData(left[key], right[key]));
}
