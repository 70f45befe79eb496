import { isRecord, type JsonObject } from '../../core/json.ts';

/** The longest answer of a function, and the most that it may yield. */
export const MAX_ANSWER_BYTES = 10_000_000;

/** What a worker says about a request. All but `yield` are the last word. */
export type WorkerAnswer =
  | { readonly kind: 'yield'; readonly value: unknown; readonly size: number }
  | { readonly kind: 'ok' | 'end'; readonly value: unknown }
  | { readonly kind: 'fail'; readonly reason: FailKind; readonly message: string; readonly trace?: string }
  | { readonly kind: 'again'; readonly why: Again };

/** Why a function gave no answer: it raised, is not there, was given or gave what it may not, or was cancelled. */
type FailKind = 'raised' | 'missing' | 'invalid' | 'value' | 'large' | 'cancelled';

/** A call that was not run and is to be sent again, by whoever knows this. */
interface Again {
  /** A file of the tool has changed: another worker has to run it. */
  readonly stale?: true;
  /** The function is async, or no longer is. */
  readonly isAsync?: boolean;
  /** The function wants to know about the call. */
  readonly takesCall?: true;
}

/** One line of a worker: an answer to the request of this id, or that it is ready. */
export type WorkerLine = { readonly id: number; readonly answer: WorkerAnswer } | 'ready' | undefined;

/** Reads a line. Only our own code writes them; one that it did not write is nothing. */
export function readWorkerLine(text: string): WorkerLine {
  const message = parse(text);
  if (message === undefined) return undefined;
  const { id } = message;
  if (typeof id !== 'number') return 'ready' in message ? 'ready' : undefined;
  if ('ok' in message) return { id, answer: { kind: 'ok', value: message.ok } };
  if ('yield' in message) return { id, answer: { kind: 'yield', value: message.yield, size: text.length } };
  if ('end' in message) return { id, answer: { kind: 'end', value: message.end } };
  const { fail, again } = message as { readonly fail?: Failure; readonly again?: Again }; // our own words
  if (again !== undefined) return { id, answer: { kind: 'again', why: again } };
  if (fail === undefined) return undefined;
  const { kind: reason, message: said, trace } = fail;
  return { id, answer: { kind: 'fail', reason, message: said, ...(trace !== undefined && { trace }) } };
}

interface Failure {
  readonly kind: FailKind;
  readonly message: string;
  readonly trace?: string;
}

function parse(text: string): JsonObject | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isRecord(message) ? (message as JsonObject) : undefined; // what was parsed is JSON
  } catch {
    return undefined;
  }
}
