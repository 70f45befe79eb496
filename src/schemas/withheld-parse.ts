import { escapePointer, isJson, isPromise, type JsonObject } from '../core/json.ts';
import type { Issue } from '../core/tool-error.ts';
import type { Parse, Parsed, Withheld } from '../core/tool-spec.ts';

/** How callers' arguments and all arguments are checked. */
export interface PartedChecks {
  /** By the schema that callers see; undefined where the author's own check is the only one. */
  readonly shown: Parse | undefined;
  readonly whole: Parse;
}

/** Checks what the caller gives by what the caller sees, then all of it by what the tool wants. */
export function createWithheldParse({ values, fixed, hidden }: Withheld, { shown, whole }: PartedChecks): Parse {
  const names = new Set([...fixed, ...hidden]);
  const conclude = (parsed: Parsed, given: JsonObject): Parsed =>
    parsed.ok
      ? { ok: true, value: parsed.value, given: givenOf(parsed.value, given, names) }
      : { ok: false, issues: discreet(parsed.issues, names) };
  const parseWhole = (value: unknown): ReturnType<Parse> => {
    const given = value as JsonObject; // arguments are an object from the moment they come in
    const parsed = whole({ ...given, ...values });
    return isPromise(parsed) ? parsed.then((settled) => conclude(settled, given)) : conclude(parsed, given);
  };
  return function parseParted(value) {
    const refused = Object.keys(value as JsonObject).filter((name) => names.has(name)); // likewise
    if (refused.length > 0) return { ok: false, issues: refused.map(unknownArgument) };
    const checked = shown?.(value) ?? { ok: true as const, value };
    // What came goes on, not what the shown schema made of it: its defaults are those of the whole, and filled in there.
    const proceed = (settled: Parsed) => (settled.ok ? parseWhole(value) : settled);
    return isPromise(checked) ? checked.then(proceed) : proceed(checked);
  };
}

// The words are those for any name that is not there: what is withheld is not told.
function unknownArgument(name: string): Issue {
  return { path: `/${escapePointer(name)}`, message: 'is not a known argument.' };
}

/** What is shown, hashed and approved: the caller's part, with what defaults made of it. */
function givenOf(value: unknown, given: JsonObject, names: ReadonlySet<string>): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !isJson(value)) return given;
  return Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => !names.has(name))); // not a list, not null
}

const UNFIT: Issue = { path: '', message: 'do not go together with what is set for this tool; its owner has to look' };

/** Issues without those that speak of what callers do not see. */
function discreet(issues: readonly Issue[], names: ReadonlySet<string>): readonly Issue[] {
  const isAboutOthers = ({ path, message }: Issue) => {
    const [, top = ''] = path.split('/');
    return top !== '' && [...names].every((name) => escapePointer(name) !== top && !message.includes(`"${name}"`));
  };
  const told = issues.filter(isAboutOthers);
  return told.length === issues.length ? told : [...told, UNFIT];
}
