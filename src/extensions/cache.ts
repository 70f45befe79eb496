import type { ExtensionRecord } from '../config/records.ts';
import { canonicalJson } from '../core/json.ts';
import { afterwards } from '../core/ports/pending-result.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import type { DoneResult, ToolResult } from '../core/tool-result.ts';
import { definitionHash } from '../specs/hashes.ts';

interface Kept {
  /** As JSON, so that a caller who changes its result does not change the cached one. */
  readonly text: string;
  readonly expiresAt: number;
  readonly size: number;
}

const MOST_RESULTS = 5000;
const MOST_SIZE = 32_000_000;
const LARGEST = 1_000_000;

/** Caches the results of read-only tools if the policy sets a time. Each caller has its own entries. */
export const cache: ExtensionRecord = {
  name: 'cache',
  priority: 260,
  reason: 'a cached result needs no setup, no slot and no time',
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
      kept.set(key, entry); // last is the most recently used; the least recently used is removed first
      size += entry.size;
      return JSON.parse(entry.text) as DoneResult; // only done results are cached
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
      // Only read-only tools: skipping a call that changes something is never safe.
      applies: ({ policy, effects }) => (policy.cacheMs ?? 0) > 0 && effects.readOnly === true,
      wrap(call, next) {
        if (call.hasOwnContext) return next(call); // its objects may change the answer and are not part of the key
        const key = keyOf(call, definitionHash(call.spec));
        const known = recall(key);
        if (known !== undefined) {
          call[FACTS].replayed = 'cache';
          return known;
        }
        const { cacheMs = 0 } = call.spec.policy;
        return afterwards(next(call), (result) => keep(key, result, cacheMs));
      },
    };
  },
};

/** Everything that may change the answer, or whose answer it is. */
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
