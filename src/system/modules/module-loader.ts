import { realpath } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { Clock } from '../../core/ports/crib-context.ts';
import { messageOf } from '../../core/tool-error.ts';
import { hashFile, importFailure, importModule } from './import-module.ts';
import { type MadeTools, type ModuleExport, readExports } from './module-exports.ts';
import {
  type ProbeAnswer,
  type ProbeRequest,
  type ProbeWorkerOptions,
  startProbeWorker,
} from './module-probe-worker.ts';

/** The exports of a file at its last successful import; the same object while the text is unchanged. */
interface LoadedModule {
  readonly version: string;
  readonly exports: readonly ModuleExport[];
}

/** Caches modules. */
export interface ModuleLoader {
  /** Imports a module again if its text or its factories changed. If that fails, the last version stays. */
  load(file: string, factories: readonly string[]): Promise<LoadAttempt>;
  /** Drops all other modules. */
  keep(files: ReadonlySet<string>): void;
}

/** The last good version of a module, if any, and the reason why the current one fails. */
interface LoadAttempt {
  readonly good: LoadedModule | undefined;
  readonly failure?: string;
  /** A version that is known to fail and is not tried again. */
  readonly hopeless?: string;
}

export interface ModuleLoaderOptions {
  /** Import timeout of one module, including its factories. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** True to keep classes; by default, tool classes are instantiated. */
  readonly keepsClasses?: boolean;
}

/** Default import timeout of a module. */
export const IMPORT_TIMEOUT_MS = 60_000;

/** Creates a loader. Each version of a module is first imported in a worker, so that a module that throws, exits or hangs cannot harm this process; then it is imported here. */
export function createModuleLoader(options: ModuleLoaderOptions): ModuleLoader {
  const { signal, keepsClasses = false } = options;
  const probe = createModuleProbe(options);
  const attempts = new Map<string, Promise<LoadAttempt>>();
  const made: MadeTools | undefined = keepsClasses ? undefined : new WeakMap();
  let importing: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = importing.then(work);
    importing = next.catch(() => {}); // the caller gets the error
    return next;
  };

  const attempt = async (file: string, factories: readonly string[], last: LoadAttempt): Promise<LoadAttempt> => {
    const { good, hopeless } = last;
    const hash = await hashFile(file);
    const version = [hash, ...factories].join();
    if (good?.version === version) return { good };
    if (hopeless === version || signal.aborted) return last;
    const url = pathToFileURL(await realpath(file)).href;
    const verdict = await probe.probe({ url, factories, keepsClasses });
    if (signal.aborted) return last;
    if ((await hashFile(file)) !== hash) return attempt(file, factories, last); // the file changed after the probe
    if (!verdict.ok) return { good, failure: verdict.reason, ...(verdict.isFinal && { hopeless: version }) };
    const read = async () => readExports(await importModule(file, hash), factories, made);
    try {
      return { good: { version, exports: await inTurn(() => withinTime(read(), options)) } };
    } catch (cause) {
      return { good, failure: importFailure(cause, url), hopeless: version };
    }
  };

  return {
    load(file, factories) {
      const next = (attempts.get(file) ?? Promise.resolve({ good: undefined })).then(
        ({ good, hopeless }: LoadAttempt) =>
          attempt(file, factories, { good, ...(hopeless !== undefined && { hopeless }) }).catch((cause) => ({
            good,
            failure: `it cannot be read: ${messageOf(cause)}`,
          })),
      );
      attempts.set(file, next); // in sequence, so that each version is tried once
      return next;
    },
    keep(files) {
      for (const file of attempts.keys()) if (!files.has(file)) attempts.delete(file);
    },
  };
}

async function withinTime<T>(work: Promise<T>, { timeoutMs, clock }: ModuleLoaderOptions): Promise<T> {
  const late = Promise.withResolvers<never>();
  const stopTimer = clock.setTimer(timeoutMs, () => late.reject(new Error(`it timed out after ${timeoutMs} ms`)));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    stopTimer();
  }
}

/** Imports modules in a worker. */
interface ModuleProbe {
  /** Imports a module in a worker, calls its factories, and decides whether it may be imported here. */
  probe(request: ProbeRequest): Promise<ProbeVerdict>;
}

/** `isFinal`: the same text would fail again. Otherwise one of its imports may have been fixed since. */
type ProbeVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };

interface ModuleProbeOptions extends ProbeWorkerOptions {
  /** Import timeout of one module. */
  readonly timeoutMs: number;
}

interface Task {
  readonly request: ProbeRequest;
  settle(verdict: ProbeVerdict): void;
}

/** A module may delay the others in its worker this long before it is retried alone. */
const SHARED_MS = 1_000;
const MAX_ALONE = 4;

/** Modules share one worker, because starting one is expensive. A module that fails there is retried alone. */
function createModuleProbe(options: ModuleProbeOptions): ModuleProbe {
  const waiting: Task[] = [];
  const troubled: Task[] = [];
  let isSharing = false;
  let alone = 0;

  const tryTogether = async (): Promise<void> => {
    const worker = startProbeWorker(options);
    const answered: (() => void)[] = [];
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      const { request, settle } = task;
      const answer = await worker.ask(request, Math.min(SHARED_MS, options.timeoutMs));
      if (answer.kind === 'died') {
        troubled.push(task);
        break;
      }
      answered.push(() => settle(toVerdict(answer)));
    }
    await worker.stop(); // a port that a module listens on must be free before it is imported here
    for (const settle of answered) settle();
    tryAlone();
  };

  const tryAlone = (): void => {
    while (alone < MAX_ALONE && troubled.length > 0) {
      const task = troubled.shift();
      if (task === undefined) return;
      alone++;
      const worker = startProbeWorker(options);
      worker.ask(task.request, options.timeoutMs).then(async (answer) => {
        await worker.stop();
        alone--;
        task.settle(toVerdict(answer));
        tryAlone();
      });
    }
  };

  const share = async (): Promise<void> => {
    if (isSharing) return;
    isSharing = true;
    while (waiting.length > 0) await tryTogether();
    isSharing = false;
  };

  return {
    probe: (request) =>
      new Promise((settle) => {
        waiting.push({ request, settle });
        queueMicrotask(share);
      }),
  };
}

function toVerdict(answer: ProbeAnswer): ProbeVerdict {
  return answer.kind === 'passed'
    ? { ok: true }
    : { ok: false, reason: answer.reason, isFinal: answer.kind === 'died' };
}
