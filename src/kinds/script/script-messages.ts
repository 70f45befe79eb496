import type { ToolError } from '../../core/tool-error.ts';

/** QuickJS, compiled: a `WebAssembly.Module`. The compiler options include no platform types. */
export type CompiledMachine = object;

/** Limits of one script. */
export interface ScriptLimits {
  /** Time in which the script itself computes; waiting for calls does not count. */
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly stackKb: number;
  /** Calls and searches of one script. */
  readonly maxCalls: number;
  /** Calls of one script at the same time; further ones wait. */
  readonly parallelCalls: number;
  /** Bytes of the result, and of the console. */
  readonly maxOutputBytes: number;
  /** Results that are kept so that the script can wait. */
  readonly journalMb: number;
}

/** Characters of the code of a script, and of the arguments of one call. */
export const LONGEST_CODE = 200_000;
export const LONGEST_ARGUMENTS = 1_000_000;

/** A script to run in a fresh machine. */
export interface ScriptStart {
  readonly kind: 'start';
  readonly code: string;
  /** The value of `input`, as JSON. */
  readonly input: string;
  readonly limits: ScriptLimits;
  /** Seed of `Math.random`, and the first value of `Date.now`. */
  readonly seed: number;
  readonly now: number;
}

/** A call or a search of a script. */
export interface InnerRequest {
  /** Counted from 0, in the order in which the script asks. */
  readonly index: number;
  readonly kind: 'call' | 'search';
  /** The name of the tool, or the words of the search. */
  readonly name: string;
  /** The arguments, or the options of the search, as JSON. */
  readonly input: string;
}

/** The answer to a request: a value as JSON, or an error to throw. */
export interface InnerAnswer {
  readonly index: number;
  /** The time at which the script receives it. */
  readonly now: number;
  readonly isOk: boolean;
  /** The value as JSON (absent: undefined), or the members of the error as JSON. */
  readonly text: string | undefined;
}

/** An answer without its place. */
export type SentAnswer = Pick<InnerAnswer, 'isOk' | 'text'>;

/** Answers for a running script, in the order in which it receives them. */
interface ScriptAnswers {
  readonly kind: 'answers';
  readonly answers: readonly InnerAnswer[];
}

/** Discards the machine of a script that waits: the script is replayed in another one. */
interface ScriptDiscard {
  readonly kind: 'discard';
}

export type ToScriptThread = ScriptStart | ScriptAnswers | ScriptDiscard;

/** The way in which a script ended. */
export type ScriptEnd =
  /** `text` is the returned value as JSON; absent if the script returned nothing. */
  | { readonly kind: 'returned'; readonly text?: string }
  | { readonly kind: 'thrown'; readonly error: ThrownError }
  | { readonly kind: 'syntax'; readonly message: string }
  /** A limit was reached, or the machine broke. The thread must not be used again. */
  | { readonly kind: 'cpu' | 'memory' | 'stack' | 'broken' }
  | { readonly kind: 'output' | 'unsettled' }
  /** The replay of a script asked for something else than before. */
  | { readonly kind: 'diverged'; readonly message: string };

/** An error that a script did not catch. Everything in it comes from the script. */
export interface ThrownError {
  readonly text: string;
  readonly code?: string;
  readonly line?: number;
}

/** The first message of a thread. */
export const READY = 'ready';

/** The requests and console lines of a script since the last message. */
export interface ScriptTurn {
  readonly requests: readonly InnerRequest[];
  readonly lines: readonly string[];
  readonly end?: ScriptEnd;
}

/** The members of an error that a script can read. */
export type ScriptError = Pick<ToolError, 'code' | 'message' | 'retryable' | 'retryAfterMs' | 'issues'> & {
  readonly tool?: string;
};
