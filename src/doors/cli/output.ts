import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { withoutTerminalCodes } from '../../core/visible-text.ts';
import type { Crib } from '../../crib/crib.ts';
import type { ExitCode } from './command.ts';
import type { Flags } from './flags.ts';

type Paint = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

/** Prints a result to stdout. Everything else goes to stderr. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a result as JSON. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Prints everything that is not a result, to stderr. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Colours text on a terminal that supports it; respects NO_COLOR and FORCE_COLOR. */
export function paint(format: Paint, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(format, text, { stream, validateStream: true });
}

// Names and descriptions are untrusted: on a terminal they must neither move the cursor nor change the text direction.
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu; // the two joiners belong to scripts and emoji

/** The text as one line, without control characters. */
export function toLine(text: string): string {
  return withoutTerminalCodes(text).replace(/\s+/g, ' ').replace(INVISIBLE, '').trim();
}

/** The text without control characters, except line breaks. */
export function toLines(text: string): string {
  return text
    .split('\n')
    .map((line) => withoutTerminalCodes(line).replaceAll('\t', '  ').replace(INVISIBLE, ''))
    .join('\n');
}

/** `1 row`, `2 rows`. */
export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

const PATIENCE_MS = 300;
const STEP_MS = 100;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const CLEAR_LINE = '\r\x1b[K';

/** Shows a progress line on a terminal during long work, and clears it at the end. */
export async function withProgress<T>(label: string | (() => string), work: Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) return work;
  const begin = performance.now();
  let step = 0;
  const draw = () => {
    const elapsedMs = performance.now() - begin;
    if (elapsedMs < PATIENCE_MS) return;
    const frame = FRAMES[step++ % FRAMES.length] ?? '';
    stderr.write(`${CLEAR_LINE}${paint('cyan', frame, stderr)} ${oneLine(label)} ${Math.floor(elapsedMs / 1000)} s`);
  };
  const timer = setInterval(draw, STEP_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (step > 0) stderr.write(CLEAR_LINE);
  }
}

/** The label, cut so that it fits on one line together with the seconds. */
function oneLine(label: string | (() => string)): string {
  const text = toLine(typeof label === 'string' ? label : label());
  return text.slice(0, Math.max(20, (process.stderr.columns ?? 80) - 12)).toWellFormed();
}

/** Codes of failures with exit code 1: neither the command line nor the configuration is wrong. */
const OF_THE_MOMENT = ['store_unavailable', 'denied', 'failed', 'unknown_tool'];

/** Prints the error and returns the exit code. */
export function reportFailure(cause: unknown): ExitCode {
  const isOurs = cause instanceof ToolcribError;
  note(`${paint('red', 'error:', process.stderr)} ${toLines(messageOf(cause))}`);
  if (process.env.TOOLCRIB_DEBUG === '1') note(cause instanceof Error ? `${cause.stack}` : String(cause));
  else if (!isOurs) note('This error is unexpected. Set TOOLCRIB_DEBUG=1 to see the stack trace.');
  return isOurs && !OF_THE_MOMENT.includes(cause.code) ? 2 : 1;
}

/** Redirects stdout to stderr, except for the returned stream: the output of a tool must not corrupt the protocol there. */
export function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const taken = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void write(chunk, (error) => done(error)),
  });
  stdout.on('error', (error) => taken.destroy(error)); // the reader is gone
  return taken;
}

/** Tells the operator at start which tools cannot run here, which run without a sandbox, and why the store cannot be used. */
export async function noteReview(crib: Crib, { quiet }: Pick<Flags, 'quiet'>): Promise<void> {
  const { problems, notes } = await crib.review();
  const problem = (await crib.store?.status())?.problem; // opening it announces the place of the store
  if (quiet === true) return;
  if (problem !== undefined) note(`${paint('yellow', 'warning:', process.stderr)} ${toLine(problem)}`);
  for (const sentence of [...problems, ...notes]) note(toLine(sentence));
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Ends the process on Ctrl-C between two steps of the program, never inside one: files are written in one step. */
export function endOnInterrupt(): void {
  for (const signal of SIGNALS) process.on(signal, endAtOnce);
}

/** Work that Ctrl-C cancels; a second Ctrl-C ends the process. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Acts like Ctrl-C, for a prompt that handles the key itself. */
  interrupt(): void;
}

/** From now on Ctrl-C cancels instead of ending the process. */
export function cancelOnInterrupt(): Interruption {
  const controller = new AbortController();
  const interrupt = () => {
    endOnInterrupt();
    for (const signal of SIGNALS) process.off(signal, interrupt);
    controller.abort();
  };
  // Added before the other is removed: without any listener, Node drops a signal that has arrived and was not told yet.
  for (const signal of SIGNALS) process.on(signal, interrupt).off(signal, endAtOnce);
  return { signal: controller.signal, interrupt };
}

// 130 or 143: the exit code that a shell reports for a program killed by the signal.
function endAtOnce(_signal: string, number: number): never {
  process.exit(128 + number);
}
