import { isUtf8 } from 'node:buffer';
import { type EntryReader, type EntrySink, NOT_TEXT } from './spec-sink.ts';

/** Text is decoded in parts that fit into the processor's cache. */
const PART_BYTES = 65_536;
const LINE_BREAK = 10;

/** Reads one entry a line, while the text comes in. Blank lines are passed over. */
export function createNdjsonReader(sink: EntrySink): EntryReader {
  let rest: readonly Buffer[] = []; // of a line whose end has not come
  let line = 1;
  let isText = true;

  const readLines = (bytes: Buffer): void => {
    isText &&= isUtf8(bytes) && !(line === 1 && bytes.includes(0)); // further on, it is one bad line
    if (!isText) return;
    for (let at = 0; at <= bytes.length && !sink.isFull(); ) {
      const lineEnd = bytes.indexOf(LINE_BREAK, at + PART_BYTES);
      const end = lineEnd === -1 ? bytes.length : lineEnd;
      for (const text of bytes.toString('utf8', at, end).split('\n')) readLine(text, line++, sink);
      at = end + 1;
    }
  };
  return {
    take(piece) {
      const first = piece.indexOf(LINE_BREAK);
      const last = piece.lastIndexOf(LINE_BREAK);
      if (first !== -1) readLines(Buffer.concat([...rest, piece.subarray(0, first)]));
      if (first !== last) readLines(piece.subarray(first + 1, last));
      const left = Buffer.from(piece.subarray(last + 1));
      rest = first === -1 ? [...rest, left] : [left];
    },
    end() {
      readLines(Buffer.concat(rest));
      return isText ? undefined : NOT_TEXT;
    },
  };
}

/** Where each line ends. */
export function lineEndsOf(bytes: Buffer): readonly number[] {
  const ends: number[] = [];
  for (let end = bytes.indexOf(LINE_BREAK); end !== -1; end = bytes.indexOf(LINE_BREAK, end + 1)) ends.push(end);
  ends.push(bytes.length);
  return ends;
}

/** Reads the entry of one line. */
export function readLine(text: string, line: number, sink: EntrySink): void {
  if (text === '') return;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (text.trim() !== '') sink.broken(line, `The line is not JSON: ${error.message}.`);
    return;
  }
  sink.entry(value, line);
}
