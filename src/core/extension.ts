import type { Confirm } from './approval-request.ts';
import type { MaybePromise } from './json.ts';
import type { Policy } from './policy.ts';
import type { Selector } from './selector.ts';
import type { ToolCall } from './tool-call.ts';
import { ToolcribError, type ToolError } from './tool-error.ts';
import type { ToolResult } from './tool-result.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Continues with the call or a derived one. Calling it again is a retry; it returns `conflict` if the tool has run and may not be repeated. */
export type Next = (call?: ToolCall) => MaybePromise<ToolResult>;

/** The key under which the approval extension provides `call.confirm`. */
export const CONFIRM: unique symbol = Symbol('toolcrib.confirm');

/** The key under which a built-in gate tells what it would do with a call. */
export const FORESEE: unique symbol = Symbol('toolcrib.foresee');

/** The key that marks a gate of the crib itself: it gets results that come later as `PendingResult`. */
export const BUILT_IN: unique symbol = Symbol('toolcrib.builtIn');

/** The verdict of a gate about a call that is not made. `call` is the call as it would go on, if the gate changes it. */
export interface Foresight {
  readonly verdict: 'pass' | 'ask' | 'refuse' | 'unknown';
  /** The reason in words. */
  readonly says: string;
  /** Prices and limits behind the reason, for operators. */
  readonly detail?: string;
  readonly error?: ToolError;
  readonly call?: ToolCall;
}

/** Code on the path of a call: a gate that wraps it, or an observer that only sees it. */
export interface Extension {
  readonly name: string;
  /** A higher priority is further out. */
  readonly priority: number | PriorityName;
  /** Required for a gate outside 300 to 700, because it can break the guarantees of the built-in order. */
  readonly unsafeOrder?: boolean;
  /** The policy if neither tool nor profile sets one. */
  readonly defaults?: Policy;
  /** The selectors it uses, by option name. Selectors that match no tool are reported. */
  readonly selectors?: Readonly<Record<string, readonly Selector[]>>;
  /** Called once per tool, not per call. */
  applies?(spec: ToolSpec): boolean;
  /** A gate: not calling `next` refuses, calling it again retries, a throw refuses. */
  wrap?(call: ToolCall, next: Next): MaybePromise<ToolResult>;
  /** An observer: its errors never break a call. */
  onStart?(call: ToolCall): void;
  onEnd?(call: ToolCall, result: ToolResult): void;
  /** May rewrite the description, title and schema texts of listed tools, but not names, and not which tools are listed. */
  onList?(specs: readonly ToolSpec[]): readonly ToolSpec[];
  close?(): Promise<void>;
  readonly [CONFIRM]?: Confirm;
  readonly [BUILT_IN]?: true;
  /** Judges a call without running, charging or asking anything. Undefined if the gate has nothing to say about it. */
  [FORESEE]?(call: ToolCall): MaybePromise<Foresight | undefined>;
}

/** The context key of a call that probes whether a failed upstream works again. A symbol, so that it cannot clash with names of the host. */
export const IS_PROBE: unique symbol = Symbol('toolcrib.isProbe');

/** Priority of the rate limit. Gates from here outward also see calls of unknown tools. */
export const RATE_LIMIT_PRIORITY = 950;

/** Gates from here outward judge a background call when it is submitted. All gates judge it when it runs. */
export const SUBMIT_PRIORITY = 785;

/** Priority of the gate that hands calls to workers. Gates further in judge such calls on the worker only. */
export const HAND_OVER_PRIORITY = 784;

const PRIORITIES = { highest: 700, high: 600, normal: 500, low: 400, lowest: 300 } as const;
export type PriorityName = keyof typeof PRIORITIES;
export const PRIORITY_NAMES: readonly string[] = Object.keys(PRIORITIES);

/** Converts a priority to a number. */
export function toPriority(priority: number | PriorityName): number {
  const value = typeof priority === 'string' ? PRIORITIES[priority] : priority;
  if (Number.isFinite(value)) return value;
  throw new ToolcribError(
    'invalid_option',
    `${JSON.stringify(priority)} is not a priority: use a number or one of ${PRIORITY_NAMES.join(', ')}.`,
  );
}
