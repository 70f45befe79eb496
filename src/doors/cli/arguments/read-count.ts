import { usage } from './usage.ts';

/** The number of `--limit`, if it was given. */
export function readCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usage(`--limit takes a whole number of at least 1, not "${text}".`);
  return Number(text);
}
