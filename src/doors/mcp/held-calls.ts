import type { InputRequiredResult } from '@modelcontextprotocol/server';
import type { CallOptions } from '../../call/call-input.ts';
import { toolError } from '../../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../../core/tool-result.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { idleClock } from '../../system/clock.ts';
import type { Gateway } from './context.ts';
import { type AnsweredRound, askInside, type Round } from './input-rounds.ts';

/** How far a call has come: it has ended, or asks a question. */
type CallStep = { readonly result: ToolResult } | { readonly question: string };

/** A call whose client may be asked in the middle of it. */
interface HeldCall {
  /** Waits for the next step, as long as its request does: a call that no request waits for, and that asks nothing, is cancelled. */
  step(signal: AbortSignal): Promise<CallStep>;
  /** Keeps the call for the request that answers the question, until then; its own request ends now. */
  holdFor(question: string, expiresAt: number): void;
}

/** Calls that go on in memory while their client is asked. */
export interface HeldCalls {
  begin(work: (options: Pick<CallOptions, 'signal' | 'onQuestion'>) => Promise<ToolResult>): HeldCall;
  /** The call that asked a question, once; undefined where it is not here, or has been taken up. */
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
            tellNext = () => {}; // others wait for the next step
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
          // What asks goes on by itself when its time is up; a client that comes later finds nothing.
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

/** How a call that may ask in the middle is begun, or what its client answered it. */
interface AskingCall {
  begin(more: CallOptions): Promise<ToolResult>;
  readonly asking: AnsweredRound['question'];
  readonly options: CallOptions;
}

/** Begins a call, or goes on with the one that asked, until it ends or asks its client. It runs on while the client is asked. */
export async function runAsking(
  { crib, held }: Gateway,
  round: Round,
  { begin, asking, options }: AskingCall,
): Promise<ToolResult | InputRequiredResult> {
  if (asking !== undefined) {
    const decision = asking.isYes ? 'approve' : 'deny';
    await crib.approvals.answer(asking.id, { decision }, round.caller); // another answer may have been first, and counts
  }
  const call = asking === undefined ? held.begin(begin) : held.takeUp(asking.id);
  if (call === undefined) return notHeld(round.spec);
  const { signal = new AbortController().signal } = options;
  for (;;) {
    const step = await call.step(signal);
    if ('result' in step) return step.result;
    const asked = await askInside(crib, round, step.question);
    if (asked === undefined) continue; // somebody else answers
    call.holdFor(step.question, asked.expiresAt);
    return asked.result;
  }
}

function notHeld({ name }: ToolSpec): FailedResult {
  const message = `The answer was noted, but "${name}" does not run here any more: it has gone on without it, or runs in another process. Look what it has done before you call it again.`;
  return failed(toolError('unknown_outcome', message));
}
