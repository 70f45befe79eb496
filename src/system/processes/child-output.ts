import type { Readable } from 'node:stream';
import type { Clock } from '../../core/ports/crib-context.ts';
import { createBytePieces } from '../byte-pieces.ts';
import { createListeners, type Listeners } from '../listeners.ts';

/** Default size of the kept output. */
const KEPT_BYTES = 65_536;

/** The end of a child's output, for troubleshooting. */
export interface OutputTail {
  /** Reads a stream to its end. */
  follow(stream: Readable): void;
  add(chunk: Buffer): void;
  text(): string;
  /** Calls the listener for every new piece; returns a function that removes it. */
  readonly onAdd: Listeners<[Uint8Array]>['add'];
}

/** Keeps the last 64 kB of any amount of output. */
export function createOutputTail(keptBytes: number = KEPT_BYTES): OutputTail {
  let chunks: Buffer[] = [];
  let length = 0;
  let isCut = false;
  const listeners = createListeners<[Uint8Array]>();
  const add = (chunk: Buffer): void => {
    listeners.tell(chunk);
    chunks.push(chunk.length > keptBytes ? Buffer.from(chunk.subarray(-keptBytes)) : chunk);
    length += Math.min(chunk.length, keptBytes);
    isCut ||= length > keptBytes || chunk.length > keptBytes;
    if (length <= 2 * keptBytes && chunks.length < 1024) return;
    // The buffer may grow to twice the limit, so that many small pieces are not copied each time.
    const kept = Buffer.concat(chunks).subarray(-keptBytes);
    chunks = [Buffer.from(kept)];
    length = kept.length;
  };
  return {
    add,
    onAdd: listeners.add,
    follow(stream) {
      stream.on('data', add);
      stream.on('error', () => {}); // the writer has ended
    },
    text() {
      const kept = Buffer.concat(chunks).subarray(-keptBytes);
      // Skip a character that was cut in half.
      const start = isCut ? kept.findIndex((byte) => (byte & 0xc0) !== 0x80) : 0;
      return kept.toString('utf8', Math.max(0, start));
    },
  };
}

/** Splits a child's output into lines. */
export interface LineFeed {
  add(chunk: Uint8Array): void;
  /** Reports the text after the last line break, if any. */
  end(): void;
}

/** A line is reported without its end at this length. */
const LONGEST_LINE = 16_384;
/** Text without a line break is reported after this time, because a prompt has none. */
const QUIET_MS = 250;
const LINE_BREAK = /\r?\n|\r(?=[^\n])/;

/** Creates a line feed. A carriage return also ends a line, for programs that redraw one. */
export function createLineFeed(onLines: (lines: readonly string[]) => void, clock: Clock): LineFeed {
  const decoder = new TextDecoder();
  let unended = '';
  let stopTimer = () => {};
  const tellUnended = (): void => {
    stopTimer();
    const line = unended.replace(/\r$/, '');
    unended = '';
    if (line !== '') onLines([line]);
  };
  return {
    add(chunk) {
      stopTimer();
      const lines = `${unended}${decoder.decode(chunk, { stream: true })}`.split(LINE_BREAK);
      unended = lines.pop() ?? '';
      if (lines.length > 0) onLines(lines);
      if (unended.length > LONGEST_LINE) tellUnended();
      else if (unended !== '') stopTimer = clock.setTimer(QUIET_MS, tellUnended);
    },
    end: tellUnended,
  };
}

/** Receives the lines of a stream. */
export interface LineReader {
  onLine(text: string): void;
  /** Called for a line longer than `maxBytes`, with its start and its end. */
  onTooLong(head: string, tail: string): void;
}

/** More than any command line with its environment can have. */
export const MAX_ORDER_BYTES = 50_000_000;

const END_BYTES = 1024;
const NEWLINE = 0x0a;

/** Splits a stream into lines of at most `maxBytes`. Copies nothing twice, and does not collect lines that are too long. */
export function createLineSplitter(maxBytes: number, reader: LineReader): (chunk: Buffer) => void {
  const pieces = createBytePieces();
  let overlong: { readonly head: Buffer; tail: Buffer } | undefined;

  const add = (piece: Buffer): void => {
    if (overlong !== undefined) {
      overlong.tail = Buffer.concat([overlong.tail, piece.subarray(-END_BYTES)]).subarray(-END_BYTES);
      return;
    }
    pieces.add(piece);
    if (pieces.length() <= maxBytes) return;
    const all = pieces.take();
    overlong = { head: Buffer.from(all.subarray(0, END_BYTES)), tail: Buffer.from(all.subarray(-END_BYTES)) };
  };

  const finish = (): void => {
    const line = pieces.take();
    const long = overlong;
    overlong = undefined;
    if (long === undefined) reader.onLine(line.toString('utf8'));
    else reader.onTooLong(long.head.toString('utf8'), long.tail.toString('utf8'));
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      finish();
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  };
}
