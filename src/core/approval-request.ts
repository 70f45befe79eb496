import type { Approve, Caller } from './caller.ts';
import type { MaybePromise } from './json.ts';
import type { ApprovalMode, Approver } from './policy.ts';
import type { Remember } from './ports/stored-approvals.ts';
import type { KeepBounds } from './ports/stored-results.ts';
import type { TakenUp, ToolCall } from './tool-call.ts';
import type { ToolResult } from './tool-result.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Why a person is asked, in words for this call; and what asks, the same for every call that it asks about. */
export interface Question {
  readonly reason: string;
  readonly ground: string;
  /** What a tool asks in the middle of its call, where that is what is asked. */
  readonly asked?: string;
}

/** Somebody said yes. */
export interface Permit {
  readonly id: string;
  readonly by: string;
  /** The call was parked: it runs with what was said along with it then. */
  readonly takenUp?: TakenUp;
  /** Notes how the call ended that runs under it. */
  finish?(result: ToolResult): Promise<void>;
  /** The call ended before its tool began: the yes counts again until it expires. */
  giveBack?(result: ToolResult): Promise<void>;
}

/** Finds out whether a call may run: the yes; or why it does not run now; or the result where it has been run. */
export type Ask = (call: ToolCall, question: Question) => MaybePromise<Permit | ToolResult>;

/** Asks a person what a tool wants to know in the middle of its call. Whatever is not a clear yes is a no: also that nobody answers. */
export type Confirm = (call: ToolCall, asked: string, approve: Approve | undefined) => Promise<boolean>;

/** True if some call of the tool may have to ask. */
export function mayAsk(spec: ToolSpec): boolean {
  return whyAsk(spec) !== undefined || (spec.policy.rules ?? []).some(({ otherwise }) => otherwise !== 'deny');
}

/** Why a person must be asked about every call of a tool, or `undefined` if nobody need be. */
export function whyAsk(spec: ToolSpec): string | undefined {
  switch (spec.policy.approval) {
    case 'always':
      return 'it always asks first';
    case 'cautious':
      return spec.effects.readOnly === true ? undefined : 'it is not known to be read-only';
    case 'dangerous':
      return spec.effects.destructive === true ? 'it is destructive' : undefined;
    case 'never':
    case undefined:
      return undefined;
    default:
      return 'its mode of approval is unknown'; // unsure means ask
  }
}

/** What the host's person said. Whatever is no clear yes is a no. */
export interface HostAnswer {
  readonly isYes: boolean;
  readonly by: string;
  readonly note?: string;
  readonly remember?: Remember;
}

/** Reads what a callback returned, which may be anything. */
export function readHostAnswer(answer: unknown): HostAnswer {
  if (typeof answer !== 'object' || answer === null) return { isYes: answer === true, by: 'host' };
  const { approved, note, by, remember } = answer as Readonly<Record<string, unknown>>; // read as unknown, then checked
  return {
    isYes: approved === true,
    by: typeof by === 'string' && by !== '' ? by : 'host',
    ...(typeof note === 'string' && note !== '' && { note }),
    ...(isRemember(remember) && { remember }),
  };
}

/** True for what a yes can be remembered for. */
export function isRemember(value: unknown): value is Remember {
  if (value === 'conversation' || value === 'arguments') return true;
  const forMs: unknown = typeof value === 'object' && value !== null && 'forMs' in value ? value.forMs : undefined;
  return typeof forMs === 'number' && Number.isFinite(forMs) && forMs > 0;
}

/** Why somebody may not answer a request, or `undefined` if they may. An operator always may; who asked, only where policy says `caller`. */
export function whyNotAnswer(
  request: { readonly callerId: string; readonly approvers: readonly Approver[]; readonly notByCaller?: string },
  by: Caller,
): string | undefined {
  const { callerId, approvers, notByCaller } = request;
  if (by.operator === true) return undefined;
  if (by.id === undefined) return 'whoever answers must say who they are';
  if (by.id === callerId)
    return approvers.includes('caller')
      ? undefined
      : (notByCaller ?? 'nobody approves their own calls; ask somebody else');
  if ((by.roles ?? []).some((role) => approvers.includes(`role:${role}`))) return undefined;
  const roles = approvers.flatMap((who) => (who.startsWith('role:') ? [`who has the role ${who.slice(5)}`] : []));
  return `it takes ${['an operator', ...roles].join(', or ')}`;
}

/** When a person is asked, and bounds on the requests that wait in the store. */
export interface ApprovalOptions extends Partial<KeepBounds> {
  /** Where neither tool nor profile speaks; `dangerous` if absent. */
  readonly mode?: ApprovalMode;
  /** How long a person has to answer; five minutes if absent. */
  readonly timeoutMs?: number;
}

/** Who is asked, and what ends with the crib. */
export interface ApprovalPorts {
  readonly ask: Ask;
  readonly confirm: Confirm;
  close?(): Promise<void>;
}
