import type { ExtensionRecord } from '../config/records.ts';
import { canonicalJson, isPromise } from '../core/json.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import type { DoneResult, ToolResult } from '../core/tool-result.ts';
import { definitionHash } from '../specs/hashes.ts';

interface Kept {
  /** As JSON: whoever gets it may change it without changing it for the next. */
  readonly text: string;
  readonly expiresAt: number;
  readonly size: number;
}

const MOST_RESULTS = 5000;
const MOST_SIZE = 32_000_000;
const LARGEST = 1_000_000;

/** Answers a call that was answered before, where policy lets it and the tool changes nothing. Each caller has its own answers. */
export const cache: ExtensionRecord = {
  name: 'cache',
  priority: 260,
  reason: 'what is known needs no setup, no slot and no time',
  make(_options, { clock }) {
    const kept = new Map<string, Kept>();
    let size = 0;

    const drop = (key: string, entry: Kept): void => {
      kept.delete(key);
      size -= entry.size;
    };
    const recall = (key: string): DoneResult | undefined => {
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      drop(key, entry);
      if (entry.expiresAt <= clock.now()) return undefined;
      kept.set(key, entry); // the newest is last: what was not used for longest goes first
      size += entry.size;
      return JSON.parse(entry.text) as DoneResult; // only such results are kept
    };
    const keep = (key: string, result: ToolResult, cacheMs: number): ToolResult => {
      if (!result.ok) return result;
      const text = JSON.stringify(result);
      const entry = { text, expiresAt: clock.now() + cacheMs, size: key.length + text.length };
      if (entry.size > LARGEST) return result;
      const before = kept.get(key);
      if (before !== undefined) drop(key, before);
      kept.set(key, entry);
      size += entry.size;
      for (const [oldest, old] of kept) {
        if (kept.size <= MOST_RESULTS && size <= MOST_SIZE) break;
        drop(oldest, old);
      }
      return result;
    };

    return {
      // Time alone does not make it safe to leave out a call that changes something.
      applies: ({ policy, effects }) => (policy.cacheMs ?? 0) > 0 && effects.readOnly === true,
      wrap(call, next) {
        if (call.hasOwnContext) return next(call); // its objects may make the answer another one, and are in no key
        const key = keyOf(call, definitionHash(call.spec));
        const known = recall(key);
        if (known !== undefined) {
          call[FACTS].replayed = 'cache';
          return known;
        }
        const { cacheMs = 0 } = call.spec.policy;
        const result = next(call);
        return isPromise(result) ? result.then((settled) => keep(key, settled, cacheMs)) : keep(key, result, cacheMs);
      },
    };
  },
};

/** Whatever may make the answer another one, or another's. */
function keyOf(call: ToolCall, definition: string): string {
  const { caller, profile, settings, conversation, timeZone, input, answers } = call;
  const { responses = null, state = null } = answers?.input ?? {};
  const { id, roles = [], permissions = [], operator = false } = caller;
  return canonicalJson([
    definition,
    id ?? null,
    roles,
    permissions,
    operator,
    profile,
    settings,
    conversation ?? null,
    timeZone ?? null,
    input,
    responses,
    state,
  ]);
}
