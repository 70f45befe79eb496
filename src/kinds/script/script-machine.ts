import * as variants from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import { GUEST_PRELUDE } from './guest-prelude.ts';
import {
  type CompiledMachine,
  type InnerAnswer,
  type InnerRequest,
  LONGEST_ARGUMENTS,
  type ScriptEnd,
  type ScriptLimits,
  type ScriptStart,
  type ScriptTurn,
  type ThrownError,
} from './script-messages.ts';

/** A QuickJS machine with one script. It is never used for a second one. */
export interface ScriptMachine {
  start(): ScriptTurn;
  answer(answers: readonly InnerAnswer[]): ScriptTurn;
}

const PAGES_PER_MB = 16;
/** The memory that the WebAssembly module needs at least. */
const FIRST_PAGES = 256;
/** Jobs between two looks at the clock: a promise that settles at once never reaches the interrupt. */
const JOBS_PER_LOOK = 64;
const MOST_LINES = 1000;

/** A machine that has no script yet. */
export interface EmptyMachine {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  readonly prelude: QuickJSHandle;
}

/** The limits that a machine has from its beginning. */
export type MachineSize = Pick<ScriptLimits, 'memoryMb' | 'stackKb'>;

/** Creates a machine with a memory of its own. */
export async function prepareMachine(wasmModule: CompiledMachine, size: MachineSize): Promise<EmptyMachine> {
  const { Memory } = (globalThis as unknown as { readonly WebAssembly: WasmMemories }).WebAssembly; // the compiler options include no platform types
  const maximum = Math.max(FIRST_PAGES, size.memoryMb * PAGES_PER_MB);
  // setMemoryLimit of QuickJS has no effect, so the memory itself is limited.
  const wasmMemory = new Memory({ initial: FIRST_PAGES, maximum });
  const quickjs = await newQuickJSWASMModuleFromVariant(
    newVariant(variantOf(variants), { wasmModule, wasmMemory } as never),
  );
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(size.stackKb * 1024);
  const context = runtime.newContext();
  return { runtime, context, prelude: context.unwrapResult(context.evalCode(GUEST_PRELUDE, 'prelude')) };
}

/** Puts a script into a machine. `strip` removes TypeScript types and throws for code that is neither language. */
export function createMachine(empty: EmptyMachine, given: MachineScript): ScriptMachine {
  return new Machine(empty, given);
}

/** The part of WebAssembly that is used here. */
interface WasmMemories {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => unknown;
}

/** The default export of the package, which a bundle for CommonJS wraps once more. */
function variantOf(loaded: { readonly default: unknown }): QuickJSSyncVariant {
  const one = loaded.default as QuickJSSyncVariant | { readonly default: QuickJSSyncVariant }; // depends on who loads it
  return 'default' in one ? one.default : one;
}

/** The parts of a machine that belong to its script. */
interface MachineScript {
  readonly script: ScriptStart;
  readonly strip: (code: string) => string;
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
  #answer: QuickJSHandle | undefined;
  #requests: InnerRequest[] = [];
  #lines: string[] = [];
  #end: ScriptEnd | undefined;
  #open = 0;
  #lineCount = 0;
  #bytesLeft: number;
  #cpuLeftMs: number;
  #deadline = 0;
  #isExpired = false;

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
      this.#answer = context.getProp(guest, 'answer');
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
        if (this.#end !== undefined || this.#answer === undefined) return;
        this.#open--;
        const value = text === undefined ? context.undefined : context.newString(text);
        const parts = [context.newNumber(index), isOk ? context.true : context.false, value, context.newNumber(now)];
        this.#check(context.callFunction(this.#answer, context.undefined, ...parts));
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
    else if (kind === 'end')
      this.#end = index === 1 ? this.#returned(text) : { kind: 'thrown', error: JSON.parse(text) as ThrownError }; // made by the prelude
    else {
      this.#open++;
      const asked = kind === 'search' ? 'search' : 'call';
      this.#requests.push({ index, kind: asked, name: text, input: this.#context.getString(input) });
    }
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
    const problem = this.#wordsOf(first.error);
    try {
      const second = context.evalCode(this.#given.strip(wrapped), 'script');
      if (!second.error) return second.value;
      this.#end = { kind: 'syntax', message: this.#wordsOf(second.error) };
    } catch {
      this.#end = { kind: 'syntax', message: problem };
    }
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
      this.#isExpired ||= cpuNow() > this.#deadline;
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
