import type { Extension } from '../core/extension.ts';
import type { JsonObject } from '../core/json.ts';
import type { Clock } from '../core/ports.ts';
import type { FirstCall, StoredRepeats } from '../core/stored-results.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { type ToolErrorCode, toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';

export interface IdempotencyPorts {
  readonly clock: Clock;
  /** Where keys outlive the process and are shared; in memory if absent. */
  readonly store?: StoredRepeats | undefined;
  argumentsHash(input: JsonObject): string;
  /** The failure without secrets: what is kept here has not come by the gate that takes them out. */
  withoutSecrets(result: FailedResult): FailedResult;
}

/** How long a key is remembered. */
const KEEP_MS = 86_400_000;
/** How much longer than its time a call may take before its outcome counts as unknown. */
const GRACE_MS = 600_000;

/** What says that the tool did not run. */
const NOT_RUN: readonly ToolErrorCode[] = [
  'unknown_tool',
  'invalid_input',
  'unauthenticated',
  'denied',
  'conflict',
  'rate_limited',
  'unavailable',
];

/** Makes two calls with one key one call: the second gets the result of the first, whatever died in between. */
export function idempotency({ clock, store, argumentsHash, withoutSecrets }: IdempotencyPorts): Extension {
  const repeats = store ?? repeatsInMemory(clock);
  const here = new Set<string>(); // a person may take long to approve what runs here
  return {
    name: 'idempotency',
    priority: 780,
    unsafeOrder: true,
    wrap(call, next) {
      return call.idempotencyKey === undefined ? next(call) : once(call, next);
    },
  };

  async function once(call: ToolCall, next: (call: ToolCall) => ToolResult | Promise<ToolResult>): Promise<ToolResult> {
    const key = JSON.stringify([call.caller.id ?? '', call.profile, call.spec.name, call.idempotencyKey]);
    const hash = argumentsHash(call.input);
    let first: FirstCall;
    try {
      first = await repeats.begin(key, { id: call.id, argumentsHash: hash, keepMs: KEEP_MS });
    } catch (cause) {
      return failed(
        toolError('unavailable', 'The idempotency key could not be recorded, so nothing was done.', { cause }),
      );
    }
    if (first.state !== 'new') return answerOf(first, call, { hash, isHere: here.has(key) });
    here.add(key);
    const result = await next(call);
    here.delete(key);
    const isOver = result.status === 'done' || (result.status === 'failed' && !NOT_RUN.includes(result.error.code));
    const kept = result.status === 'failed' ? withoutSecrets(result) : result;
    // If this cannot be written the key stays taken: whoever repeats learns that the outcome is unknown.
    await (isOver ? repeats.end(key, call.id, kept) : repeats.forget(key, call.id)).catch(() => undefined);
    return result;
  }

  function answerOf(
    first: Exclude<FirstCall, { state: 'new' }>,
    call: ToolCall,
    { hash, isHere }: { readonly hash: string; readonly isHere: boolean },
  ): ToolResult {
    if (first.argumentsHash !== hash)
      return conflict('The idempotency key was used for other arguments; use a new key for a new call.');
    if (first.state === 'ended') {
      call[FACTS].isReplayed = true;
      return first.result;
    }
    const { timeoutMs = 0 } = call.spec.policy;
    if (isHere || clock.now() - first.since <= timeoutMs + GRACE_MS)
      return conflict('A call with this idempotency key is still running; ask again for its result.', 1000);
    return failed(
      toolError(
        'unknown_outcome',
        `A call of "${call.spec.name}" with this key began and did not report back; see whether it was done before you use a new key.`,
      ),
    );
  }
}

function conflict(message: string, retryAfterMs?: number): FailedResult {
  return failed(toolError('conflict', message, retryAfterMs === undefined ? {} : { retryable: true, retryAfterMs }));
}

const MANY_KEYS = 10_000;

function repeatsInMemory(clock: Clock): StoredRepeats {
  const known = new Map<string, { readonly id: string; readonly expiresAt: number; readonly call: FirstCall }>();
  return {
    async begin(key, { id, argumentsHash, keepMs }) {
      const now = clock.now();
      const before = known.get(key);
      if (before !== undefined && before.expiresAt > now) return structuredClone(before.call); // theirs to change
      if (known.size >= MANY_KEYS) for (const [old, { expiresAt }] of known) if (expiresAt <= now) known.delete(old);
      if (known.size >= MANY_KEYS) throw new Error('too many keys are in use');
      known.set(key, { id, expiresAt: now + keepMs, call: { state: 'running', argumentsHash, since: now } });
      return { state: 'new' };
    },
    async end(key, id, result) {
      const entry = known.get(key);
      if (entry?.id !== id || entry.call.state !== 'running') return;
      known.set(key, {
        ...entry,
        call: { state: 'ended', argumentsHash: entry.call.argumentsHash, result: structuredClone(result) },
      });
    },
    async forget(key, id) {
      if (known.get(key)?.id === id) known.delete(key);
    },
  };
}
