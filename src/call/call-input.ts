import { randomUUID } from 'node:crypto';
import { LONGEST_QUESTION } from '../core/approval-text.ts';
import { frozenCopy, isJsonObject, type JsonObject } from '../core/json.ts';
import { describe, readOptions } from '../core/read-options.ts';
import type { ClientAnswers, InputAnswers, Progress, SaidAlong } from '../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';

/** What a caller may say about one call. */
export interface CallOptions extends SaidAlong {
  /** Ends the call when it aborts. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** The id under which the call is known; made if absent. */
  readonly id?: string;
  /** Takes up a parked call of the same caller, profile, tool and arguments. */
  readonly approvalId?: string;
  /** Lets a call that needs an approval wait in the store where nobody can be asked at once; else it is denied. */
  readonly park?: boolean;
  /** Objects for this call alone, which reach its tool as `call.context` and no record. A call with some is never parked. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Takes the whole result, where a large one would be kept and only its beginning handed over. */
  readonly wholeResult?: boolean;
  onProgress?(progress: Progress): void;
  /** Told the id of a request that waits, by which the tool asks in the middle of the call. */
  onQuestion?(id: string): void;
}

/** A frozen copy of the answers that came along with a call: a person may be asked about them, so that nothing changes them later. */
export function readAnswers(value: unknown): ClientAnswers {
  const { approval, input } = readOptions<ClientAnswers>(value, ['approval', 'input'], '"answers" of a call');
  return Object.freeze({
    ...(approval !== undefined && { approval: approval === true }), // whatever is not a clear yes is a no
    ...(input !== undefined && { input: readInput(input) }),
  });
}

function readInput(value: unknown): InputAnswers {
  const { capabilities, responses, state } = readOptions<InputAnswers>(
    value,
    ['capabilities', 'responses', 'state'],
    '"answers.input" of a call',
  );
  if (state !== undefined && typeof state !== 'string')
    throw invalid('"answers.input.state" of a call must be a text.');
  const said = responses === undefined ? {} : readObject(responses, 'responses');
  return Object.freeze({
    ...(capabilities !== undefined && { capabilities: knownCapabilities(readObject(capabilities, 'capabilities')) }),
    ...(Object.keys(said).length > 0 && { responses: said }),
    ...(state !== undefined && { state }),
  });
}

/** Client capabilities of the protocol that let a server ask for input, and their members. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  elicitation: ['form', 'url'],
  sampling: ['context', 'tools'],
  roots: ['listChanged'],
};

/** Keeps what the protocol defines. Anything else would reach a server without having been shown. */
function knownCapabilities(declared: JsonObject): JsonObject {
  const known = Object.entries(KNOWN).flatMap(([name, parts]) => {
    const capability = declared[name];
    if (!isJsonObject(capability)) return [];
    const kept = parts.flatMap((part) => {
      const value = capability[part];
      if (typeof value === 'boolean') return [[part, value] as const];
      return isJsonObject(value) ? [[part, Object.freeze({})] as const] : [];
    });
    return [[name, Object.freeze(Object.fromEntries(kept))] as const];
  });
  return Object.freeze(Object.fromEntries(known));
}

function readObject(value: unknown, key: string): JsonObject {
  const copy = frozenCopy(value);
  if (isJsonObject(copy)) return copy;
  throw invalid(`"answers.input.${key}" of a call must be an object.`);
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}

/** A call by name and arguments. */
interface NamedCall {
  readonly name: string;
  readonly input: JsonObject;
}

const NO_INPUT: JsonObject = Object.freeze({});
const KEYS: readonly string[] = ['name', 'arguments'];
/** Of a name that is wrong: whoever sent it knows the rest. */
const MOST_REPEATED = 100;

/**
 * The call that a call of `call_tool` stands for, or what is wrong with it. It is made in its place, not inside of it:
 * guards, records and approvals see the tool that runs, once, with everything that came along with the call.
 */
export function unwrapCall(given: JsonObject): NamedCall | ToolError {
  const { name, arguments: input = NO_INPUT } = given;
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    return wrong(`/${unknown.slice(0, MOST_REPEATED)}`, 'is not known; the arguments of the tool stand in "arguments"');
  if (typeof name !== 'string' || name === '') return wrong('/name', 'must be the name of a tool');
  if (name === 'call_tool') return wrong('/name', 'must be another tool than call_tool itself');
  if (!isJsonObject(input)) return wrong('/arguments', 'must be an object');
  return { name, input };
}

function wrong(path: string, message: string): ToolError {
  return toolError('invalid_input', `call_tool: ${path.slice(1)} ${message}.`, { issues: [{ path, message }] });
}

/** A UUID of version 7. It begins with the time, so that ids of calls that follow one another lie together in every index. */
export const createCallId: () => string = timedIds();

/** Remembers the text of this millisecond: making it takes longer than all the rest. */
function timedIds(): () => string {
  let knownMs = 0;
  let begin = '';
  return () => {
    const now = Date.now();
    if (now !== knownMs) {
      const hex = now.toString(16).padStart(12, '0');
      begin = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
      knownMs = now;
    }
    return begin + randomUUID().slice(15);
  };
}

/** The objects of a call under their names. An instance is not taken apart: it would lose its methods. */
export function readContext(context: unknown): Pick<CallOptions, 'context'> {
  const what = 'The option "context" of a call';
  const known = typeof context === 'object' && context !== null ? Object.keys(context) : [];
  const read = readOptions<Record<string, unknown>>(context, known, what);
  const prototype: unknown = Object.getPrototypeOf(context);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new ToolcribError('invalid_option', `${what} must be a plain object; name what is in it: { session }.`);
  return Object.keys(read).length === 0 ? {} : { context: Object.freeze(read) };
}

/** A question that a tool asks in the middle of its call. */
export function readQuestion(question: unknown): string {
  if (typeof question === 'string' && question.trim() !== '' && question.length <= LONGEST_QUESTION) return question;
  const got = typeof question === 'string' && question.length > LONGEST_QUESTION ? 'a longer one' : describe(question);
  throw new ToolcribError(
    'invalid_option',
    `call.confirm takes a question of 1 to ${LONGEST_QUESTION} characters, got ${got}.`,
  );
}
