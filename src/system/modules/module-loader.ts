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

/** What a file exported when it could last be imported; the same object while its text is the same. */
interface LoadedModule {
  readonly version: string;
  readonly exports: readonly ModuleExport[];
}

/** Modules as they were last read. */
export interface ModuleLoader {
  /** Reads a module again if its text or its factories changed. One that fails stays what it was. */
  load(file: string, factories: readonly string[]): Promise<LoadAttempt>;
  /** Forgets every module but these. */
  keep(files: ReadonlySet<string>): void;
}

/** The module as it could last be imported, if ever, and why it cannot be by now. */
interface LoadAttempt {
  readonly good: LoadedModule | undefined;
  readonly failure?: string;
  /** The version that can only fail: it is not tried again. */
  readonly hopeless?: string;
}

export interface ModuleLoaderOptions {
  /** How long one module may take to be imported, its factories included. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Whether classes stay what they are; else those that are tools are made. */
  readonly keepsClasses?: boolean;
}

/** How long a module may take where nobody says. */
export const IMPORT_TIMEOUT_MS = 60_000;

/** Each text of a module is tried in a worker once, so that one that throws, exits or never ends costs only itself; then it is imported here. */
export function createModuleLoader(options: ModuleLoaderOptions): ModuleLoader {
  const { signal, keepsClasses = false } = options;
  const probe = createModuleProbe(options);
  const attempts = new Map<string, Promise<LoadAttempt>>();
  const made: MadeTools | undefined = keepsClasses ? undefined : new WeakMap();
  let importing: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = importing.then(work);
    importing = next.catch(() => {}); // whoever waits for it is told
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
    if ((await hashFile(file)) !== hash) return attempt(file, factories, last); // what was tried is not what would be imported
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
      attempts.set(file, next); // one after the other, so that each version is tried once
      return next;
    },
    keep(files) {
      for (const file of attempts.keys()) if (!files.has(file)) attempts.delete(file);
    },
  };
}

async function withinTime<T>(work: Promise<T>, { timeoutMs, clock }: ModuleLoaderOptions): Promise<T> {
  const late = Promise.withResolvers<never>();
  const stopTimer = clock.setTimer(timeoutMs, () => late.reject(new Error(`it did not end within ${timeoutMs} ms`)));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    stopTimer();
  }
}

/** Imports modules where they can do no harm. */
interface ModuleProbe {
  /** Imports a module in a worker, calls its factories, and says whether it may be imported here. */
  probe(request: ProbeRequest): Promise<ProbeVerdict>;
}

/** `isFinal`: the same text would fail in the same way; without it, what it imports may have been mended since. */
type ProbeVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };

interface ModuleProbeOptions extends ProbeWorkerOptions {
  /** How long one module may take. */
  readonly timeoutMs: number;
}

interface Task {
  readonly request: ProbeRequest;
  settle(verdict: ProbeVerdict): void;
}

/** How long a module may keep the others of its worker waiting before it is tried alone. */
const SHARED_MS = 1_000;
const MAX_ALONE = 4;

/** Well-behaved modules share one worker, since starting one is the expensive part; one that makes trouble is tried again alone. */
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
    await worker.stop(); // a port that a module listens on must be free again when it is imported here
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
