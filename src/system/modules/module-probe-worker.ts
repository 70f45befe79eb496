import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf } from '../../core/tool-error.ts';

export interface ProbeWorkerOptions {
  readonly clock: Clock;
  /** Ends running imports. */
  readonly signal: AbortSignal;
}

/** A module to probe, and the exports to call if they are functions. */
export interface ProbeRequest {
  readonly url: string;
  readonly factories: readonly string[];
  /** True to keep classes; by default, tool classes are instantiated. */
  readonly keepsClasses: boolean;
}

/** Messages from a probe worker: that it is ready, then the result of each module. */
export type ProbeMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'exited'; readonly code: string };

/** The result of one module; `died` means that the worker ended. */
export type ProbeAnswer =
  | Extract<ProbeMessage, { readonly kind: 'passed' | 'failed' }>
  | { readonly kind: 'died'; readonly reason: string };

/** Time limit for a worker to end; it may wait for a child process. */
const STOP_MS = 1_000;

/** A thread that imports modules one after another. */
export interface ProbeWorker {
  ask(request: ProbeRequest, withinMs: number): Promise<ProbeAnswer>;
  stop(): Promise<void>;
}

/** Starts a worker for imports. */
export function startProbeWorker({ clock, signal }: ProbeWorkerOptions): ProbeWorker {
  const script = new URL(`./module-probe-thread${extname(import.meta.url)}`, import.meta.url); // .ts here, .js when built
  // A module prints the same again when it is imported here, so this output is dropped.
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
  worker.on('error', (cause) => die(`it throws an uncaught error: ${messageOf(cause)}`));
  worker.on('exit', () => die('its import never finishes'));
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
      await ready.promise; // a slow start of the worker does not count
      return new Promise((resolve) => {
        const stopTimer = clock.setTimer(withinMs, () => die(`its import timed out after ${withinMs} ms`));
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

/** The options of this process that affect module loading; others, such as `--eval`, do not apply to a worker. */
function loadingOptions(): string[] {
  const options = process.execArgv;
  return options.filter((option, index) => LOADING.test(option) || TAKES_VALUE.test(options[index - 1] ?? ''));
}
