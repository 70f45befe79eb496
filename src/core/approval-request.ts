import type { Approve, Caller } from './caller.ts';
import type { Foresight } from './extension.ts';
import type { MaybePromise } from './json.ts';
import type { ApprovalMode, Approver } from './policy.ts';
import { type Remember, readRemember } from './ports/remember.ts';
import type { KeepBounds } from './ports/stored-results.ts';
import type { TakenUp, ToolCall } from './tool-call.ts';
import type { ToolResult } from './tool-result.ts';
import type { ToolSpec } from './tool-spec.ts';

/** Reason for an approval request: a text for this call, and a `ground` that is the same for all calls with that reason. */
export interface Question {
  readonly reason: string;
  readonly ground: string;
  /** The question of a tool that asks during its call. */
  readonly asked?: string;
}

/** A granted approval. */
export interface Permit {
  readonly id: string;
  readonly by: string;
  /** True if it was remembered: the id is that of the request that was approved. */
  readonly isRemembered?: true;
  /** The call was parked: it runs with the options and caller it was parked with. */
  readonly takenUp?: TakenUp;
  /** Stores the result of the call that used the approval. */
  finish?(result: ToolResult): Promise<void>;
  /** Releases the approval because the call ended before its tool began. It is valid again until it expires. */
  giveBack?(result: ToolResult): Promise<void>;
}

/**
 * Returns a permit to run the call, a refusal, or the result of a call that has already run; `inner` if the call needs
 * no approval, and the one that it names is for a call inside it.
 */
export type Ask = (call: ToolCall, question: Question) => MaybePromise<Permit | ToolResult | 'inner'>;

/** Asks an approver a tool's question during its call. Everything but a clear yes is a no, including no answer. */
export type Confirm = (call: ToolCall, asked: string, approve: Approve | undefined) => Promise<boolean>;

/** True if a call of the tool may require approval. */
export function mayAsk(spec: ToolSpec): boolean {
  return whyAsk(spec) !== undefined || (spec.policy.rules ?? []).some(({ otherwise }) => otherwise !== 'deny');
}

/** The reason why every call of a tool requires approval, or `undefined` if it does not. */
export function whyAsk(spec: ToolSpec): string | undefined {
  switch (spec.policy.approval) {
    case 'always':
      return 'its policy requires approval for every call';
    case 'cautious':
      return spec.effects.readOnly === true ? undefined : 'it is not known to be read-only';
    case 'dangerous':
      return spec.effects.destructive === true ? 'it is destructive' : undefined;
    case 'never':
    case undefined:
      return undefined;
    default:
      return 'its approval mode is unknown'; // when in doubt, require approval
  }
}

/** The answer of the host's callback. Everything but a clear yes is a no. */
export interface HostAnswer {
  readonly isYes: boolean;
  readonly by: string;
  readonly note?: string;
  readonly remember?: Remember;
}

/** Reads the return value of an approval callback. */
export function readHostAnswer(answer: unknown): HostAnswer {
  if (typeof answer !== 'object' || answer === null) return { isYes: answer === true, by: 'host' };
  const { approved, note, by, remember } = answer as Readonly<Record<string, unknown>>; // read as unknown, then checked
  const read = readRemember(remember);
  return {
    isYes: approved === true,
    by: typeof by === 'string' && by !== '' ? by : 'host',
    ...(typeof note === 'string' && note !== '' && { note }),
    ...('remember' in read && { remember: read.remember }),
  };
}

/** The reason why a caller may not answer a request, or `undefined` if it may. The operator always may; the calling client only if the policy names `caller`. */
export function whyNotAnswer(
  request: { readonly callerId: string; readonly approvers: readonly Approver[]; readonly notByCaller?: string },
  by: Caller,
): string | undefined {
  const { callerId, approvers, notByCaller } = request;
  if (by.operator === true) return undefined;
  if (by.id === undefined) return 'an approver must have an id';
  if (by.id === callerId)
    return approvers.includes('caller') ? undefined : (notByCaller ?? 'a caller cannot approve its own calls');
  if ((by.roles ?? []).some((role) => approvers.includes(`role:${role}`))) return undefined;
  const roles = approvers.flatMap((who) => (who.startsWith('role:') ? [`a caller with the role ${who.slice(5)}`] : []));
  return `only ${['the operator', ...roles].join(' or ')} may answer it`;
}

/** Options of the approval extension. */
export interface ApprovalOptions extends Partial<KeepBounds> {
  /** The mode if neither tool nor profile sets one; default `dangerous`. */
  readonly mode?: ApprovalMode;
  /** Time to answer a request; default five minutes. */
  readonly timeoutMs?: number;
}

/** The functions of the approval extension. */
export interface ApprovalPorts {
  readonly ask: Ask;
  readonly confirm: Confirm;
  /** Judges a call without asking, claiming or counting anything. */
  foresee(call: ToolCall, question: Question): Promise<Foresight>;
  close?(): Promise<void>;
}
