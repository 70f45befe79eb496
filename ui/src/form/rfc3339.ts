export type TimeFormat = 'date-time' | 'date' | 'time';

/** The zones that a picker offers. */
export const ZONES = ['UTC', 'Local'] as const;

type Zone = (typeof ZONES)[number];

/** Writes the local parts of a picker (`2026-11-16T18:04`) as RFC 3339, with seconds and an offset. */
export function toRfc3339(local: string, format: TimeFormat, zone: Zone): string {
  const [first = '', second] = local.split('T');
  if (format === 'date') return first;
  const time = withSeconds(second ?? first);
  if (format === 'time') return `${time}${zone === 'UTC' ? 'Z' : offsetOf(new Date())}`;
  const written = `${first}T${time}`;
  return `${written}${zone === 'UTC' ? 'Z' : offsetOf(new Date(written))}`;
}

function withSeconds(time: string): string {
  const whole = time.replace(/\.0+$/, '');
  return /^\d\d:\d\d$/.test(whole) ? `${whole}:00` : whole;
}

/** The offset of this machine's zone at a time: Z, +01:00, -03:30. */
function offsetOf(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  if (minutes === 0) return 'Z';
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}

/** What a picker shows for a value, in a zone; empty where the value is not a time. */
export function localParts(
  value: string,
  zone: Zone,
): { readonly date: string; readonly time: string; readonly both: string } {
  const date = /^\d{4}-\d\d-\d\d$/.test(value) ? value : '';
  const time = /^\d\d:\d\d(?::\d\d)?/.exec(value)?.[0] ?? '';
  const at = Date.parse(value);
  if (date !== '' || Number.isNaN(at)) return { date, time, both: '' };
  const shift = zone === 'UTC' ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  const both = new Date(at - shift).toISOString().slice(0, 19);
  return { date: both.slice(0, 10), time: both.slice(11), both };
}
