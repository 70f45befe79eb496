import type { Readable } from 'node:stream';
import type { Clock } from '../../core/ports/crib-context.ts';
import { createListeners, type Listeners } from '../listeners.ts';

/** How much of what a child says is kept. */
const KEPT_BYTES = 65_536;

/** The end of what was said, for whoever looks why something does not work. */
export interface OutputTail {
  /** Reads a stream to its end. */
  follow(stream: Readable): void;
  add(chunk: Buffer): void;
  text(): string;
  /** Tells of every piece from now on; returns how to stop. */
  readonly onAdd: Listeners<[Uint8Array]>['add'];
}

/** Keeps the last 64 kB, however much is said. */
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
    // Twice as much at most, so that a flood of small pieces is not copied with each of them.
    const kept = Buffer.concat(chunks).subarray(-keptBytes);
    chunks = [Buffer.from(kept)];
    length = kept.length;
  };
  return {
    add,
    onAdd: listeners.add,
    follow(stream) {
      stream.on('data', add);
      stream.on('error', () => {}); // whoever said it is gone
    },
    text() {
      const kept = Buffer.concat(chunks).subarray(-keptBytes);
      // A character that was cut in half is no character.
      const start = isCut ? kept.findIndex((byte) => (byte & 0xc0) !== 0x80) : 0;
      return kept.toString('utf8', Math.max(0, start));
    },
  };
}

/** Takes pieces of what a child says, and tells of whole lines. */
export interface LineFeed {
  add(chunk: Uint8Array): void;
  /** Tells of what stands after the last line break, and of nothing more. */
  end(): void;
}

/** What is told of a line that does not end. */
const LONGEST_LINE = 16_384;
/** A question has no line break: what stands alone for so long is a line. */
const QUIET_MS = 250;
const LINE_BREAK = /\r?\n|\r(?=[^\n])/;

/** Programs that draw on one line over and over make a line of each time. */
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

/** What becomes of the lines of a stream. */
export interface LineReader {
  onLine(text: string): void;
  /** A line longer than `maxBytes`: only its ends are kept. */
  onTooLong(head: string, tail: string): void;
}

/** More than any command line and environment can have. */
export const MAX_ORDER_BYTES = 50_000_000;

const END_BYTES = 1024;
const NEWLINE = 0x0a;

/** Cuts a stream into lines of at most `maxBytes`. Nothing is copied twice, and of what is too long nothing is collected. */
export function createLineSplitter(maxBytes: number, reader: LineReader): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let length = 0;
  let overlong: { readonly head: Buffer; tail: Buffer } | undefined;

  const add = (piece: Buffer): void => {
    length += piece.length;
    if (overlong !== undefined) {
      overlong.tail = Buffer.concat([overlong.tail, piece.subarray(-END_BYTES)]).subarray(-END_BYTES);
      return;
    }
    pieces.push(piece);
    if (length <= maxBytes) return;
    const all = Buffer.concat(pieces);
    overlong = { head: Buffer.from(all.subarray(0, END_BYTES)), tail: Buffer.from(all.subarray(-END_BYTES)) };
    pieces = [];
  };

  const finish = (): void => {
    const [only] = pieces;
    const line = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
    const long = overlong;
    pieces = [];
    length = 0;
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
