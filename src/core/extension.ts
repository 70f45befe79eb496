import type { Confirm } from './approval-request.ts';
import type { MaybePromise } from './json.ts';
import type { Policy } from './policy.ts';
import type { Selector } from './selector.ts';
import type { ToolCall } from './tool-call.ts';
import { ToolcribError } from './tool-error.ts';
import type { ToolResult } from './tool-result.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Goes on with the call, or with a derived one. Calling it again is a retry, and a `conflict` where the tool has run and may not be repeated. */
export type Next = (call?: ToolCall) => MaybePromise<ToolResult>;

/** The key under which the extension that asks people answers what tools ask in the middle of their calls. */
export const CONFIRM: unique symbol = Symbol('toolcrib.confirm');

/** Takes part in every call it applies to: a gate that wraps, or an observer that watches. */
export interface Extension {
  readonly name: string;
  /** Higher runs further out. */
  readonly priority: number | PriorityName;
  /** Required of a gate outside 700-300, where the built-in order gives its guarantees. */
  readonly unsafeOrder?: boolean;
  /** What holds where neither tool nor profile speaks. */
  readonly defaults?: Policy;
  /** Selectors it goes by, under what they are called; those that match no tool are reported. */
  readonly selectors?: Readonly<Record<string, readonly Selector[]>>;
  /** Asked once per tool, not per call. */
  applies?(spec: ToolSpec): boolean;
  /** A gate: no `next` refuses, `next` again retries. A throw refuses. */
  wrap?(call: ToolCall, next: Next): MaybePromise<ToolResult>;
  /** An observer: isolated, never breaks a call. */
  onStart?(call: ToolCall): void;
  onEnd?(call: ToolCall, result: ToolResult): void;
  /** May rewrite description, title and schema text of what is shown; never the name, never the set. */
  onList?(specs: readonly ToolSpec[]): readonly ToolSpec[];
  close?(): Promise<void>;
  readonly [CONFIRM]?: Confirm;
}

/** The key in the context of a call by which it is found out whether something that was down works again. A symbol: no name of the host's is taken. */
export const IS_PROBE: unique symbol = Symbol('toolcrib.isProbe');

/** The place of the rate limit: gates from here outward also judge calls of names that no tool has. */
export const RATE_LIMIT_PRIORITY = 950;

const PRIORITIES = { highest: 700, high: 600, normal: 500, low: 400, lowest: 300 } as const;
export type PriorityName = keyof typeof PRIORITIES;
export const PRIORITY_NAMES: readonly string[] = Object.keys(PRIORITIES);

/** A priority as a number. */
export function toPriority(priority: number | PriorityName): number {
  const value = typeof priority === 'string' ? PRIORITIES[priority] : priority;
  if (Number.isFinite(value)) return value;
  throw new ToolcribError(
    'invalid_option',
    `${JSON.stringify(priority)} is not a priority: use a number or one of ${PRIORITY_NAMES.join(', ')}.`,
  );
}
