import { frozenCopy, isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../json.ts';
import { describe } from '../read-options.ts';

/** Scope of a remembered approval: this conversation, these arguments, all calls for a given time, or calls within terms. */
export type Remember = 'conversation' | 'arguments' | { readonly forMs: number } | GrantTerms;

/** A number of further calls until an end. Their arguments are the approved ones, except those that may vary. */
export interface GrantTerms {
  /** Number of further calls. */
  readonly uses: number;
  /** Lifetime in milliseconds; absent if `until` is there. */
  readonly forMs?: number;
  /** The end as ISO 8601; absent if `forMs` is there. */
  readonly until?: string;
  /** JSON Schemas of the arguments that may vary, by name. */
  readonly vary?: Readonly<Record<string, JsonSchema>>;
}

/** Maximum lifetime of a remembered approval. */
export const MAX_REMEMBER_MS = 30 * 86_400_000;
const MAX_USES = 10_000;
const MAX_VARYING = 20;
const LONGEST_VARY = 10_000;

/** True for the form with a number of uses. */
export function isGrantTerms(remember: Remember | undefined): remember is GrantTerms {
  return typeof remember === 'object' && 'uses' in remember;
}

/** Reads a `remember` value. Returns the mistake as `problem`. */
export function readRemember(value: unknown): { readonly remember: Remember } | { readonly problem: string } {
  if (value === 'conversation' || value === 'arguments') return { remember: value };
  const given = copyOf(value);
  if (!isJsonObject(given)) return { problem: FORMS };
  const isWithTerms = ['uses', 'until', 'vary'].some((key) => given[key] !== undefined);
  if (isWithTerms) return readTerms(given);
  const { forMs } = given;
  return isTime(forMs) ? { remember: { forMs } } : { problem: FORMS };
}

const FORMS =
  '"remember" must be "conversation", "arguments", { forMs } with a number above 0, or { uses, forMs or until, vary }.';
const TERM_KEYS = ['uses', 'forMs', 'until', 'vary'];

/** A frozen copy, so that checked terms cannot change later; undefined for what is not JSON. */
function copyOf(value: unknown): JsonValue | undefined {
  try {
    return frozenCopy(value);
  } catch {
    return undefined; // a getter may throw anything
  }
}

function readTerms(given: JsonObject): ReturnType<typeof readRemember> {
  const { uses, forMs, until, vary } = given;
  const unknown = Object.keys(given).find((key) => !TERM_KEYS.includes(key));
  if (unknown !== undefined) return { problem: `"remember.${unknown}" is not known; use ${TERM_KEYS.join(', ')}.` };
  if (!Number.isInteger(uses) || typeof uses !== 'number' || uses < 1 || uses > MAX_USES)
    return { problem: `"remember.uses" must be a whole number from 1 to ${MAX_USES}, got ${describe(uses)}.` };
  if ((forMs === undefined) === (until === undefined))
    return { problem: '"remember" with "uses" needs an end: either "forMs" or "until".' };
  if (forMs !== undefined && (!isTime(forMs) || forMs > MAX_REMEMBER_MS))
    return { problem: '"remember.forMs" must be a number above 0, at most 30 days.' };
  if (until !== undefined && (typeof until !== 'string' || !ISO_TIME.test(until) || Number.isNaN(Date.parse(until))))
    return { problem: `"remember.until" must be a time such as 2030-12-31T22:00:00Z, got ${describe(until)}.` };
  const wrong = vary === undefined ? undefined : whyNotVary(vary);
  if (wrong !== undefined) return { problem: wrong };
  const end = typeof forMs === 'number' ? { forMs } : { until: String(until) };
  const may = isJsonObject(vary) ? { vary: vary as Readonly<Record<string, JsonSchema>> } : {}; // checked by whyNotVary
  return { remember: { uses, ...end, ...may } };
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
}

function whyNotVary(vary: unknown): string | undefined {
  if (!isJsonObject(vary))
    return '"remember.vary" must be an object with a JSON Schema for each argument that may vary.';
  const entries = Object.entries(vary);
  if (entries.length > MAX_VARYING) return `"remember.vary" may name at most ${MAX_VARYING} arguments.`;
  const other = entries.find(([, schema]) => !isJsonObject(schema));
  if (other !== undefined) return `"remember.vary": the schema of ${describe(other[0])} must be an object.`;
  const isLong = JSON.stringify(vary).length > LONGEST_VARY;
  return isLong ? `"remember.vary" may have at most ${LONGEST_VARY} characters of JSON.` : undefined;
}

/** The end of a remembered approval that is given at this time. */
export function endOfGrant(remember: Remember, at: number): number {
  if (typeof remember === 'string') return at + MAX_REMEMBER_MS;
  const { forMs, until } = remember as Partial<GrantTerms>; // both are optional there
  return Math.min(until === undefined ? at + Math.floor(forMs ?? 0) : Date.parse(until), at + MAX_REMEMBER_MS);
}

/** Conditions on the arguments of a call that a remembered approval covers. */
export interface GrantFit extends Pick<GrantTerms, 'vary'> {
  /** Hash of the arguments that may not vary. */
  readonly fixedHash: string;
  /** The types of the approved values of those that may. */
  readonly types: Readonly<Record<string, string>>;
}

/** The type of a value in JSON. A varying argument keeps it, whatever its schema allows. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The arguments that must stay as approved. */
export function fixedArguments(input: JsonObject, { vary = {} }: Pick<GrantTerms, 'vary'>): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(vary, name)));
}
