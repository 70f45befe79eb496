import { randomUUID } from 'node:crypto';
import { LONGEST_QUESTION } from '../core/approval-text.ts';
import { frozenCopy, isJsonObject, type JsonObject } from '../core/json.ts';
import { describe, keysOf, readMember, readOptions } from '../core/read-options.ts';
import type { ClientAnswers, InputAnswers, Progress, SaidAlong } from '../core/tool-call.ts';
import { ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';

/** Options of a call. */
export interface CallOptions extends SaidAlong {
  /** Cancels the call when it aborts. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** The id of the call; generated if absent. */
  readonly id?: string;
  /** Continues a parked call of the same caller, profile, tool and arguments. */
  readonly approvalId?: string;
  /** Parks a call that needs approval if no approver can answer at once; otherwise it is denied. */
  readonly park?: boolean;
  /** For inner calls of a script: the requests of one batch are answered together after the batch is sealed. */
  readonly batch?: string;
  /** Objects for this call only, available to its tool as `call.context` and never recorded. Such a call is never parked. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Returns the complete result. Otherwise a large result is stored and only its beginning is returned. */
  readonly wholeResult?: boolean;
  onProgress?(progress: Progress): void;
  /** Called with the id of the request by which the tool asks during the call. */
  onQuestion?(id: string): void;
}

/** Returns a frozen copy of the client's answers, so that approved answers cannot change later. */
export function readAnswers(value: unknown): ClientAnswers {
  const { approval, input } = readOptions<ClientAnswers>(value, ['approval', 'input'], '"answers" of a call');
  return Object.freeze({
    ...(approval !== undefined && { approval: approval === true }), // everything but true is a no
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

/** MCP client capabilities that let a server request input, with their members. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  elicitation: ['form', 'url'],
  sampling: ['context', 'tools'],
  roots: ['listChanged'],
};

/** Keeps only what the protocol defines. Anything else would reach a server without being shown to an approver. */
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
/** Maximum length of a wrong name in an error. */
const MOST_REPEATED = 100;

/**
 * The call that a `call_tool` call stands for, or its error. It replaces the `call_tool` call instead of being
 * nested: guards, records and approvals see the actual tool, once, with all options of the call.
 */
export function unwrapCall(given: JsonObject): NamedCall | ToolError {
  const { name, arguments: input = NO_INPUT } = given;
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    return wrong(`/${unknown.slice(0, MOST_REPEATED)}`, 'is not known; put the arguments of the tool into "arguments"');
  if (typeof name !== 'string' || name === '') return wrong('/name', 'must be the name of a tool');
  if (name === 'call_tool') return wrong('/name', 'must be a tool other than call_tool');
  if (!isJsonObject(input)) return wrong('/arguments', 'must be an object');
  return { name, input };
}

function wrong(path: string, message: string): ToolError {
  return toolError('invalid_input', `call_tool: ${path.slice(1)} ${message}.`, { issues: [{ path, message }] });
}

/** Creates a UUID version 7. It starts with the time, so ids of successive calls are adjacent in an index. */
export const createCallId: () => string = timedIds();

/** Caches the text of the current millisecond, which is the expensive part. */
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

/** Reads the context objects by name. A class instance is refused, because copying would lose its methods. */
export function readContext(context: unknown): Pick<CallOptions, 'context'> {
  const what = 'The option "context" of a call';
  const known = typeof context === 'object' && context !== null ? keysOf(context, what) : [];
  const read = readOptions<Record<string, unknown>>(context, known, what);
  const prototype: unknown = Object.getPrototypeOf(context);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    throw new ToolcribError('invalid_option', `${what} must be a plain object such as { session }.`);
  return Object.keys(read).length === 0 ? {} : { context: Object.freeze(read) };
}

/** Reads the question of a tool that asks during its call. */
export function readQuestion(question: unknown): string {
  if (typeof question === 'string' && question.trim() !== '' && question.length <= LONGEST_QUESTION) return question;
  const got = typeof question === 'string' && question.length > LONGEST_QUESTION ? 'a longer one' : describe(question);
  throw new ToolcribError(
    'invalid_option',
    `call.confirm takes a question of 1 to ${LONGEST_QUESTION} characters, got ${got}.`,
  );
}

/** Reads an entry of a batch. A batch comes from a model: an entry may be anything and must not affect the others. */
export function readRequest(request: unknown): { readonly id: string; readonly name: string; readonly input: unknown } {
  if (typeof request !== 'object' || request === null) return { id: '', name: '', input: undefined };
  const [id, name] = [memberOf(request, 'id'), memberOf(request, 'name')];
  return {
    id: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : '',
    input: memberOf(request, 'input'),
  };
}

/** Reads a member. If that throws, returns a symbol, which is invalid as id, name and arguments. */
function memberOf(request: object, key: string): unknown {
  try {
    return readMember(request, key, 'a call');
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    return Symbol('unreadable');
  }
}
