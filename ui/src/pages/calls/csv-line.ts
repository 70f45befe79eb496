import type { CallRow } from './call-types.ts';

/** The columns of an export. */
export const COLUMNS = [
  'at', 'callId', 'tool', 'source', 'profile', 'door', 'caller', 'conversation', 'turn', 'parentId', 'outcome',
  'durationMs', 'tokens', 'count', 'argumentsHash', 'resultHash',
] as const; // biome-ignore format: a list of words

/** A call as a line of JSON. */
export function toJsonLine(row: CallRow): string {
  return `${JSON.stringify(row)}\n`;
}

/** A line of CSV (RFC 4180). A text that a spreadsheet would run as a formula begins with an apostrophe. */
export function toCsvLine(row: CallRow): string {
  const cells = COLUMNS.map((name) => {
    const value = row[name];
    if (value === undefined || typeof value === 'number') return String(value ?? '');
    const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  });
  return `${cells.join(',')}\r\n`;
}
