import type { Readable } from 'node:stream';
import { createBytePieces } from '../../system/byte-pieces.ts';
import { MAX_MESSAGE_BYTES, readMessage, type WireMessage } from './wire-requests.ts';

/** The answer, or the bytes read so far of a stream that begins with anything else. */
type EventAnswer = { readonly answer: WireMessage } | { readonly begun: Buffer };

interface EventReading {
  /** The request whose answer is expected. */
  readonly id: number;
  /** The error for an event that is larger than a message may be. */
  tooLarge(): Error;
  /** Called with messages that follow the answer. */
  onMessage(message: WireMessage): void;
}

/**
 * Reads the first event of a stream. If it is the answer, the rest is read as well, so that the connection can be used
 * again. If it is not, the stream is paused and nothing of it is lost: another reader continues with it.
 */
export function readEventAnswer(body: Readable, { id, tooLarge, onMessage }: EventReading): Promise<EventAnswer> {
  return new Promise((resolve, reject) => {
    const pieces = createBytePieces();
    let last = 0;
    let isAnswered = false;
    const giveBack = (bytes: Buffer): void => {
      body.off('data', read).off('end', end).pause();
      resolve({ begun: bytes });
    };
    /** Returns false for an event that another reader must have. */
    const take = (event: string | undefined): boolean => {
      const message = event === undefined ? undefined : readMessage(event);
      if (isAnswered && message !== undefined) onMessage(message);
      if (isAnswered || event === '') return true;
      if (message?.id !== id || message.method !== undefined) return false;
      isAnswered = true;
      resolve({ answer: message });
      return true;
    };
    const read = (chunk: Buffer): void => {
      const isEndBetween = isNewline(last) && isNewline(chunk[0]) && !(last === 13 && chunk[0] === 10);
      const mayEnd = isEndBetween || createEnds(chunk)(0) !== undefined;
      pieces.add(chunk);
      last = chunk.at(-1) ?? last;
      if (pieces.length() > MAX_MESSAGE_BYTES) body.destroy(tooLarge());
      if (!mayEnd || body.destroyed) return;
      const bytes = pieces.take();
      const endOf = createEnds(bytes);
      let begin = afterSilence(bytes, 0);
      for (let end = endOf(begin); end !== undefined; end = endOf(begin)) {
        if (!take(dataOf(bytes.toString('utf8', begin, end)))) {
          giveBack(bytes.subarray(begin));
          return;
        }
        begin = afterSilence(bytes, end);
      }
      if (begin < bytes.length) pieces.add(bytes.subarray(begin));
    };
    const end = () => giveBack(pieces.take());
    body.on('data', read).on('end', end).on('error', reject);
    body.on('close', () => {
      if (!isAnswered) reject(new Error('The connection was closed before the answer.'));
    });
  });
}

/**
 * Returns a function that finds the place after the first empty line from a place on. A line feed that belongs to it may
 * follow: it begins the next event as an empty line. No byte is looked at again for the next event.
 */
function createEnds(bytes: Buffer): (from: number) => number | undefined {
  const next = EMPTY_LINES.map(() => -1);
  return (from) => {
    let nearest = Number.POSITIVE_INFINITY;
    for (let index = 0; index < EMPTY_LINES.length; index++) {
      let at = next[index] ?? nearest;
      if (at < from) {
        const found = bytes.indexOf(EMPTY_LINES[index] ?? '', from);
        at = found === -1 ? Number.POSITIVE_INFINITY : found;
        next[index] = at;
      }
      nearest = Math.min(nearest, at);
    }
    return nearest === Number.POSITIVE_INFINITY ? undefined : nearest + 2;
  };
}

/** The place after empty lines and comments. A server may send any number of them, and reading each as an event takes microseconds. */
function afterSilence(bytes: Buffer, from: number): number {
  let begin = from;
  for (;;) {
    while (isNewline(bytes[begin])) begin++;
    if (bytes[begin] !== COLON) return begin;
    let end = begin;
    while (end < bytes.length && !isNewline(bytes[end])) end++;
    if (end === bytes.length) return begin; // the rest of the comment has not arrived
    begin = end;
  }
}

const COLON = 58;
const EMPTY_LINES = ['\n\n', '\n\r', '\r\r'];

function isNewline(byte: number | undefined): boolean {
  return byte === 10 || byte === 13;
}

/** The data of a message, '' for comments alone, undefined for any other event, such as the start of a stream that can be resumed. */
function dataOf(event: string): string | undefined {
  const lines = event.includes('\r') ? event.split(/\r\n?|\n/) : event.split('\n');
  const data: string[] = [];
  let isOther = false;
  for (const line of lines) {
    if (line === '' || line.startsWith(':')) continue;
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else isOther ||= !(line.startsWith('id:') || /^event: ?message$/.test(line));
  }
  const isEmpty = data.every((line) => line === '');
  const hasFields = lines.some((line) => !/^(:|data:|$)/.test(line));
  return isOther || (isEmpty && hasFields) ? undefined : data.join('\n');
}
