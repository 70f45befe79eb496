import type { ExtensionRecord } from '../config/records.ts';
import type { Question } from '../core/approval-request.ts';
import {
  canonicalJson,
  copyJson,
  isJsonObject,
  isPromise,
  type JsonSchema,
  type JsonValue,
  NotJsonError,
} from '../core/json.ts';
import type { Rule } from '../core/policy.ts';
import type { Schemas } from '../core/ports/crib-context.ts';
import { FACTS, PARSED, type ToolCall } from '../core/tool-call.ts';
import { type Issue, ToolcribError, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed } from '../core/tool-result.ts';
import { type Parse, RUN, WITHHELD } from '../core/tool-spec.ts';
import { quoted } from '../core/visible-text.ts';
import { withImpliedTypes } from '../schemas/implied-types.ts';

/** A rule that these arguments do not meet, and what it demands. */
interface Unmet {
  readonly rule: Rule;
  readonly demand: string;
}

/** Judges valid arguments by the rules of the profile, and changes nothing in them. A rule that denies beats one that asks. */
export const rules: ExtensionRecord = {
  name: 'rules',
  priority: 800,
  reason: 'judges valid arguments, before anybody is asked about them',
  make(_options, { schemas }) {
    const typed = new WeakMap<JsonSchema, JsonSchema>();
    const typedOf = (when: JsonSchema): JsonSchema => {
      const made = typed.get(when) ?? withImpliedTypes(when);
      typed.set(when, made);
      return made;
    };
    return {
      applies: ({ policy }) => (policy.rules ?? []).length > 0,
      wrap(call, next) {
        const unmet = unmetRules(call, { schemas, typedOf });
        if (!Array.isArray(unmet)) return unmet;
        const denying = unmet.find(({ rule }) => rule.otherwise === 'deny');
        if (denying !== undefined) return deny(call, denying);
        const facts = call[FACTS];
        if (unmet.length > 0) facts.asks = questionOf(unmet);
        else if (facts.asks !== undefined) delete facts.asks; // tried again by somebody further out
        return next(call);
      },
    };
  },
};

interface Judging {
  readonly schemas: Schemas;
  /** The schema of a rule in which bounds imply types. */
  typedOf(when: JsonSchema): JsonSchema;
}

function unmetRules(call: ToolCall, judging: Judging): Unmet[] | FailedResult {
  const { policy, name } = call.spec;
  const forms = formsOf(call);
  try {
    return (policy.rules ?? []).flatMap((rule) => {
      const demand = demandOf(rule, forms, judging);
      return demand === undefined ? [] : [{ rule, demand }];
    });
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return failed(toolError('unavailable', `"${name}" cannot be called: one of its rules is broken.`, { cause }));
  }
}

/** `undefined` stands for what cannot be looked at. */
type Forms = readonly (JsonValue | undefined)[];

/** The arguments as they are shown, and as the author's schema read them, where it made something else of them. */
function formsOf(call: ToolCall): Forms {
  const parsed = call[PARSED];
  const { came = call.input } = call[FACTS];
  const input = withTakenOut(call.input, came);
  if (parsed === call.input) return [input];
  try {
    return [input, withTakenOut(withoutWithheld(copyJson(parsed), call), came)];
  } catch (cause) {
    if (!(cause instanceof NotJsonError)) throw cause;
    return [input, undefined]; // what cannot be looked at meets no rule
  }
}

/**
 * What the author's schema made of a value, with the members that it took out. A rule speaks of names that callers see;
 * to rename one (`amount` to `cents`) is not to meet the rule.
 */
function withTakenOut(made: JsonValue, came: JsonValue | undefined): JsonValue {
  if (made === came || came === undefined) return made;
  if (Array.isArray(made) && Array.isArray(came))
    return made.length === came.length ? made.map((item, index) => withTakenOut(item, came[index])) : made;
  if (!isJsonObject(made) || !isJsonObject(came)) return made;
  const kept = Object.entries(made).map(([name, value]) => {
    return [name, withTakenOut(value, Object.hasOwn(came, name) ? came[name] : undefined)] as const;
  });
  return Object.fromEntries([...Object.entries(came), ...kept]);
}

/** What the owner fixed is not for callers to know, nor theirs to break a rule with. */
function withoutWithheld(value: JsonValue, { spec }: ToolCall): JsonValue {
  const withheld = spec[RUN][WITHHELD];
  if (withheld === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const isGiven = (name: string) => !withheld.fixed.includes(name) && !withheld.hidden.includes(name);
  return Object.fromEntries(Object.entries(value).filter(([name]) => isGiven(name)));
}

/**
 * What the rule demands of arguments that do not meet it; undefined if they do. Every form must meet the rule as it is
 * written, else `"5000"` that the author's schema reads as a number gets past `maximum: 100`. One of them must be of the
 * types that the bounds imply, else `"5000"` that stays a text does.
 */
function demandOf({ when }: Rule, forms: Forms, { schemas, typedOf }: Judging): string | undefined {
  if (forms.includes(undefined)) return 'arguments that can be judged';
  const typed = forms.map((form) => issuesOf(form, schemas.parser(typedOf(when))));
  const written = forms.length === 1 ? [] : forms.map((form) => issuesOf(form, schemas.parser(when)));
  const isOfTypes = typed.some((issues) => issues.length === 0);
  const unmet = written.find((issues) => issues.length > 0) ?? (isOfTypes ? undefined : typed.at(-1));
  if (unmet === undefined) return undefined;
  return typeof when.description === 'string' ? when.description : inWords(unmet);
}

function issuesOf(form: JsonValue | undefined, check: Parse): readonly Issue[] {
  const parsed = check(form);
  if (isPromise(parsed)) throw new ToolcribError('invalid_schema', 'A rule cannot be judged at once.');
  return parsed.ok ? [] : parsed.issues;
}

const MAX_ISSUES = 5;

function inWords(issues: readonly Issue[]): string {
  const texts = issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${shownPath(path)} ${message}`);
  return [...texts, ...(issues.length > MAX_ISSUES ? ['and more'] : [])].join('; ').replace(/\.$/, '');
}

/** The caller may have chosen the names in it: one of several words stands between quotes, so that it is not read as ours. */
function shownPath(path: string): string {
  if (path === '') return 'the arguments';
  return /^[\w/~.-]+$/.test(path) ? path : quoted(path);
}

function deny(call: ToolCall, { rule, demand }: Unmet): FailedResult {
  const { name } = call.spec;
  const message = `${ownerOf(rule)} does not allow these arguments of "${name}": ${demand}. Call it with arguments that meet the rule, or not at all.`;
  return failed(toolError('denied', message));
}

function questionOf(unmet: readonly Unmet[]): Question {
  const reasons = unmet.map(({ rule, demand }) => `${ownerOf(rule, 'a')} is not met: ${demand}`);
  return { reason: reasons.join('; '), ground: canonicalJson(unmet.map(({ rule }) => rule)) };
}

function ownerOf({ of = '' }: Rule, article = 'A'): string {
  return of.startsWith('profile:')
    ? `${article} rule of the profile "${of.slice('profile:'.length)}"`
    : `${article} rule`;
}
