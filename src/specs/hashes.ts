import { hash } from 'node:crypto';
import type { Caller } from '../core/caller.ts';
import { canonicalJson, type JsonObject } from '../core/json.ts';
import type { InputAnswers } from '../core/tool-call.ts';
import { RUN, type Run, SERVER, type ToolSpec, WITHHELD } from '../core/tool-spec.ts';

/** What a person looks at, and what decides what a call does. Policy is left out: it says who may, not what. */
const DEFINING = ['source', 'origin', 'title', 'description', 'input', 'output', 'effects'] as const;

interface Known {
  readonly spec: ToolSpec;
  readonly hash: string;
}

// By the run, which all copies of a spec share: each view and each tuned call has a copy of its own.
const knownByRun = new WeakMap<Run, Known>();

/** SHA-256 of what a tool is and how it runs, as hex. Another description, schema, effect or run is another tool. */
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

/** SHA-256 of what the tool gets as answers, as hex; undefined where it gets none. What its client can be asked for is not an answer. */
export function answersHash({ responses, state }: InputAnswers = {}): string | undefined {
  if (responses === undefined && state === undefined) return undefined;
  return hash('sha256', canonicalJson([responses ?? null, state ?? null]));
}

/** SHA-256 of what else than the id tools can tell callers apart by, as hex. */
export function callerHash({ roles = [], permissions = [], operator = false }: Caller): string {
  return hash('sha256', canonicalJson([roles.toSorted(), permissions.toSorted(), operator]));
}

function isSameDefinition(a: ToolSpec, b: ToolSpec): boolean {
  return DEFINING.every((key) => a[key] === b[key]);
}

/** Made by us of a schema that is hashed itself; their text says nothing about the tool. */
const DERIVED: ReadonlySet<string> = new Set(['parse', 'parseOutput']);
const MAX_DEPTH = 100;

function fingerprintOf(run: Run): unknown {
  const server = run[SERVER] === undefined ? [] : [['server', run[SERVER]] as const];
  return [...Object.entries(run), ...server, ['withheld', run[WITHHELD]] as const] // what is fixed decides what a call does, too
    .filter(([field]) => !DERIVED.has(field))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, value]) => [field, toPlain(value, [])]);
}

/** Data as it is, functions by their text; an executor of somebody's own may hang anything else under a run. */
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
