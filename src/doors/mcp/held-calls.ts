import type { InputRequiredResult } from '@modelcontextprotocol/server';
import type { CallOptions } from '../../call/call-input.ts';
import { toolError } from '../../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { idleClock } from '../../system/clock.ts';
import type { Gateway } from './context.ts';
import { type AnsweredRound, askInside, type Round } from './input-rounds.ts';

/** The next step of a call: its result or a question. */
type CallStep = { readonly result: ToolResult } | { readonly question: string };

/** A running call that can ask its client questions. */
interface HeldCall {
  /** Waits for the next step. The call is cancelled if its request ends while no question is open. */
  step(signal: AbortSignal): Promise<CallStep>;
  /** Holds the call until `expiresAt` for the request that answers the question; the current request ends now. */
  holdFor(question: string, expiresAt: number): void;
}

/** Calls that stay in memory while their client answers a question. */
export interface HeldCalls {
  begin(work: (options: Pick<CallOptions, 'signal' | 'onQuestion'>) => Promise<ToolResult>): HeldCall;
  /** Returns the call that asked a question, only once; undefined if this process does not hold it. */
  takeUp(question: string): HeldCall | undefined;
}

export function createHeldCalls(): HeldCalls {
  const held = new Map<string, HeldCall>();
  return {
    begin(work) {
      const ended = new AbortController();
      const questions: string[] = [];
      let tellNext = () => {};
      const result = work({
        signal: ended.signal,
        onQuestion(id) {
          questions.push(id);
          tellNext();
        },
      }).then((settled): CallStep => ({ result: settled }));
      const nextQuestion = () =>
        new Promise<CallStep>((resolve) => {
          tellNext = () => {
            const question = questions.shift();
            if (question === undefined) return;
            tellNext = () => {}; // further questions wait for the next step
            resolve({ question });
          };
          tellNext();
        });
      const call: HeldCall = {
        async step(signal) {
          const end = () => ended.abort();
          signal.addEventListener('abort', end);
          if (signal.aborted) end();
          try {
            return await Promise.race([result, nextQuestion()]);
          } finally {
            signal.removeEventListener('abort', end);
          }
        },
        holdFor(question, expiresAt) {
          held.set(question, call);
          // The call itself handles its timeout; a client that answers later does not find the call.
          idleClock.setTimer(Math.max(0, expiresAt - Date.now()), () => held.delete(question));
        },
      };
      return call;
    },
    takeUp(question) {
      const call = held.get(question);
      held.delete(question);
      return call;
    },
  };
}

/** A call to start, or the answer for a call that is held. */
interface AskingCall {
  begin(more: CallOptions): Promise<ToolResult>;
  readonly asking: AnsweredRound['question'];
  readonly options: CallOptions;
}

/** Starts a call, or continues the held one, until it ends or asks its client. It keeps running while the client is asked. */
export async function runAsking(
  { crib, held }: Gateway,
  round: Round,
  { begin, asking, options }: AskingCall,
): Promise<ToolResult | InputRequiredResult> {
  if (asking !== undefined) {
    const decision = asking.isYes ? 'approve' : 'deny';
    await crib.approvals.answer(asking.id, { decision }, round.caller); // an earlier answer takes precedence
  }
  const call = asking === undefined ? held.begin(begin) : held.takeUp(asking.id);
  if (call === undefined) return notHeld(round.spec);
  const { signal = new AbortController().signal } = options;
  for (;;) {
    const step = await call.step(signal);
    if ('result' in step) return step.result;
    const asked = await askInside(crib, round, step.question);
    if (asked === undefined) continue; // another approver answers
    call.holdFor(step.question, asked.expiresAt);
    return asked.result;
  }
}

function notHeld({ name }: ToolSpec): FailedResult {
  const message = `The answer was recorded, but the call of "${name}" no longer waits for it here: it went on without the answer, or it runs in another process. Check what the tool has done before you call it again.`;
  return failed(toolError('unknown_outcome', message));
}
