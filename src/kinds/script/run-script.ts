import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { type ToolError, toolError } from '../../core/tool-error.ts';
import { answerRequest, type SentAnswer } from './inner-calls.ts';
import type { InnerAnswer, InnerRequest, ScriptEnd, ScriptLimits, ScriptTurn } from './script-messages.ts';
import type { ScriptThread } from './script-threads.ts';

/** A script with its input and limits. */
interface Script {
  readonly code: string;
  readonly input: JsonObject;
  readonly limits: ScriptLimits;
  readonly seed: number;
}

/** The end of a script, and what it wrote to the console. */
export interface ScriptOutcome {
  readonly end: ScriptEnd;
  readonly lines: readonly string[];
}

interface RunOptions {
  readonly script: Script;
  readonly thread: ScriptThread;
  readonly clock: Clock;
}

/** A thread that does not answer within several times its limit is ended from outside. On a busy machine it computes only part of the time. */
const PATIENCE = 3;
const GRACE_MS = 1_000;

/** Ends that leave the thread as it was. */
const CLEAN_ENDS: readonly ScriptEnd['kind'][] = ['returned', 'thrown', 'syntax', 'output', 'unsettled'];

/** Runs a script on a thread. Resolves to the reason if the call is aborted; the thread is then ended. */
export function runScript(call: ToolCall, options: RunOptions): Promise<ScriptOutcome | ToolError> {
  return new Promise((resolve) => new ScriptRun(call, options, resolve).start());
}

type Settle = (outcome: ScriptOutcome | ToolError) => void;

class ScriptRun {
  readonly #call: ToolCall;
  /** The parent of the inner calls: they end with the script. */
  readonly #fork: ReturnType<ToolCall['fork']>;
  readonly #options: RunOptions;
  readonly #settle: Settle;
  readonly #lines: string[] = [];
  readonly #queue: InnerRequest[] = [];
  #arrived: InnerAnswer[] = [];
  #running = 0;
  #end: ScriptEnd | undefined;
  #isOver = false;
  #stopWatchdog = (): void => {};
  #stopListening = (): void => {};

  constructor(call: ToolCall, options: RunOptions, settle: Settle) {
    this.#call = call;
    this.#fork = call.fork();
    this.#options = options;
    this.#settle = settle;
  }

  start(): void {
    const { script, thread, clock } = this.#options;
    thread.listen({
      onTurn: (turn) => this.#onTurn(turn),
      onDeath: (isOutOfMemory) => this.#close({ kind: isOutOfMemory ? 'memory' : 'broken' }),
    });
    this.#stopListening = this.#call.onAbort((reason) => this.#abort(reason));
    if (this.#isOver) return;
    const { code, input, limits, seed } = script;
    thread.send({ kind: 'start', code, input: JSON.stringify(input), limits, seed, now: Math.floor(clock.now()) });
    this.#watch();
  }

  /** Ends the thread from outside if it does not answer in time: the limit inside can fail, this one cannot. */
  #watch(): void {
    const { clock } = this.#options;
    this.#stopWatchdog();
    const { cpuMs } = this.#options.script.limits;
    this.#stopWatchdog = clock.setTimer(cpuMs * PATIENCE + GRACE_MS, () => this.#close({ kind: 'cpu' }));
  }

  #onTurn({ requests, lines, end }: ScriptTurn): void {
    if (this.#isOver) return;
    this.#stopWatchdog();
    for (const line of lines) {
      this.#lines.push(line);
      this.#call.report(line);
    }
    this.#queue.push(...requests);
    if (end === undefined) this.#issue();
    else this.#close(end);
  }

  #issue(): void {
    while (this.#running < this.#options.script.limits.parallelCalls) {
      const request = this.#queue.shift();
      if (request === undefined) return;
      this.#running++;
      const answer = answerRequest(this.#fork.call, request, this.#options.script.limits);
      answer.then(
        (sent) => this.#onAnswer(request, sent),
        () => this.#onFailure(),
      );
    }
  }

  #onAnswer({ index }: InnerRequest, sent: SentAnswer): void {
    this.#running--;
    if (this.#isOver) return;
    this.#issue();
    this.#finishWhenIdle();
    if (this.#end !== undefined) return;
    this.#arrived.push({ ...sent, index, now: Math.floor(this.#options.clock.now()) });
    if (this.#arrived.length === 1) queueMicrotask(() => this.#sendAnswers());
  }

  /** A request that cannot be read did not come from the prelude. */
  #onFailure(): void {
    this.#running--;
    this.#close({ kind: 'broken' });
  }

  #sendAnswers(): void {
    if (this.#isOver || this.#end !== undefined) return;
    const answers = this.#arrived;
    this.#arrived = [];
    this.#options.thread.send({ kind: 'answers', answers });
    this.#watch();
  }

  /** The machine has ended. Calls that the script did not wait for still finish, unless it broke a limit. */
  #close(end: ScriptEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#stopWatchdog();
    const { thread } = this.#options;
    if (CLEAN_ENDS.includes(end.kind)) {
      thread.release();
      this.#issue();
    } else {
      void thread.stop();
      this.#queue.length = 0;
      this.#fork.abort(toolError('cancelled', 'The script that made this call was ended.'));
    }
    this.#finishWhenIdle();
  }

  #finishWhenIdle(): void {
    if (this.#isOver || this.#end === undefined || this.#running > 0) return;
    this.#leave();
    this.#settle({ end: this.#end, lines: this.#lines });
  }

  #abort(reason: ToolError): void {
    if (this.#isOver) return;
    const hasThread = this.#end === undefined;
    this.#leave();
    if (hasThread) void this.#options.thread.stop();
    this.#settle(reason);
  }

  #leave(): void {
    this.#isOver = true;
    this.#stopWatchdog();
    this.#stopListening();
    this.#fork.release();
  }
}
