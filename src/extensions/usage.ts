import type { ExtensionParts, ExtensionRecord } from '../config/records.ts';
import { replayOf } from '../core/begun-runs.ts';

/** Usage counts of tools, to break ties between equally good search hits. */
export interface Usage extends ExtensionParts {
  /** Usage counts of this caller in this profile; calls of others do not count. */
  of(profile: string, callerId: string | undefined): (tool: string) => number;
}

const MOST_CALLERS = 1000;
const MOST_TOOLS = 500;

/** Counts successful calls, in memory, per caller. */
export const usage = {
  name: 'usage',
  priority: 1000,
  reason: 'observer: counts successful calls, to break ties in searches',
  isOptional: true,
  make(): Usage {
    const counts = new Map<string, Map<string, number>>();
    const keyOf = (profile: string, callerId = '') => JSON.stringify([profile, callerId]);
    return {
      onEnd(call, result) {
        if (!result.ok || replayOf(call) === 'repeat') return; // the same call twice is one use
        const { spec, profile, caller } = call;
        const key = keyOf(profile, caller.id);
        const own = counts.get(key) ?? new Map<string, number>();
        // The most recent callers and tools are kept longest.
        counts.delete(key);
        counts.set(key, own);
        const count = (own.get(spec.name) ?? 0) + 1;
        own.delete(spec.name);
        own.set(spec.name, count);
        forgetOldest(own, MOST_TOOLS);
        forgetOldest(counts, MOST_CALLERS);
      },
      of(profile, callerId) {
        const own = counts.get(keyOf(profile, callerId));
        return (tool) => own?.get(tool) ?? 0;
      },
    };
  },
} satisfies ExtensionRecord;

function forgetOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.size > most ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}
