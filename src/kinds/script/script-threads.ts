import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../core/ports/crib-context.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { threadEnvironment } from '../../system/thread-environment.ts';
import { type CompiledMachine, READY, type ScriptTurn, type ToScriptThread } from './script-messages.ts';

/** A thread that runs one script at a time, each in a machine of its own. */
export interface ScriptThread {
  send(message: ToScriptThread): void;
  /** Receives every turn of the script, or the death of the thread. */
  listen(listener: ThreadListener): void;
  /** Gives the thread back for the next script. */
  release(): void;
  /** Ends the thread at once, whatever it does. */
  stop(): Promise<void>;
}

interface ThreadListener {
  onTurn(turn: ScriptTurn): void;
  onDeath(isOutOfMemory: boolean): void;
}

/** Starts threads, and keeps some of them for the next scripts. `take` rejects if threads cannot run here. */
export interface ScriptThreads {
  take(): Promise<ScriptThread>;
  close(): Promise<void>;
}

/** Threads that wait for a script, and the time after which they end. */
const MOST_IDLE = 2;
const IDLE_MS = 60_000;

/** Limits of a thread. A deep recursion in the machine needs a large stack. */
const RESOURCES = { stackSizeMb: 16, maxOldGenerationSizeMb: 64 } as const;

/** Creates the threads of a crib. `idleClock` ends threads that wait for too long. */
export function createScriptThreads(idleClock: Clock): ScriptThreads {
  let wasm: Promise<CompiledMachine> | undefined;
  let isClosed = false;
  const all = new Set<Worker>();
  const idle: { readonly thread: OwnThread; readonly stopTimer: () => void }[] = [];
  const keep = (thread: OwnThread): void => {
    if (isClosed || idle.length >= MOST_IDLE) return void thread.stop();
    thread.worker.unref();
    const entry = { thread, stopTimer: idleClock.setTimer(IDLE_MS, () => drop(entry)) };
    idle.push(entry);
  };
  const drop = (entry: (typeof idle)[number]): void => {
    const place = idle.indexOf(entry);
    if (place >= 0) idle.splice(place, 1);
    void entry.thread.stop();
  };
  return {
    async take() {
      const waiting = idle.pop();
      waiting?.stopTimer();
      if (waiting !== undefined && !waiting.thread.isDead()) {
        waiting.thread.worker.ref();
        return waiting.thread;
      }
      wasm ??= compileMachine();
      const worker = startWorker(await wasm);
      all.add(worker);
      worker.once('exit', () => all.delete(worker));
      const thread = createThread(worker, keep);
      await untilReady(worker);
      return thread;
    },
    async close() {
      isClosed = true;
      for (const { stopTimer } of idle.splice(0)) stopTimer();
      await Promise.all(Array.from(all, (worker) => worker.terminate()));
    },
  };
}

/** Compiles QuickJS once; threads share the compiled code, never a memory. */
async function compileMachine(): Promise<CompiledMachine> {
  const file = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
  const { compile } = (globalThis as unknown as { readonly WebAssembly: WasmCompiler }).WebAssembly; // the compiler options include no platform types
  return compile(await readFile(file));
}

/** The part of WebAssembly that is used here. */
interface WasmCompiler {
  compile(bytes: Uint8Array): Promise<CompiledMachine>;
}

function startWorker(workerData: CompiledMachine): Worker {
  const script = new URL(`./script-thread${extname(import.meta.url)}`, import.meta.url); // .ts here, .js when built
  const confined = { resourceLimits: RESOURCES, env: threadEnvironment(), execArgv: [] };
  const worker = new Worker(script, { workerData, ...confined, name: 'toolcrib-script', stdout: true, stderr: true });
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
}

/** Waits until the thread has loaded the sandbox; a slow start does not count as time of a script. */
function untilReady(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
    worker.once('exit', () => reject(new ToolcribError('closed', 'The thread has ended.')));
  });
}

interface OwnThread extends ScriptThread {
  readonly worker: Worker;
  isDead(): boolean;
}

function createThread(worker: Worker, keep: (thread: OwnThread) => void): OwnThread {
  let listener: ThreadListener | undefined;
  let isDead = false;
  const die = (isOutOfMemory: boolean): void => {
    if (isDead) return;
    isDead = true;
    listener?.onDeath(isOutOfMemory);
  };
  worker.on('message', (turn: ScriptTurn | typeof READY) => {
    if (turn !== READY) listener?.onTurn(turn);
  });
  worker.on('error', (cause: NodeJS.ErrnoException) => die(cause.code === 'ERR_WORKER_OUT_OF_MEMORY'));
  worker.on('exit', () => die(false));
  const thread: OwnThread = {
    worker,
    isDead: () => isDead,
    send: (message) => worker.postMessage(message),
    listen(given) {
      listener = given;
    },
    release() {
      listener = undefined;
      keep(thread);
    },
    async stop() {
      listener = undefined;
      await worker.terminate();
    },
  };
  return thread;
}
