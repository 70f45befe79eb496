import { usage } from './usage.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** How long `30m`, `12h`, `30d` or `4w` is; undefined for anything else. */
export function readDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** When something ends: `30d`, `12h`, a date, or `never`. */
export function readExpiry(text: string): { readonly forMs: number } | { readonly expiresAt: number | null } {
  if (text === 'never') return { expiresAt: null };
  const forMs = readDurationMs(text);
  if (forMs !== undefined) return { forMs };
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return { expiresAt: at };
  throw usage(`--expires takes 30m, 12h, 30d, 4w, a date such as 2030-12-31 (UTC), or never, not "${text}".`, 'keys');
}
