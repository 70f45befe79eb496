import type { ExtensionParts, ExtensionRecord } from '../config/records.ts';
import { FACTS } from '../core/tool-call.ts';

/** How often tools were used, for ties between tools that fit a request equally well. */
export interface Usage extends ExtensionParts {
  /** How often this caller has used a tool under this profile; nobody else's calls count. */
  of(profile: string, callerId: string | undefined): (tool: string) => number;
}

const MOST_CALLERS = 1000;
const MOST_TOOLS = 500;

/** Watches which tools succeed. What is counted stays with the process, and with the caller. */
export const usage = {
  name: 'usage',
  priority: 1000,
  reason: 'watches: counts what succeeds, to decide between equals in a search',
  isOptional: true,
  make(): Usage {
    const counts = new Map<string, Map<string, number>>();
    const keyOf = (profile: string, callerId = '') => JSON.stringify([profile, callerId]);
    return {
      onEnd(call, result) {
        if (!result.ok || call[FACTS].replayed === 'repeat') return; // the same call twice is one use
        const { spec, profile, caller } = call;
        const key = keyOf(profile, caller.id);
        const own = counts.get(key) ?? new Map<string, number>();
        // Who was here last is kept longest, and so is what was used last.
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
