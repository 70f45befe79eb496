import { existsSync } from 'node:fs';
import { isRecord, type JsonObject } from '../../core/json.ts';
import { messageOf } from '../../core/tool-error.ts';
import { beginningOf } from '../../core/visible-text.ts';
import { createLineSplitter, type OutputTail } from '../../system/processes/child-output.ts';
import type { ChildCommand, ChildEnd } from '../../system/processes/start-child.ts';
import type { WorkerProcess, WorkerProcesses } from './worker-processes.ts';

/** One question to a worker. */
export interface WorkerQuestion {
  /** What is asked, as JSON: a call, or what a file offers. */
  readonly request: object;
  /** Asked right before a worker gets it; false: it must not begin any more. */
  begin?(): boolean;
  /** Told of each answer; all but `yield` are the last. */
  onAnswer(answer: WorkerAnswer): void;
  /** Told instead of a last answer when the worker is gone. */
  onLost(failure: PythonFailure): void;
}

/** A Python process that runs functions. */
export interface PythonWorker {
  /** Asks, and returns the number under which the question can be cancelled. */
  ask(question: WorkerQuestion): number;
  /** Asks an async function to stop. */
  cancel(id: number): void;
  /** Ends the process and what it started. Resolves when nothing is left; questions are told before. */
  end(graceMs: number): Promise<void>;
  /** Whether it keeps this process alive. */
  keepAlive(isNeeded: boolean): void;
}

export interface WorkerOptions {
  readonly processes: WorkerProcesses;
  /** How to start it; secrets are looked up now. */
  command(): Promise<ChildCommand>;
  /** Where goes what tools print. */
  readonly output: OutputTail;
  /** The longest answer that is read. */
  readonly maxBytes: number;
  /** Told once, when it has ended by itself or was ended. */
  onEnd(): void;
}

/** How long what it said last may be on its way when it has ended. */
const LAST_WORDS_MS = 250;
/** What surrounds an answer in its line. */
const ENVELOPE_BYTES = 1024;

/** Starts a worker. It can be asked at once; what it cannot answer any more is told to whoever asked. */
export function startPythonWorker({ processes, command, output, maxBytes, onEnd }: WorkerOptions): PythonWorker {
  const asked = new Map<number, WorkerQuestion>();
  const unsent: string[] = [];
  let child: WorkerProcess | undefined;
  let isReady = false;
  let isOver = false;
  let isNeeded = true;
  let lastId = 0;

  const onLine = (text: string): void => {
    const line = readWorkerLine(text);
    if (line === 'ready') isReady = true;
    if (line === undefined || line === 'ready') return;
    const question = asked.get(line.id);
    if (line.answer.kind !== 'yield') asked.delete(line.id);
    question?.onAnswer(line.answer);
  };
  const send = (line: string): void => {
    if (child === undefined) unsent.push(line);
    else if (child.stdin.writable) child.stdin.write(line);
  };
  const over = (words: string): void => {
    if (isOver) return;
    isOver = true;
    onEnd();
    const failure = new PythonFailure(isReady ? 'lost' : 'unreachable', words);
    for (const { onLost } of asked.values()) onLost(failure);
    asked.clear();
  };
  const start = async (): Promise<WorkerProcess> => {
    const order = await command();
    const started = processes.start(order);
    child = started;
    output.follow(started.stderr);
    // An answer that is too long is refused over there; one that comes all the same is not our worker's.
    const split = createLineSplitter(maxBytes + ENVELOPE_BYTES, { onLine, onTooLong: () => void started.end(0) });
    started.stdout.on('data', split);
    const heardAll = new Promise((resolve) => started.stdout.once('close', resolve));
    // One that can be spoken to no more but stays would keep its calls waiting.
    void heardAll.then(() => delay(LAST_WORDS_MS)).then(() => (isOver ? undefined : started.end(0)));
    void started.ended.then(async (how) => {
      await Promise.race([heardAll, delay(LAST_WORDS_MS)]);
      over(wordsOf(how, order, output));
    });
    started.keepAlive(isNeeded);
    for (const line of unsent.splice(0)) started.stdin.write(line);
    return started;
  };
  const starting = start();
  starting.catch((cause) => over(messageOf(cause)));

  return {
    ask(question) {
      const id = ++lastId;
      if (isOver) {
        question.onLost(new PythonFailure('unreachable', 'it has ended'));
        return id;
      }
      asked.set(id, question);
      send(`${JSON.stringify({ id, ...question.request })}\n`);
      return id;
    },
    cancel: (id) => send(`{"cancel":${id}}\n`),
    async end(graceMs) {
      const started = await starting.catch(() => undefined);
      started?.keepAlive(true);
      await started?.end(graceMs);
      over('it was ended');
    },
    keepAlive(needed) {
      if (needed === isNeeded) return;
      isNeeded = needed;
      child?.keepAlive(needed);
    },
  };
}

function wordsOf(end: ChildEnd, { command, cwd }: ChildCommand, output: OutputTail): string {
  // Where its folder is missing the system says that the program is.
  if (end.kind === 'failed' && cwd !== undefined && !existsSync(cwd)) return 'the folder of its module is not there';
  if (end.kind === 'failed')
    return end.reason === 'ENOENT' ? noProgram(command) : `Python cannot be run: ${end.reason}`;
  const last = output.text().trimEnd().split('\n').at(-1)?.trim() ?? '';
  const said = last === '' ? '' : `; the last that it said: ${beginningOf(last, 200)}`;
  return `Python ended with ${end.signal ?? `exit code ${end.code}`}${said}`;
}

function noProgram(command: string): string {
  const what = /[/\\]/.test(command) ? 'the interpreter that is configured is not there' : `there is no "${command}"`;
  return `${what}: install Python 3.9 or newer, or name an interpreter under executors.python`;
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** The longest answer of a function, and the most that it may yield. */
export const MAX_ANSWER_BYTES = 10_000_000;

/** What a worker says about a request. All but `yield` are the last word. */
export type WorkerAnswer =
  | { readonly kind: 'yield'; readonly value: unknown; readonly size: number }
  | { readonly kind: 'ok' | 'end'; readonly value: unknown }
  | ({ readonly kind: 'fail'; readonly reason: FailKind } & Omit<Failure, 'kind'>)
  | { readonly kind: 'again'; readonly why: Again };

/** Why a function gave no answer: it raised, is not there, was given or gave what it may not, or was cancelled. */
type FailKind = 'raised' | 'missing' | 'invalid' | 'value' | 'large' | 'cancelled';

/** A call that was not run and is to be sent again, by whoever knows this. */
interface Again {
  /** A file of the tool has changed: another worker has to run it. */
  readonly stale?: true;
  /** The function is async, or no longer is. */
  readonly isAsync?: boolean;
  /** The function wants to know about the call. */
  readonly takesCall?: true;
}

/** One line of a worker: an answer to the request of this id, or that it is ready. */
type WorkerLine = { readonly id: number; readonly answer: WorkerAnswer } | 'ready' | undefined;

/** Reads a line. Only our own code writes them; one that it did not write is nothing. */
function readWorkerLine(text: string): WorkerLine {
  const message = parse(text);
  if (message === undefined) return undefined;
  const { id } = message;
  if (typeof id !== 'number') return 'ready' in message ? 'ready' : undefined;
  if ('ok' in message) return { id, answer: { kind: 'ok', value: message.ok } };
  if ('yield' in message) return { id, answer: { kind: 'yield', value: message.yield, size: text.length } };
  if ('end' in message) return { id, answer: { kind: 'end', value: message.end } };
  const { fail, again } = message as { readonly fail?: Failure; readonly again?: Again }; // our own words
  if (again !== undefined) return { id, answer: { kind: 'again', why: again } };
  if (fail === undefined) return undefined;
  const { kind: reason, ...told } = fail;
  return { id, answer: { ...told, kind: 'fail', reason } };
}

interface Failure {
  readonly kind: FailKind;
  readonly message: string;
  readonly trace?: string;
  /** Why another try may help: the exception is marked `retryable`, or is one of a connection. */
  readonly passing?: 'marked' | 'connection';
}

function parse(text: string): JsonObject | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isRecord(message) ? (message as JsonObject) : undefined; // what was parsed is JSON
  } catch {
    return undefined;
  }
}

/**
 * Why a worker gave no answer: it could not be started, so that nothing was run; it ended meanwhile; too many wait; or
 * nobody wants the answer any more.
 */
export type PythonFailureKind = 'unreachable' | 'lost' | 'busy' | 'cancelled';

/** A request that a worker did not answer. */
export class PythonFailure extends Error {
  readonly kind: PythonFailureKind;
  constructor(kind: PythonFailureKind, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'PythonFailure';
    this.kind = kind;
  }
}
