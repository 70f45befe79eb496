import { Writable } from 'node:stream';
import { stripVTControlCharacters, styleText } from 'node:util';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import type { ExitCode } from './commands.ts';
import type { Flags } from './flags.ts';

type Paint = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

/** A result: it alone goes to stdout. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A result as JSON. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Everything that is not a result. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Colours only on a terminal that wants them; NO_COLOR and FORCE_COLOR are respected. */
export function paint(format: Paint, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(format, text, { stream, validateStream: true });
}

// Names and descriptions come from anywhere: on a terminal they may neither move the cursor nor turn the reading direction.
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu; // the two joiners belong to scripts and emoji

/** One line of text that a terminal shows as it is. */
export function toLine(text: string): string {
  return stripVTControlCharacters(text).replace(/\s+/g, ' ').replace(INVISIBLE, '').trim();
}

/** Several lines of text without what would control a terminal. */
export function toLines(text: string): string {
  return text
    .split('\n')
    .map((line) => stripVTControlCharacters(line).replaceAll('\t', '  ').replace(INVISIBLE, ''))
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

/** Says on a terminal what is being waited for, if it takes long; the line is gone when the work has ended. */
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

/** What fits on a line of the terminal with the seconds behind it. */
function oneLine(label: string | (() => string)): string {
  const text = toLine(typeof label === 'string' ? label : label());
  return text.slice(0, Math.max(20, (process.stderr.columns ?? 80) - 12)).toWellFormed();
}

/** Failures that are neither a mistake on the command line nor one in the configuration. */
const OF_THE_MOMENT = ['store_unavailable', 'denied', 'failed', 'unknown_tool'];

/** Says what went wrong and returns the exit code that says it to a shell. */
export function reportFailure(cause: unknown): ExitCode {
  const isOurs = cause instanceof ToolcribError;
  note(`${paint('red', 'error:', process.stderr)} ${toLines(messageOf(cause))}`);
  if (process.env.TOOLCRIB_DEBUG === '1') note(cause instanceof Error ? `${cause.stack}` : String(cause));
  else if (!isOurs) note('This should not have happened. TOOLCRIB_DEBUG=1 shows where.');
  return isOurs && !OF_THE_MOMENT.includes(cause.code) ? 2 : 1;
}

/** What is written from now on goes to stderr, but for what is written to the returned stream: a tool that prints must not spoil what is said there. */
export function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  const taken = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void write(chunk, (error) => done(error)),
  });
  stdout.on('error', (error) => taken.destroy(error)); // nobody reads any more
  return taken;
}

/** Tells the person who starts a server what cannot run here, what runs without a sandbox, and why the store cannot be used. */
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
  /** What Ctrl-C does, for a prompt that takes the key itself. */
  interrupt(): void;
}

/** From now on Ctrl-C cancels instead of ending the process. */
export function cancelOnInterrupt(): Interruption {
  const controller = new AbortController();
  const interrupt = () => {
    endOnInterrupt();
    controller.abort();
  };
  for (const signal of SIGNALS) process.off(signal, endAtOnce).once(signal, interrupt);
  return { signal: controller.signal, interrupt };
}

// 130 or 143: what a shell reports for a program that the signal ended.
function endAtOnce(_signal: string, number: number): never {
  process.exit(128 + number);
}
