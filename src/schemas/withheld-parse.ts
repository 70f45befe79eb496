import { isJson, isPromise, type JsonObject } from '../core/json.ts';
import { escapePointer } from '../core/json-pointer.ts';
import type { Issue } from '../core/tool-error.ts';
import type { Parse, Parsed, Withheld } from '../core/tool-spec.ts';

/** The checks of the caller's arguments and of all arguments. */
export interface PartedChecks {
  /** By the schema that callers see; undefined if only the author's own check applies. */
  readonly shown: Parse | undefined;
  readonly whole: Parse;
}

/** Checks the caller's arguments against the shown schema, then all arguments against the whole schema. */
export function createWithheldParse({ values, fixed, hidden }: Withheld, { shown, whole }: PartedChecks): Parse {
  const names = new Set([...fixed, ...hidden]);
  const conclude = (parsed: Parsed, given: JsonObject): Parsed =>
    parsed.ok
      ? { ok: true, value: parsed.value, given: givenOf(parsed.value, given, names) }
      : { ok: false, issues: discreet(parsed.issues, names) };
  const parseWhole = (value: unknown): ReturnType<Parse> => {
    const given = value as JsonObject; // arguments are always an object
    const parsed = whole({ ...given, ...values });
    return isPromise(parsed) ? parsed.then((settled) => conclude(settled, given)) : conclude(parsed, given);
  };
  return function parseParted(value) {
    const refused = Object.keys(value as JsonObject).filter((name) => names.has(name)); // as above
    if (refused.length > 0) return { ok: false, issues: refused.map(unknownArgument) };
    const checked = shown?.(value) ?? { ok: true as const, value };
    // The original value goes on, not the result of the shown schema: the whole schema fills in the same defaults.
    const proceed = (settled: Parsed) => (settled.ok ? parseWhole(value) : settled);
    return isPromise(checked) ? checked.then(proceed) : proceed(checked);
  };
}

// The same words as for an unknown name, so that withheld arguments are not revealed.
function unknownArgument(name: string): Issue {
  return { path: `/${escapePointer(name)}`, message: 'is not a known argument.' };
}

/** The caller's arguments with defaults, which are shown, hashed and approved. */
function givenOf(value: unknown, given: JsonObject, names: ReadonlySet<string>): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !isJson(value)) return given;
  return Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => !names.has(name))); // not a list, not null
}

const UNFIT: Issue = { path: '', message: 'conflict with the configuration of this tool; the operator must check it' };

/** Removes issues that mention arguments callers do not see. */
function discreet(issues: readonly Issue[], names: ReadonlySet<string>): readonly Issue[] {
  const isAboutOthers = ({ path, message }: Issue) => {
    const [, top = ''] = path.split('/');
    return top !== '' && [...names].every((name) => escapePointer(name) !== top && !message.includes(`"${name}"`));
  };
  const told = issues.filter(isAboutOthers);
  return told.length === issues.length ? told : [...told, UNFIT];
}
