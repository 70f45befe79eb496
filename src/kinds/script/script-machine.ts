import type { EmptyMachine, QuickJSContext, QuickJSHandle, QuickJSRuntime } from './empty-machine.ts';
import {
  type InnerAnswer,
  type InnerRequest,
  LONGEST_ARGUMENTS,
  type ScriptEnd,
  type ScriptStart,
  type ScriptTurn,
  type ThrownError,
} from './script-messages.ts';

/** A QuickJS machine with one script. It is never used for a second one. */
export interface ScriptMachine {
  start(): ScriptTurn;
  answer(answers: readonly InnerAnswer[]): ScriptTurn;
}

/** Jobs between two looks at the clock: a promise that settles at once never reaches the interrupt. */
const JOBS_PER_LOOK = 64;
const MOST_LINES = 1000;

/** Puts a script into a machine. */
export function createMachine(empty: EmptyMachine, given: MachineScript): ScriptMachine {
  return new Machine(empty, given);
}

/** A request as the prelude joins it with others. */
type JoinedRequest = readonly [kind: InnerRequest['kind'], index: number, name: string, input: string];

/** Functions of the prelude: they settle a request, and hand over those that the script has made. */
interface GuestFunctions {
  readonly resolve: QuickJSHandle;
  readonly reject: QuickJSHandle;
  readonly handOver: QuickJSHandle;
}

/** The parts of a machine that belong to its script. */
interface MachineScript {
  readonly script: ScriptStart;
  /** Removes TypeScript types. Returns how the script ends if it cannot. */
  readonly strip: (code: string) => string | ScriptEnd;
}

/** The time that this thread has computed, in milliseconds; the time of day where that is not known (Node before 23.9). */
const cpuNow: () => number =
  'threadCpuUsage' in process ? () => cpuOf(process.threadCpuUsage()) : () => performance.now();

function cpuOf({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

class Machine implements ScriptMachine {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #prelude: QuickJSHandle;
  readonly #given: MachineScript;
  #guest: GuestFunctions | undefined;
  #requests: InnerRequest[] = [];
  #lines: string[] = [];
  #end: ScriptEnd | undefined;
  #open = 0;
  #lineCount = 0;
  #bytesLeft: number;
  #cpuLeftMs: number;
  #deadline = 0;
  #isExpired = false;
  #jobsSinceLook = 0;

  constructor({ runtime, context, prelude }: EmptyMachine, given: MachineScript) {
    this.#runtime = runtime;
    this.#context = context;
    this.#prelude = prelude;
    this.#given = given;
    const { cpuMs, maxOutputBytes } = given.script.limits;
    this.#cpuLeftMs = cpuMs;
    this.#bytesLeft = maxOutputBytes;
    runtime.setInterruptHandler(() => {
      this.#isExpired ||= cpuNow() > this.#deadline;
      return this.#isExpired;
    });
  }

  start(): ScriptTurn {
    return this.#turn(() => {
      const context = this.#context;
      const { input } = this.#given.script;
      const guest = this.#installPrelude();
      const main = this.#compile();
      if (main === undefined) return;
      this.#guest = {
        resolve: context.getProp(guest, 'resolve'),
        reject: context.getProp(guest, 'reject'),
        handOver: context.getProp(guest, 'handOver'),
      };
      const run = context.getProp(guest, 'run');
      const text = context.newString(input);
      this.#check(context.callFunction(run, context.undefined, main, text));
      this.#drain();
    });
  }

  answer(answers: readonly InnerAnswer[]): ScriptTurn {
    return this.#turn(() => {
      const context = this.#context;
      for (const { index, isOk, text, now } of answers) {
        if (this.#end !== undefined || this.#guest === undefined) return;
        this.#open--;
        const { resolve, reject } = this.#guest;
        const value = text === undefined ? context.undefined : context.newString(text);
        const parts = [context.newNumber(index), value, context.newNumber(now)];
        this.#check(context.callFunction(isOk ? resolve : reject, context.undefined, ...parts));
        for (const part of parts) if (part.alive && part !== context.undefined) part.dispose();
        // Each answer is followed to its end, so that a replay does not depend on how answers were grouped.
        this.#drain();
      }
    });
  }

  #turn(work: () => void): ScriptTurn {
    const began = cpuNow();
    this.#deadline = began + this.#cpuLeftMs;
    try {
      work();
      this.#takeRequests();
    } catch (cause) {
      this.#end ??= { kind: cause instanceof RangeError ? 'stack' : 'broken' };
    }
    this.#cpuLeftMs -= cpuNow() - began;
    if (this.#isExpired || this.#cpuLeftMs <= 0) this.#end = { kind: 'cpu' };
    if (this.#end === undefined && this.#open === 0) this.#end = { kind: 'unsettled' };
    const turn = { requests: this.#requests, lines: this.#lines, ...(this.#end !== undefined && { end: this.#end }) };
    this.#requests = [];
    this.#lines = [];
    return turn;
  }

  #installPrelude(): QuickJSHandle {
    const context = this.#context;
    const { seed, now, limits } = this.#given.script;
    const send = context.newFunction('send', (kind, index, name, input) => {
      this.#receive(context.getString(kind), context.getNumber(index), [context.getString(name), input]);
    });
    const numbers = [seed, now, limits.maxCalls, LONGEST_ARGUMENTS].map((number) => context.newNumber(number));
    return context.unwrapResult(context.callFunction(this.#prelude, context.undefined, send, ...numbers));
  }

  #receive(kind: string, index: number, [text, input]: readonly [string, QuickJSHandle]): void {
    if (kind === 'log') this.#log(text);
    else if (this.#end !== undefined) return;
    else if (kind === 'requests') this.#request(text);
    else if (kind === 'end') {
      this.#request(this.#context.getString(input));
      this.#end = index === 1 ? this.#returned(text) : { kind: 'thrown', error: JSON.parse(text) as ThrownError }; // made by the prelude
    } else this.#add([kind, index, JSON.parse(text), this.#context.getString(input)] as JoinedRequest); // likewise
  }

  /** Takes the requests that the script has made since it went on. */
  #takeRequests(): void {
    if (this.#end !== undefined || this.#isExpired || this.#guest === undefined) return;
    const taken = this.#context.callFunction(this.#guest.handOver, this.#context.undefined);
    this.#check(taken);
    if (taken.error === undefined) this.#request(taken.value.consume(this.#context.getString));
  }

  #request(text: string): void {
    if (text === '') return;
    for (const one of JSON.parse(`[${text}]`) as JoinedRequest[]) this.#add(one); // made by the prelude
  }

  #add([kind, index, name, input]: JoinedRequest): void {
    this.#open++;
    this.#requests.push({ index, kind, name, input });
  }

  #returned(text: string): ScriptEnd {
    if (Buffer.byteLength(text) > this.#given.script.limits.maxOutputBytes) return { kind: 'output' };
    return { kind: 'returned', ...(text !== '' && { text }) };
  }

  #log(line: string): void {
    if (this.#lineCount > MOST_LINES || this.#bytesLeft < 0) return;
    this.#lineCount++;
    this.#bytesLeft -= Buffer.byteLength(line);
    const isFull = this.#lineCount > MOST_LINES || this.#bytesLeft < 0;
    this.#lines.push(isFull ? 'Further console output of the script was dropped.' : line);
  }

  /** Compiles the script as JavaScript or, if that fails, as TypeScript. Nothing of it runs yet. */
  #compile(): QuickJSHandle | undefined {
    const context = this.#context;
    const wrapped = `(async () => {${this.#given.script.code}\n})`;
    const first = context.evalCode(wrapped, 'script');
    if (!first.error) return first.value;
    const stripped = this.#given.strip(wrapped);
    if (typeof stripped !== 'string') {
      this.#end = stripped;
      return undefined;
    }
    const second = context.evalCode(stripped, 'script');
    if (!second.error) return second.value;
    this.#end = { kind: 'syntax', message: this.#wordsOf(second.error) };
    return undefined;
  }

  #wordsOf(error: QuickJSHandle): string {
    const { message, stack } = this.#context.dump(error) as { readonly message?: unknown; readonly stack?: unknown }; // an error of the compiler
    const line = /script:(\d+)/.exec(String(stack))?.[1];
    return `${String(message)}${line === undefined ? '' : ` (line ${line})`}`;
  }

  #drain(): void {
    while (this.#end === undefined && this.#runtime.hasPendingJob()) {
      const done = this.#runtime.executePendingJobs(JOBS_PER_LOOK);
      this.#jobsSinceLook += done.error === undefined ? done.value : JOBS_PER_LOOK;
      if (this.#jobsSinceLook >= JOBS_PER_LOOK) {
        this.#jobsSinceLook = 0;
        this.#isExpired ||= cpuNow() > this.#deadline;
      }
      if (this.#isExpired) return;
      this.#check(done);
    }
  }

  /** Recognizes an error that ends the machine. Errors of the script itself are caught by the prelude. */
  #check(result: { readonly error?: QuickJSHandle | undefined }): void {
    if (result.error === undefined || this.#isExpired) return;
    const { message } = this.#context.dump(result.error) as { readonly message?: unknown }; // an internal error
    const isMemory = /out of memory/.test(String(message));
    this.#end ??= { kind: isMemory ? 'memory' : /stack/.test(String(message)) ? 'stack' : 'broken' };
  }
}
