import { type CallRow, type CallStatus, STATUSES, statusOf } from './call-types.ts';

/** The filters of the log, as they stand in the address. */
export interface CallFilters {
  readonly tool?: string;
  readonly caller?: string;
  readonly profile?: string;
  readonly status?: CallStatus;
  readonly code?: string;
  readonly conversation?: string;
  readonly turn?: string;
  /** A span up to now, such as `1h`; or `since` and `until` as ISO times. */
  readonly time?: string;
  readonly since?: string;
  readonly until?: string;
}

export const WORD_FILTERS = ['tool', 'caller', 'profile', 'code', 'conversation', 'turn'] as const;
const KEYS = [...WORD_FILTERS, 'status', 'time', 'since', 'until'] as const;

export const SPANS: Readonly<Record<string, { readonly says: string; readonly ms: number }>> = {
  '15m': { says: 'Last 15 minutes', ms: 900_000 },
  '1h': { says: 'Last hour', ms: 3_600_000 },
  '24h': { says: 'Last 24 hours', ms: 86_400_000 },
  '7d': { says: 'Last 7 days', ms: 604_800_000 },
};

/** Reads the filters out of an address. What an address cannot mean is left out. */
export function readFilters(search: URLSearchParams): CallFilters {
  const given = KEYS.flatMap((key) => {
    const value = search.get(key)?.trim() ?? '';
    return value === '' || !isValid(key, value) ? [] : [[key, value]];
  });
  return Object.fromEntries(given);
}

function isValid(key: (typeof KEYS)[number], value: string): boolean {
  if (key === 'status') return STATUSES.some((status) => status === value);
  if (key === 'time') return Object.hasOwn(SPANS, value);
  if (key === 'since' || key === 'until') return !Number.isNaN(Date.parse(value));
  return value.length <= 200;
}

/** The address with other filters; the rest of it stays. */
export function withFilters(
  search: URLSearchParams,
  changed: Partial<Record<keyof CallFilters, string>>,
): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const [key, value] of Object.entries(changed)) {
    if (value === undefined || value === '') next.delete(key);
    else next.set(key, value);
  }
  return next;
}

/** The filters as the query of GET /api/calls. */
export function toQuery(filters: CallFilters, now: number): Readonly<Record<string, string>> {
  const { time, since, until, ...words } = filters;
  const span = time === undefined ? undefined : SPANS[time];
  const from = span === undefined ? since : new Date(now - span.ms).toISOString();
  return {
    ...words,
    ...(from !== undefined && { since: new Date(from).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
}

/** True if a call that an event announces belongs to the filtered log. */
export function matches(row: CallRow, filters: CallFilters): boolean {
  const { status, code, since, until, time: _time, ...words } = filters;
  if (status !== undefined && statusOf(row) !== status) return false;
  if (code !== undefined && row.outcome !== code) return false;
  if (since !== undefined && Date.parse(row.at) < Date.parse(since)) return false;
  if (until !== undefined && Date.parse(row.at) > Date.parse(until)) return false;
  return Object.entries(words).every(([key, value]) => row[key as keyof typeof words] === value); // the same names
}
