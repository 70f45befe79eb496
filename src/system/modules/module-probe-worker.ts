import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf } from '../../core/tool-error.ts';

export interface ProbeWorkerOptions {
  readonly clock: Clock;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** A module to try, and the exports that are called if they are functions. */
export interface ProbeRequest {
  readonly url: string;
  readonly factories: readonly string[];
  /** Whether classes stay what they are; else those that are tools are made. */
  readonly keepsClasses: boolean;
}

/** What a probe worker says: that it is there, and then of each module how it went. */
export type ProbeMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'exited'; readonly code: string };

/** What became of one module; `died` took its worker with it. */
export type ProbeAnswer =
  | Extract<ProbeMessage, { readonly kind: 'passed' | 'failed' }>
  | { readonly kind: 'died'; readonly reason: string };

/** How long a worker may take to end; one that waits for another program ends with it. */
const STOP_MS = 1_000;

/** A thread that imports one module after the other. */
export interface ProbeWorker {
  ask(request: ProbeRequest, withinMs: number): Promise<ProbeAnswer>;
  stop(): Promise<void>;
}

/** Starts a worker in which modules can do no harm. */
export function startProbeWorker({ clock, signal }: ProbeWorkerOptions): ProbeWorker {
  const script = new URL(`./module-probe-thread${extname(import.meta.url)}`, import.meta.url); // .ts here, .js when built
  // What a module prints here it prints again when it is imported; once is enough.
  const worker = new Worker(script, { name: 'toolcrib-probe', execArgv: loadingOptions(), stdout: true, stderr: true });
  worker.stdout.resume();
  worker.stderr.resume();
  const ready = Promise.withResolvers<void>();
  let death: string | undefined;
  let hear = (_answer: ProbeAnswer): void => {};
  const die = (reason: string): void => {
    death ??= reason;
    ready.resolve();
    hear({ kind: 'died', reason: death });
  };
  worker.on('message', (message: ProbeMessage) => {
    if (message.kind === 'ready') ready.resolve();
    else if (message.kind === 'exited') die(`it calls process.exit(${message.code})`);
    else hear(message);
  });
  worker.on('error', (cause) => die(`it throws while nobody listens: ${messageOf(cause)}`));
  worker.on('exit', () => die('importing it waits for something that never comes'));
  const onAbort = () => die('the crib was closed');
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  return {
    stop() {
      signal.removeEventListener('abort', onAbort);
      return new Promise((resolve) => {
        const stopTimer = clock.setTimer(STOP_MS, resolve);
        worker.terminate().then(stopTimer).then(resolve);
      });
    },
    async ask(request, withinMs) {
      await ready.promise; // a slow start is not the module's
      return new Promise((resolve) => {
        const stopTimer = clock.setTimer(withinMs, () => die(`importing it did not end within ${withinMs} ms`));
        hear = (answer) => {
          stopTimer();
          resolve(answer);
        };
        if (death === undefined) worker.postMessage(request);
        else die(death);
      });
    },
  };
}

const TAKES_VALUE = /^(?:-r|-C|--(?:require|import|conditions|(?:experimental-)?loader))$/;
const LOADING =
  /^(?:-r|-C|--(?:require|import|conditions|(?:experimental-)?loader|experimental-transform-types))(?:=|$)/;

/** The options of this process by which modules are found and read; others, such as `--eval`, are not for a worker. */
function loadingOptions(): string[] {
  const options = process.execArgv;
  return options.filter((option, index) => LOADING.test(option) || TAKES_VALUE.test(options[index - 1] ?? ''));
}
