import type { LogLine } from '../core/ports/log-line.ts';

/** A reader that does not keep up loses lines rather than holding calls or filling the memory. */
const MAX_WAITING_BYTES = 1_048_576;

/** Writes one line of JSON to stderr. */
export function logToStderr(line: LogLine): void {
  if (process.stderr.writableLength > MAX_WAITING_BYTES) return;
  process.stderr.write(`${toLogText(line)}\n`);
}

// JSON escapes what is below a space; these would still begin a line, drive a terminal or turn the reading direction.
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A log line as text: always one line, and nothing in it that a terminal obeys. */
export function toLogText(line: LogLine): string {
  return JSON.stringify(line).replace(
    UNSEEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
