import type { IncomingHttpHeaders } from 'node:http';

/** Nobody is left alone for longer because of one answer. */
const LONGEST_MS = 3_600_000;

const MOMENT = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long a server asks to be left alone; undefined where it does not, or says so in a way that cannot be read. */
export function readRetryAfterMs({ 'retry-after': after, date }: IncomingHttpHeaders): number | undefined {
  const ms = toMs(after ?? '', date ?? '');
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), LONGEST_MS);
}

/** A moment is read by the clock of the server that named it: ours may be another. */
function toMs(after: string, date: string): number {
  if (/^\d{1,10}$/.test(after)) return Number(after) * 1000;
  return MOMENT.test(after) ? Date.parse(after) - Date.parse(date) : Number.NaN;
}
