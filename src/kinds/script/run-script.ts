import type { JsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import type { ScriptWait } from '../../core/ports/stored-journals.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { type ToolError, toolError } from '../../core/tool-error.ts';
import { type AskedApproval, makeRequest } from './inner-calls.ts';
import type { ScriptJournal, WaitingCall } from './script-journal.ts';
import type { InnerAnswer, InnerRequest, ScriptEnd, ScriptLimits, ScriptTurn, SentAnswer } from './script-messages.ts';
import type { ScriptThread } from './script-threads.ts';

/** A script with its input and limits. */
interface Script {
  readonly code: string;
  readonly input: JsonObject;
  readonly limits: ScriptLimits;
  /** Seed of `Math.random`, and the first value of `Date.now`. */
  readonly seed: number;
  readonly now: number;
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
  /** Absent if the script cannot wait. */
  readonly journal?: ScriptJournal | undefined;
}

/** A thread that does not answer within several times its limit is ended from outside. On a busy machine it computes only part of the time. */
const PATIENCE = 3;
const GRACE_MS = 1_000;

/** Ends that leave the thread as it was. */
const CLEAN_ENDS: readonly ScriptEnd['kind'][] = ['returned', 'thrown', 'syntax', 'output', 'unsettled'];

/** Runs a script on a thread. Resolves to the reason if the call is aborted; the thread is then ended. */
export function runScript(call: ToolCall, options: RunOptions): Promise<ScriptOutcome | ScriptWait | ToolError> {
  return new Promise((resolve) => new ScriptRun(call, options, resolve).start());
}

type Settle = (outcome: ScriptOutcome | ScriptWait | ToolError) => void;

class ScriptRun {
  readonly #call: ToolCall;
  /** The parent of the inner calls: they end with the script. */
  readonly #fork: ReturnType<ToolCall['fork']>;
  readonly #options: RunOptions;
  readonly #settle: Settle;
  readonly #lines: string[] = [];
  readonly #queue: InnerRequest[] = [];
  /** Calls that wait for approval. With the first one, the script begins nothing more. */
  readonly #waiting: WaitingCall[] = [];
  #arrived: InnerAnswer[] = [];
  #running = 0;
  #isComputing = true;
  #isReplayed = false;
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
    const { script, thread } = this.#options;
    thread.listen({
      onTurn: (turn) => this.#onTurn(turn),
      onDeath: (isOutOfMemory) => this.#close({ kind: isOutOfMemory ? 'memory' : 'broken' }),
    });
    this.#stopListening = this.#call.onAbort((reason) => this.#abort(reason));
    if (this.#isOver) return;
    const { code, input, limits, seed, now } = script;
    thread.send({ kind: 'start', code, input: JSON.stringify(input), limits, seed, now });
    this.#watch();
  }

  /** Ends the thread from outside if it does not answer in time: the limit inside can fail, this one cannot. */
  #watch(): void {
    const { clock } = this.#options;
    this.#isComputing = true;
    this.#stopWatchdog();
    const { cpuMs } = this.#options.script.limits;
    this.#stopWatchdog = clock.setTimer(cpuMs * PATIENCE + GRACE_MS, () => this.#close({ kind: 'cpu' }));
  }

  #onTurn({ requests, lines, end }: ScriptTurn): void {
    if (this.#isOver) return;
    this.#stopWatchdog();
    this.#isComputing = false;
    if (this.#waiting.length > 0) return void this.#finishWhenIdle(); // the replay repeats this turn
    this.#report(lines);
    const { journal } = this.#options;
    const difference = journal?.differenceOf(requests);
    if (difference !== undefined) return void this.#close({ kind: 'diverged', message: difference });
    this.#queue.push(...requests.filter(({ index }) => journal?.hasAnswer(index) !== true));
    if (end !== undefined) return void this.#closeAfter(end);
    if (!this.#replay()) this.#issue();
  }

  #report(lines: readonly string[]): void {
    for (const line of lines) {
      this.#lines.push(line);
      if (this.#options.journal?.isNewLine() !== false) this.#call.report(line);
    }
  }

  /** Gives the script the answers of its earlier run, all at once. True if there are some. */
  #replay(): boolean {
    if (this.#isReplayed) return false;
    this.#isReplayed = true;
    const answers = this.#options.journal?.replayed() ?? [];
    if (answers.length === 0) return false;
    this.#options.thread.send({ kind: 'answers', answers });
    this.#watch();
    return true;
  }

  #issue(): void {
    while (this.#running < this.#options.script.limits.parallelCalls && this.#waiting.length === 0) {
      const request = this.#queue.shift();
      if (request === undefined) return;
      this.#running++;
      this.#make(request).catch(() => this.#onFailure());
    }
  }

  async #make(request: InnerRequest): Promise<void> {
    const { journal, script } = this.#options;
    const sent = await makeRequest(this.#fork.call.tools, request, { limits: script.limits, journal });
    if (this.#isOver) return;
    if ('refusal' in sent) return void this.#abort(sent.refusal);
    if ('waiting' in sent) return void this.#wait(request, sent.waiting);
    const now = this.#now();
    const writing = journal?.answer(request.index, sent, now);
    const refusal = writing === undefined ? undefined : await writing;
    if (refusal === undefined) this.#onAnswer(request, sent, now);
    else this.#abort(refusal);
  }

  async #wait({ index }: InnerRequest, { id: approvalId, expiresAt }: AskedApproval['waiting']): Promise<void> {
    const call = { index, approvalId, expiresAt };
    const refusal = await this.#options.journal?.wait(call);
    if (refusal !== undefined) return void this.#abort(refusal);
    this.#running--;
    if (this.#isOver) return;
    this.#waiting.push(call);
    this.#finishWhenIdle();
  }

  #now(): number {
    return Math.floor(this.#options.clock.now());
  }

  #onAnswer({ index }: InnerRequest, sent: SentAnswer, now: number): void {
    this.#running--;
    if (this.#isOver) return;
    this.#issue();
    this.#finishWhenIdle();
    if (this.#end !== undefined || this.#waiting.length > 0) return;
    this.#arrived.push({ ...sent, index, now });
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
    if (this.#waiting.length > 0) return; // the journal has them
    this.#options.thread.send({ kind: 'answers', answers });
    this.#watch();
  }

  /** The machine has ended. The end of a replay counts only if it asked for everything that the earlier run did. */
  #closeAfter(end: ScriptEnd): void {
    const lost = CLEAN_ENDS.includes(end.kind) ? this.#options.journal?.missing() : undefined;
    this.#close(lost === undefined ? end : { kind: 'diverged', message: lost });
  }

  /** Calls that the script did not wait for still finish, unless it broke a limit. */
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
    if (this.#isOver || this.#running > 0) return;
    const { journal } = this.#options;
    const isBroken = this.#end !== undefined && !CLEAN_ENDS.includes(this.#end.kind);
    if (this.#waiting.length > 0 && journal !== undefined && !isBroken) {
      if (this.#end === undefined) this.#discard();
      this.#leave();
      this.#settle(journal.toWait(this.#waiting));
    } else if (this.#end !== undefined) {
      this.#leave();
      this.#settle({ end: this.#end, lines: this.#lines });
    }
  }

  /** The script is replayed in another machine. */
  #discard(): void {
    const { thread } = this.#options;
    if (this.#isComputing) return void thread.stop();
    thread.send({ kind: 'discard' });
    thread.release();
  }

  #abort(reason: ToolError): void {
    if (this.#isOver) return;
    const hasThread = this.#end === undefined;
    this.#fork.abort(reason); // calls in flight end with the script
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
