import { isRecord, type JsonObject } from '../../../core/json.ts';
import type { Clock } from '../../../core/ports/ports.ts';
import { PythonFailure } from '../python-failure.ts';
import type { PythonWorkers } from '../python-workers.ts';

/** A thing to look at: a file with its name as a module, one function, or what is installed. */
export type Wanted = JsonObject;

/** What was found in one thing. */
export interface Found {
  /** Each with name, description, input, module, function. */
  readonly tools: readonly JsonObject[];
  readonly problems: readonly string[];
  /** False where it could not even be imported. */
  readonly isRead: boolean;
  /** The file that a module turned out to be. */
  readonly file?: string;
}

/** All that was found, in the order of what was wanted, and the files and folders that it depends on. */
export interface PythonFindings {
  readonly found: readonly Found[];
  readonly paths: readonly string[];
}

export interface LookOptions {
  readonly workers: PythonWorkers;
  readonly folder: string;
  readonly wanted: readonly Wanted[];
  /** How long one thing may take. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Looks at all of it. What ends Python or never ends when it is imported costs itself alone: the rest is looked at by another process. */
export async function lookAtPython(options: LookOptions): Promise<PythonFindings> {
  const { wanted, signal } = options;
  const found: Found[] = [];
  for (;;) {
    const before = found.length;
    try {
      const paths = await lookOn(options, found);
      return { found, paths };
    } catch (cause) {
      if (!(cause instanceof PythonFailure) || cause.kind === 'unreachable' || signal.aborted) throw cause;
      if (found.length === wanted.length) throw cause;
      found.push({ tools: [], problems: [reasonOf(cause, options)], isRead: false });
      if (found.length === before) throw cause;
    }
  }
}

function reasonOf({ kind, message }: PythonFailure, { timeoutMs }: LookOptions): string {
  return kind === 'cancelled' ? `importing it did not end within ${timeoutMs} ms` : `importing it failed: ${message}`;
}

/** Goes on after what was found; tells the paths that all of it depends on. */
async function lookOn(options: LookOptions, found: Found[]): Promise<readonly string[]> {
  const { workers, folder, wanted, timeoutMs, clock, signal } = options;
  let callOff = () => {};
  let stopTimer = () => {};
  const wait = (): void => {
    stopTimer();
    stopTimer = clock.setTimer(timeoutMs, () => callOff());
  };
  const onClose = () => callOff();
  signal.addEventListener('abort', onClose);
  try {
    const answer = await workers.look({
      folder,
      find: wanted.slice(found.length),
      onYield(value) {
        found.push(toFound(value));
        wait();
      },
      onAbort(listener) {
        callOff = listener;
        wait();
        return stopTimer;
      },
    });
    if (answer.kind === 'fail') throw new PythonFailure('lost', answer.message);
    return isRecord(answer.value) ? [...texts(answer.value.files), ...texts(answer.value.folders)] : [];
  } finally {
    stopTimer();
    signal.removeEventListener('abort', onClose);
  }
}

function toFound(value: unknown): Found {
  const { tools, problems, file, isUnreadable } = value as Readonly<Record<string, unknown>>; // of our own worker
  return {
    tools: Array.isArray(tools) ? tools.filter(isRecord).map((tool) => tool as JsonObject) : [], // parsed from JSON
    problems: texts(problems),
    isRead: isUnreadable !== true,
    ...(typeof file === 'string' && { file }),
  };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
