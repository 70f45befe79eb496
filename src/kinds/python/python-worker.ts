import { existsSync } from 'node:fs';
import { isRecord, type JsonObject } from '../../core/json.ts';
import { messageOf } from '../../core/tool-error.ts';
import { beginningOf } from '../../core/visible-text.ts';
import { createLineSplitter, type OutputTail } from '../../system/processes/child-output.ts';
import type { ChildCommand, ChildEnd } from '../../system/processes/start-child.ts';
import type { WorkerProcess, WorkerProcesses } from './worker-processes.ts';

/** One request to a worker. */
export interface WorkerQuestion {
  /** The request as JSON: a call, or files to inspect. */
  readonly request: object;
  /** Called right before a worker gets the request; false if it must not start any more. */
  begin?(): boolean;
  /** Called for each answer; every kind but `yield` is final. */
  onAnswer(answer: WorkerAnswer): void;
  /** Called instead of a final answer if the worker is gone. */
  onLost(failure: PythonFailure): void;
}

/** A Python process that runs functions. */
export interface PythonWorker {
  /** Sends a request; returns an id for cancelling it. */
  ask(question: WorkerQuestion): number;
  /** Cancels an async function. */
  cancel(id: number): void;
  /** Ends the process and its children. Resolves when none is left; pending requests fail first. */
  end(graceMs: number): Promise<void>;
  /** Sets whether it keeps this process alive. */
  keepAlive(isNeeded: boolean): void;
}

export interface WorkerOptions {
  readonly processes: WorkerProcesses;
  /** The command that starts it; resolves secrets. */
  command(): Promise<ChildCommand>;
  /** Receives the output of tools. */
  readonly output: OutputTail;
  /** Size limit of an answer. */
  readonly maxBytes: number;
  /** Called once, when the worker has ended. */
  onEnd(): void;
}

/** Grace period for the last output after the worker exited. */
const LAST_WORDS_MS = 250;
/** Room for the JSON around an answer. */
const ENVELOPE_BYTES = 1024;

/** Starts a worker. It accepts requests at once; requests that it cannot answer fail. */
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
    // The worker itself rejects an oversized answer; one that arrives anyway did not come from our code.
    const split = createLineSplitter(maxBytes + ENVELOPE_BYTES, { onLine, onTooLong: () => void started.end(0) });
    started.stdout.on('data', split);
    const heardAll = new Promise((resolve) => started.stdout.once('close', resolve));
    // A worker with a closed stdout would leave its calls waiting.
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
  // If the folder is missing, the system reports a missing program.
  if (end.kind === 'failed' && cwd !== undefined && !existsSync(cwd)) return 'the folder of its module does not exist';
  if (end.kind === 'failed') return end.reason === 'ENOENT' ? noProgram(command) : `Python cannot run: ${end.reason}`;
  const last = output.text().trimEnd().split('\n').at(-1)?.trim() ?? '';
  const said = last === '' ? '' : `; its last output: ${beginningOf(last, 200)}`;
  return `Python ended with ${end.signal ?? `exit code ${end.code}`}${said}`;
}

function noProgram(command: string): string {
  const what = /[/\\]/.test(command) ? 'the configured interpreter does not exist' : `program "${command}" not found`;
  return `${what}: install Python 3.9 or newer, or set executors.python.interpreter`;
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Size limit of an answer, and of all yielded values together. */
export const MAX_ANSWER_BYTES = 10_000_000;

/** An answer of a worker. Every kind but `yield` is final. */
export type WorkerAnswer =
  | { readonly kind: 'yield'; readonly value: unknown; readonly size: number }
  | { readonly kind: 'ok' | 'end'; readonly value: unknown }
  | ({ readonly kind: 'fail'; readonly reason: FailKind } & Omit<Failure, 'kind'>)
  | { readonly kind: 'again'; readonly why: Again };

/** The reason a function has no result: it raised, was not found, had invalid arguments or an invalid result, or was cancelled. */
type FailKind = 'raised' | 'missing' | 'invalid' | 'value' | 'large' | 'cancelled';

/** A call that did not run and must be sent again with this information. */
interface Again {
  /** A file of the tool has changed: a new worker must run it. */
  readonly stale?: true;
  /** The function is async, or no longer is. */
  readonly isAsync?: boolean;
  /** The function has the parameter for the call. */
  readonly takesCall?: true;
}

/** One line of a worker: an answer with its request id, or the ready signal. */
type WorkerLine = { readonly id: number; readonly answer: WorkerAnswer } | 'ready' | undefined;

/** Parses a line. Only our own code writes them; any other line is ignored. */
function readWorkerLine(text: string): WorkerLine {
  const message = parse(text);
  if (message === undefined) return undefined;
  const { id } = message;
  if (typeof id !== 'number') return 'ready' in message ? 'ready' : undefined;
  if ('ok' in message) return { id, answer: { kind: 'ok', value: message.ok } };
  if ('yield' in message) return { id, answer: { kind: 'yield', value: message.yield, size: text.length } };
  if ('end' in message) return { id, answer: { kind: 'end', value: message.end } };
  const { fail, again } = message as { readonly fail?: Failure; readonly again?: Again }; // from our own worker
  if (again !== undefined) return { id, answer: { kind: 'again', why: again } };
  if (fail === undefined) return undefined;
  const { kind: reason, ...told } = fail;
  return { id, answer: { ...told, kind: 'fail', reason } };
}

interface Failure {
  readonly kind: FailKind;
  readonly message: string;
  readonly trace?: string;
  /** The reason a retry may help: the exception is marked `retryable`, or is a connection error. */
  readonly passing?: 'marked' | 'connection';
}

function parse(text: string): JsonObject | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isRecord(message) ? (message as JsonObject) : undefined; // parsed from JSON
  } catch {
    return undefined;
  }
}

/**
 * The reason a worker gave no answer: it could not start, so nothing ran (`unreachable`); it ended during the call (`lost`);
 * too many requests are queued (`busy`); or the caller stopped waiting (`cancelled`).
 */
export type PythonFailureKind = 'unreachable' | 'lost' | 'busy' | 'cancelled';

/** A request without an answer from the worker. */
export class PythonFailure extends Error {
  readonly kind: PythonFailureKind;
  constructor(kind: PythonFailureKind, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'PythonFailure';
    this.kind = kind;
  }
}
