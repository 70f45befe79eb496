import { type ToolSpec, UNREAD } from '../core/tool-spec.ts';
import { createFingerprint } from './fingerprint-spec.ts';
import { NO_MARK } from './tool-ids.ts';

/** A number for what is searched of a tool, of one that was not parsed yet; `NO_MARK` for others. */
export type MarkSpec = (spec: ToolSpec, bundles?: readonly string[]) => number;

/** Tools one after the other are mostly of the same bundles, whose texts are looked at once. */
export function createMarks(): MarkSpec {
  let last: readonly string[] = [];
  let lastMark = markBundles(last);
  return (spec, bundles = []) => {
    const unread = spec[UNREAD];
    if (unread === undefined) return NO_MARK;
    if (!isSame(bundles, last)) {
      last = bundles;
      lastMark = markBundles(bundles);
    }
    return unread.mark + lastMark;
  };
}

/** Small enough that a mark of a spec can be added without loss. */
function markBundles(bundles: readonly string[]): number {
  const { take, value } = createFingerprint();
  for (const text of bundles) take(0, text);
  return value() % 2 ** 52;
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some === others || (some.length === others.length && some.every((text, place) => text === others[place]));
}
