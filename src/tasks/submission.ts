import type { Caller } from '../core/caller.ts';
import type { Submission, TaskCall } from '../core/ports/stored-tasks.ts';
import { defined, describe, readOptions } from '../core/read-options.ts';
import type { SaidAlong } from '../core/tool-call.ts';
import { isInstance, ToolcribError, type ToolError, toolError } from '../core/tool-error.ts';

/** Options of a background call. */
export interface SubmitOptions extends Omit<SaidAlong, 'answers'> {
  /** The id of the task and of its call; generated if absent. */
  readonly id?: string;
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** Time to wait before the call, in milliseconds. */
  readonly delayMs?: number;
  /** Time of the call, in milliseconds since 1970. A time in the past means now. */
  readonly at?: number;
  /** From -100 to 100; tasks with a higher number run first. Default 0. */
  readonly priority?: number;
  /** Time in which the call must begin; default `tasks.expireMs`. */
  readonly expiresMs?: number;
  /** The name of a webhook in `tasks.webhooks` that is told about the end. */
  readonly notify?: string;
}

/** A background call as it enters the pipeline, or the reason why it cannot. */
export type ReadSubmission =
  | { readonly ok: true; readonly options: SubmitCallOptions; readonly submission: Submission }
  | { readonly ok: false; readonly error: ToolError };

type SubmitCallOptions = TaskCall & Pick<SubmitOptions, 'id' | 'door'>;

const CALL_KEYS = [
  'conversation',
  'turn',
  'timeZone',
  'idempotencyKey',
  'traceparent',
  'timeoutMs',
  'retries',
] as const;
const KEYS = [...CALL_KEYS, 'id', 'door', 'delayMs', 'at', 'priority', 'expiresMs', 'notify'] as const;

/** Options of a direct call that cannot be stored. */
const LIVE: Readonly<Record<string, string>> = {
  context: 'its objects exist only in this process',
  signal: 'cancel the task instead',
  onProgress: 'the task has the latest progress',
  onQuestion: 'the task shows the request that it waits for',
  answers: 'the task asks again when it runs',
  approvalId: 'the task requests its own approval',
};

/** The longest delay and lifetime of a task. */
export const LONGEST_MS = 366 * 86_400_000;
const MOST_PRIORITY = 100;

/** Reads the options of a background call. `now` is the time of this machine. */
export function readSubmission(given: unknown, now: number, { approve }: Caller): ReadSubmission {
  try {
    if (approve !== undefined) throw invalid(cannotHave('an approve callback', 'open the chest without it'));
    for (const [key, reason] of Object.entries(LIVE)) refuseLive(given, key, reason);
    const options = readOptions<SubmitOptions>(given ?? {}, KEYS, 'The options of submit()');
    const { delayMs, at, priority = 0, expiresMs, notify } = options;
    if (delayMs !== undefined && at !== undefined) throw invalid('Give "delayMs" or "at", not both.');
    requireTime('delayMs', delayMs, 0);
    requireTime('expiresMs', expiresMs, 1);
    if (at !== undefined && !(Number.isFinite(at) && at - now <= LONGEST_MS))
      throw invalid(`"at" must be a time in milliseconds since 1970, at most a year ahead, got ${describe(at)}.`);
    if (!(Number.isInteger(priority) && Math.abs(priority) <= MOST_PRIORITY))
      throw invalid(`"priority" must be a whole number from -100 to 100, got ${describe(priority)}.`);
    if (notify !== undefined && typeof notify !== 'string')
      throw invalid(`"notify" must be the name of a webhook, got ${describe(notify)}.`);
    const startMs = at === undefined ? (delayMs ?? 0) : Math.max(0, at - now);
    const call = defined(options, CALL_KEYS);
    const when = { delayMs: startMs, priority, ...defined({ lifetimeMs: expiresMs, notify }) };
    return { ok: true, options: { ...call, ...defined(options, ['id', 'door']) }, submission: { ...when, call } };
  } catch (cause) {
    const message = isInstance(cause, ToolcribError) ? cause.message : 'The options of submit() cannot be read.'; // a getter throws
    return { ok: false, error: toolError('invalid_input', message, { cause }) };
  }
}

function refuseLive(given: unknown, key: string, reason: string): void {
  if (typeof given !== 'object' || given === null || !(key in given)) return;
  throw invalid(cannotHave(`"${key}"`, reason));
}

function cannotHave(what: string, reason: string): string {
  return `A background call cannot have ${what}, because it runs later, perhaps in another process: ${reason}.`;
}

function requireTime(key: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isFinite(value) && value >= least && value <= LONGEST_MS)) return;
  const atLeast = least === 0 ? '0 or more' : 'above 0';
  throw invalid(`"${key}" must be ${atLeast} milliseconds and at most a year, got ${describe(value)}.`);
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_option', message);
}
