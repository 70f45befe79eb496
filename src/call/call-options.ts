import { NotJsonError } from '../core/json.ts';
import { readOptions } from '../core/read-options.ts';
import { type Issue, isInstance, ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';
import { type CallOptions, readAnswers, readContext } from './call-input.ts';

const OPTION_KEYS = [
  'signal',
  'timeoutMs',
  'retries',
  'conversation',
  'turn',
  'timeZone',
  'id',
  'door',
  'answers',
  'approvalId',
  'park',
  'batch',
  'context',
  'idempotencyKey',
  'wholeResult',
  'traceparent',
  'onProgress',
  'onQuestion',
] as const;

/** The options of a call without options. */
export const NO_OPTIONS: CallOptions = Object.freeze({});

/** The error of a call that cannot begin. A class, so that no arguments can look like one. */
export class Refusal {
  readonly error: ToolError;
  constructor(error: ToolError) {
    this.error = error;
  }
}

/** The options with the context that was read. Few calls have one. */
function withContext({ context, ...rest }: CallOptions): CallOptions {
  return { ...rest, ...readContext(context) };
}

/** Reads the options of a call, or refuses them. */
export function readCallOptions(options: CallOptions | undefined): CallOptions | Refusal {
  if (options === undefined) return NO_OPTIONS;
  try {
    const given = readOptions<CallOptions>(options, OPTION_KEYS, 'The options of a call');
    if (given.signal !== undefined && !isSignal(given.signal))
      return invalid('The option "signal" of a call must be an AbortSignal.');
    if (given.timeoutMs !== undefined && !(typeof given.timeoutMs === 'number' && given.timeoutMs > 0))
      return invalid('The option "timeoutMs" of a call must be above 0.');
    if (given.retries !== undefined && !(typeof given.retries === 'number' && given.retries >= 0))
      return invalid('The option "retries" of a call must be 0 or more.');
    const { answers } = given;
    const read = given.context === undefined ? given : withContext(given);
    return wrongText(given) ?? (answers === undefined ? read : { ...read, answers: readAnswers(answers) });
  } catch (cause) {
    return unreadable(cause);
  }
}

/** True for a signal that can be used: the prototype alone has no state. */
function isSignal(value: unknown): boolean {
  return value instanceof AbortSignal && typeof value.aborted === 'boolean';
}

/** The refusal for options that cannot be read. A proxy may throw anything. */
function unreadable(cause: unknown): Refusal {
  if (isInstance(cause, NotJsonError)) return invalid(`"answers" of a call cannot be sent: ${cause.message}.`, cause);
  const message = isInstance(cause, ToolcribError) ? cause.message : 'The options of a call cannot be read.';
  return invalid(message, cause);
}

/** Not `traceparent`: it comes from headers, so an invalid one is ignored and fails no call. */
const TEXT_KEYS = ['approvalId', 'batch', 'idempotencyKey', 'conversation', 'turn', 'timeZone', 'door', 'id'] as const;
const LONGEST_TEXT = 200;

function wrongText(given: CallOptions): Refusal | undefined {
  const wrong = TEXT_KEYS.find((key) => {
    const value: unknown = given[key];
    return value !== undefined && (typeof value !== 'string' || value === '' || value.length > LONGEST_TEXT);
  });
  if (wrong === undefined) return undefined;
  return invalid(`The option "${wrong}" of a call must be a text of 1 to ${LONGEST_TEXT} characters.`);
}

/** The refusal of a call that was made wrongly. */
export function invalid(message: string, cause?: unknown, issues?: readonly Issue[]): Refusal {
  return new Refusal(toolError('invalid_input', message, { cause, ...(issues !== undefined && { issues }) }));
}
