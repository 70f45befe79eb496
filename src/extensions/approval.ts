import type { ApprovalAnswer, ApprovalRequest } from '../core/caller.ts';
import type { Extension } from '../core/extension.ts';
import type { ApprovalMode } from '../core/policy.ts';
import type { Clock } from '../core/ports.ts';
import type { ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { type FailedResult, failed } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

export interface ApprovalOptions {
  /** Where neither tool nor profile speaks; `dangerous` if absent. */
  readonly mode?: ApprovalMode;
  /** How long a person has to answer; five minutes if absent. */
  readonly timeoutMs?: number;
}

/** Asks a person once per call, about valid arguments. Nobody to ask, no answer, or no clear yes: denied. */
export function approval(options: ApprovalOptions & { readonly clock: Clock }): Extension {
  const { clock, mode = 'dangerous', timeoutMs = 300_000 } = options;
  return {
    name: 'approval',
    priority: 750,
    unsafeOrder: true,
    defaults: { approval: mode },
    applies: (spec) => whyAsk(spec) !== undefined,
    async wrap(call, next) {
      const refusal = await refusalOf(call, clock, timeoutMs);
      return refusal ?? next(call);
    },
  };
}

/** Why a person must be asked, or `undefined` if nobody need be. */
function whyAsk(spec: ToolSpec): string | undefined {
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

async function refusalOf(call: ToolCall, clock: Clock, timeoutMs: number): Promise<FailedResult | undefined> {
  const { name, policy } = call.spec;
  // An answer sent by the asking client counts only where policy lets the caller answer for itself.
  if (policy.approvers?.includes('caller') && call.answers?.approval !== undefined) {
    return call.answers.approval === true ? undefined : deny(`The caller said no to "${name}".`);
  }
  if (call.caller.approve === undefined) {
    return deny(`"${name}" needs a person's approval because ${whyAsk(call.spec)}, and there is nobody to ask.`);
  }
  return ask(call, clock, timeoutMs);
}

function ask(call: ToolCall, clock: Clock, timeoutMs: number): Promise<FailedResult | undefined> {
  const { name } = call.spec;
  return new Promise((resolve) => {
    const fork = call.fork();
    const settle = (refusal: FailedResult | undefined) => {
      stopTimer();
      stopListening();
      if (refusal !== undefined) fork.abort(refusal.error);
      fork.release();
      resolve(refusal);
    };
    const stopTimer = clock.setTimer(timeoutMs, () =>
      settle(deny(`Nobody answered whether "${name}" may run within ${timeoutMs} ms.`)),
    );
    const stopListening = call.onAbort((reason) => settle(failed(reason)));
    const request = requestOf(call, fork.call.signal, clock.now() + timeoutMs);
    askPerson(call, request)
      .then((answer) => (isYes(answer) ? undefined : deny(`A person said no to "${name}"${noteOf(answer)}.`)))
      .catch((cause) => failed(toolError('denied', `Nobody could be asked whether "${name}" may run.`, { cause })))
      .then(settle);
  });
}

async function askPerson(call: ToolCall, request: ApprovalRequest): Promise<ApprovalAnswer | undefined> {
  return call.caller.approve?.(request);
}

function requestOf(call: ToolCall, signal: AbortSignal, expiresAt: number): ApprovalRequest {
  const { spec, caller } = call;
  return {
    id: call.id,
    tool: spec.name,
    ...(spec.title !== undefined && { title: spec.title }),
    description: spec.description,
    arguments: call.input,
    caller: {
      ...(caller.id !== undefined && { id: caller.id }),
      ...(caller.roles !== undefined && { roles: caller.roles }),
    },
    profile: call.profile,
    reason: whyAsk(spec) ?? 'policy',
    expiresAt: Math.round(expiresAt),
    signal,
  };
}

function isYes(answer: unknown): boolean {
  return (
    answer === true ||
    (typeof answer === 'object' && answer !== null && 'approved' in answer && answer.approved === true)
  );
}

function noteOf(answer: unknown): string {
  const note = typeof answer === 'object' && answer !== null && 'note' in answer ? answer.note : undefined;
  return typeof note === 'string' && note !== '' ? `: ${note}` : '';
}

function deny(message: string): FailedResult {
  return failed(toolError('denied', message));
}
