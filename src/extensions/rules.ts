import type { ExtensionRecord } from '../config/records.ts';
import type { Question } from '../core/approval-request.ts';
import { FORESEE } from '../core/extension.ts';
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

/** A rule that the arguments do not meet, and its demand. */
interface Unmet {
  readonly rule: Rule;
  readonly demand: string;
}

/** Checks validated arguments against the rules of the profile; never changes them. A rule that denies overrides one that requires approval. */
export const rules: ExtensionRecord = {
  name: 'rules',
  priority: 800,
  reason: 'checks valid arguments before approval is requested',
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
        else if (facts.asks !== undefined) delete facts.asks; // a gate further out retried the call
        return next(call);
      },
      [FORESEE](call) {
        const unmet = unmetRules(call, { schemas, typedOf });
        const denying = Array.isArray(unmet) ? unmet.find(({ rule }) => rule.otherwise === 'deny') : undefined;
        const refusal = denying === undefined ? (Array.isArray(unmet) ? undefined : unmet) : deny(call, denying);
        if (refusal !== undefined) return { verdict: 'refuse', says: refusal.error.message, error: refusal.error };
        if (!Array.isArray(unmet) || unmet.length === 0)
          return { verdict: 'pass', says: 'The arguments meet all rules.' };
        const question = questionOf(unmet);
        call[FACTS].asks = question;
        return { verdict: 'ask', says: question.reason };
      },
    };
  },
};

interface Judging {
  readonly schemas: Schemas;
  /** The schema of a rule with the types that its bounds imply. */
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
    return failed(
      toolError('unavailable', `"${name}" cannot be called: one of the rules for it is invalid.`, { cause }),
    );
  }
}

/** `undefined` stands for arguments that cannot be converted to JSON. */
type Forms = readonly (JsonValue | undefined)[];

/** The arguments as shown and, if different, as parsed by the author's schema. */
function formsOf(call: ToolCall): Forms {
  const parsed = call[PARSED];
  const { came = call.input } = call[FACTS];
  const input = withTakenOut(call.input, came);
  if (parsed === call.input) return [input];
  try {
    return [input, withTakenOut(withoutWithheld(copyJson(parsed), call), came)];
  } catch (cause) {
    if (!(cause instanceof NotJsonError)) throw cause;
    return [input, undefined]; // arguments that cannot be checked meet no rule
  }
}

/** Adds back the members that the author's schema removed. Rules use the names that callers see, so renaming one (`amount` to `cents`) does not evade a rule. */
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

/** Removes withheld arguments: callers neither set nor see them, so they cannot break a rule with them. */
function withoutWithheld(value: JsonValue, { spec }: ToolCall): JsonValue {
  const withheld = spec[RUN][WITHHELD];
  if (withheld === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const isGiven = (name: string) => !withheld.fixed.includes(name) && !withheld.hidden.includes(name);
  return Object.fromEntries(Object.entries(value).filter(([name]) => isGiven(name)));
}

/**
 * The demand of a rule that the arguments do not meet; undefined if they do. Every form must meet the rule as
 * written: otherwise `"5000"`, which the author's schema reads as a number, passes `maximum: 100`. At least one form
 * must have the types that the bounds imply: otherwise `"5000"` that stays a text passes.
 */
function demandOf({ when }: Rule, forms: Forms, { schemas, typedOf }: Judging): string | undefined {
  if (forms.includes(undefined)) return 'arguments that can be checked';
  const typed = forms.map((form) => issuesOf(form, schemas.parser(typedOf(when))));
  const written = forms.length === 1 ? [] : forms.map((form) => issuesOf(form, schemas.parser(when)));
  const isOfTypes = typed.some((issues) => issues.length === 0);
  const unmet = written.find((issues) => issues.length > 0) ?? (isOfTypes ? undefined : typed.at(-1));
  if (unmet === undefined) return undefined;
  return typeof when.description === 'string' ? when.description : inWords(unmet);
}

function issuesOf(form: JsonValue | undefined, check: Parse): readonly Issue[] {
  const parsed = check(form);
  if (isPromise(parsed)) throw new ToolcribError('invalid_schema', 'A rule must be checked synchronously.');
  return parsed.ok ? [] : parsed.issues;
}

const MAX_ISSUES = 5;

function inWords(issues: readonly Issue[]): string {
  const texts = issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${shownPath(path)} ${message}`);
  return [...texts, ...(issues.length > MAX_ISSUES ? ['and more'] : [])].join('; ').replace(/\.$/, '');
}

/** Callers may choose these names. A name with several words is quoted, so that it is not read as part of the message. */
function shownPath(path: string): string {
  if (path === '') return 'the arguments';
  return /^[\w/~.-]+$/.test(path) ? path : quoted(path);
}

function deny(call: ToolCall, { rule, demand }: Unmet): FailedResult {
  const { name } = call.spec;
  const message = `${ownerOf(rule)} does not allow these arguments of "${name}": ${demand}. Call it with arguments that meet the rule.`;
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
