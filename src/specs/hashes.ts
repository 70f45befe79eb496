import { hash } from 'node:crypto';
import type { Caller } from '../core/caller.ts';
import { canonicalJson, type JsonObject } from '../core/json.ts';
import type { InputAnswers } from '../core/tool-call.ts';
import { RUN, type Run, SERVER, type ToolSpec, WITHHELD } from '../core/tool-spec.ts';

/** The parts of a spec that a person reads and that decide what a call does. Policy is left out, because it decides about callers. */
const DEFINING = ['source', 'origin', 'title', 'description', 'input', 'output', 'effects'] as const;

interface Known {
  readonly spec: ToolSpec;
  readonly hash: string;
}

// Keyed by the run, which all copies of a spec share: each view and each tuned call makes a copy.
const knownByRun = new WeakMap<Run, Known>();

/** SHA-256 of a tool's definition and run, as hex. A changed description, schema, effect or run gives another hash. */
export function definitionHash(spec: ToolSpec): string {
  const known = knownByRun.get(spec[RUN]);
  if (known !== undefined && (known.spec === spec || isSameDefinition(known.spec, spec))) return known.hash;
  const parts = DEFINING.map((key) => spec[key] ?? null);
  const made = hash('sha256', canonicalJson([...parts, fingerprintOf(spec[RUN])]));
  knownByRun.set(spec[RUN], { spec, hash: made });
  return made;
}

/** SHA-256 of arguments, as hex; the order of keys does not matter. */
export function argumentsHash(input: JsonObject): string {
  return hash('sha256', canonicalJson(input));
}

/** SHA-256 of the answers to the tool's questions, as hex; undefined if there are none. The client's capabilities do not count. */
export function answersHash({ responses, state }: InputAnswers = {}): string | undefined {
  if (responses === undefined && state === undefined) return undefined;
  return hash('sha256', canonicalJson([responses ?? null, state ?? null]));
}

/** SHA-256 of the roles, permissions and operator flag of a caller, as hex. */
export function callerHash({ roles = [], permissions = [], operator = false }: Caller): string {
  return hash('sha256', canonicalJson([roles.toSorted(), permissions.toSorted(), operator]));
}

function isSameDefinition(a: ToolSpec, b: ToolSpec): boolean {
  return DEFINING.every((key) => a[key] === b[key]);
}

/** Derived from a schema that is hashed itself; the text of these functions says nothing about the tool. */
const DERIVED: ReadonlySet<string> = new Set(['parse', 'parseOutput']);
const MAX_DEPTH = 100;

function fingerprintOf(run: Run): unknown {
  const server = run[SERVER] === undefined ? [] : [['server', run[SERVER]] as const];
  return [...Object.entries(run), ...server, ['withheld', run[WITHHELD]] as const] // fixed arguments also decide what a call does
    .filter(([field]) => !DERIVED.has(field))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, value]) => [field, toPlain(value, [])]);
}

/** Data as it is, functions by their text. A custom executor may put any value into a run. */
function toPlain(value: unknown, above: readonly object[]): unknown {
  if (typeof value === 'function') return { function: Function.prototype.toString.call(value) };
  if (typeof value !== 'object' || value === null) return isPlain(value) ? value : { [typeof value]: String(value) };
  if (above.includes(value) || above.length > MAX_DEPTH) return { again: true };
  const trail = [...above, value];
  if (Array.isArray(value)) return Array.from(value, (item) => toPlain(item, trail));
  if (value instanceof Date || value instanceof RegExp || value instanceof URL) return { text: String(value) };
  if (value instanceof Map || value instanceof Set) return { list: Array.from(value, (item) => toPlain(item, trail)) };
  const members = Object.entries(value).map(([key, member]) => [key, toPlain(member, trail)]);
  return Object.fromEntries(members);
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean';
}
