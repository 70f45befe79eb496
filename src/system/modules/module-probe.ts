import {
  type ProbeAnswer,
  type ProbeRequest,
  type ProbeWorkerOptions,
  startProbeWorker,
} from './module-probe-worker.ts';

/** Imports modules where they can do no harm. */
export interface ModuleProbe {
  /** Imports a module in a worker, calls its factories, and says whether it may be imported here. */
  probe(request: ProbeRequest): Promise<ProbeVerdict>;
}

/** `isFinal`: the same text would fail in the same way; without it, what it imports may have been mended since. */
type ProbeVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: string; readonly isFinal: boolean };

export interface ModuleProbeOptions extends ProbeWorkerOptions {
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
export function createModuleProbe(options: ModuleProbeOptions): ModuleProbe {
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
