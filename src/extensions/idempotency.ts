import { keepBoundNodes } from '../config/policy-schema.ts';
import type { ExtensionParts, ExtensionRecord, WithClock } from '../config/records.ts';
import { object } from '../config/schema-node.ts';
import type { IdempotencyConfig } from '../config/types/guards.ts';
import { endUnbegun, replayOf } from '../core/begun-runs.ts';
import type { JsonObject } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import {
  brokenBound,
  describeBound,
  type FirstCall,
  type KeepBound,
  type KeepBounds,
  keepBoundsOf,
  RESERVED_BYTES,
  RETRY_WITHOUT_ROOM_MS,
  requireBounds,
  type StoredRepeats,
} from '../core/ports/stored-results.ts';
import { redactResult } from '../core/redact-result.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { type FailedResult, failed, type ToolResult } from '../core/tool-result.ts';
import { argumentsHash } from '../specs/hashes.ts';

export const idempotency: ExtensionRecord<IdempotencyConfig & WithClock> = {
  name: 'idempotency',
  priority: 780,
  reason: 'a repeated call neither runs nor requests approval again',
  options: object(
    'Makes two calls with the same idempotency key one call. Keys and results are kept for a day.',
    keepBoundNodes('idempotency keys and results'),
  ),
  isAlwaysOn: true, // a key that was accepted must count
  codeOptions: ['clock'],
  make(options, ports) {
    requireBounds(options, 'idempotency()');
    const { store, redact, findLost } = ports;
    return makeOnce({
      repeats: store?.repeats ?? repeatsInMemory(options.clock ?? ports.clock),
      bounds: keepBoundsOf(options),
      findLost,
      withoutSecrets: (result) => redactResult(result, redact),
    });
  },
};

interface Repeating {
  /** The store, or memory. */
  readonly repeats: StoredRepeats;
  readonly bounds: KeepBounds;
  /** Finds calls whose process is gone; true if some were found. Their outcome then counts as unknown. */
  findLost(): Promise<boolean>;
  /** Removes secrets: a result stored here has not passed the gate that redacts. */
  withoutSecrets(result: ToolResult): ToolResult;
}

/** Lifetime of a key. */
const KEEP_MS = 86_400_000;

/** Makes two calls with the same key one call: the second gets the result of the first, even after a crash in between. */
function makeOnce({ repeats, bounds, findLost, withoutSecrets }: Repeating): ExtensionParts {
  return {
    wrap(call, next) {
      return call.idempotencyKey === undefined ? next(call) : once(call, next);
    },
  };

  async function once(call: ToolCall, next: (call: ToolCall) => ToolResult | Promise<ToolResult>): Promise<ToolResult> {
    const key = toRepeatKey(call);
    const hash = argumentsHash(given(call));
    const keeping = { owner: call.caller.id ?? '', bounds };
    const repeating = { id: call.id, argumentsHash: hash, keepMs: KEEP_MS, keeping };
    let first: FirstCall;
    try {
      first = await repeats.begin(key, repeating);
      if (first.state === 'running' && (await findLost())) first = await repeats.begin(key, repeating);
    } catch (cause) {
      return failed(
        toolError('unavailable', 'The idempotency key could not be stored, so the tool was not run.', { cause }),
      );
    }
    if (first.state === 'refused') return noRoom(first.broken, bounds);
    if (first.state !== 'new') return answerOf(first, call, hash);
    const result = await next(call);
    const isOver = result.status === 'done' || (result.status === 'failed' && isOutcome(call));
    const end = () => {
      const ending = { ...keeping, result: withoutSecrets(result), instead: notKept(result, call) };
      return repeats.end(key, call.id, ending);
    };
    // If this fails the key stays taken, and a repeated call learns that the outcome is unknown.
    await (isOver ? end() : repeats.forget(key, call.id)).catch(() => undefined);
    return result;
  }

  function answerOf(first: Extract<FirstCall, { argumentsHash: string }>, call: ToolCall, hash: string): ToolResult {
    if (first.argumentsHash !== hash)
      return conflict('The idempotency key was already used with other arguments. Use a new key for a new call.');
    if (first.state === 'ended') {
      call[FACTS].replayed = 'repeat';
      return first.result;
    }
    if (first.state === 'running')
      return conflict('A call with this idempotency key is still running. Call again for its result.', 1000);
    return failed(
      toolError(
        'unknown_outcome',
        `A call of "${call.spec.name}" with this key began and did not report a result. Check whether it took effect before you use a new key.`,
      ),
    );
  }
}

function toRepeatKey({ caller, profile, spec, idempotencyKey }: ToolCall): string {
  return JSON.stringify([caller.id ?? '', profile, spec.name, idempotencyKey]);
}

/** The caller, profile and tool of a key. */
export function readRepeatKey(key: string): {
  readonly caller?: string;
  readonly profile: string;
  readonly tool: string;
} {
  const [caller, profile, tool]: readonly string[] = JSON.parse(key); // written by toRepeatKey
  return { profile: profile ?? '', tool: tool ?? '', ...(caller !== undefined && caller !== '' && { caller }) };
}

/** True if a failure is the outcome of a run of the tool, or of the run that this call repeats. A call that did not begin may be made again. */
function isOutcome(call: ToolCall): boolean {
  return replayOf(call) !== undefined || !endUnbegun(call);
}

/** The arguments and answers of a call. With the same key they must be equal. */
function given({ input, answers }: ToolCall): JsonObject {
  const { responses, state } = answers?.input ?? {};
  return responses === undefined && state === undefined
    ? input
    : { input, responses: responses ?? null, state: state ?? null };
}

function conflict(message: string, retryAfterMs?: number): FailedResult {
  return failed(toolError('conflict', message, retryAfterMs === undefined ? {} : { retryable: true, retryAfterMs }));
}

function noRoom(broken: KeepBound, bounds: KeepBounds): FailedResult {
  const message = `The idempotency key could not be stored, so the tool was not run: ${describeBound(broken, bounds, 'idempotency keys and results')}. Keys are kept for a day. Call without a key, call later, or raise extensions.idempotency.${broken}.`;
  return failed(toolError('rate_limited', message, { retryable: true, retryAfterMs: RETRY_WITHOUT_ROOM_MS }));
}

/** The result to store if the real one does not fit. */
function notKept(result: ToolResult, { spec }: ToolCall): FailedResult {
  const why = 'its result was too large to store (extensions.idempotency.maxBytesPerCaller or maxTotalBytes)';
  if (result.status === 'failed')
    return failed(toolError(result.error.code, `The call of "${spec.name}" with this key failed, but ${why}.`));
  return failed(toolError('too_large', `The call of "${spec.name}" with this key succeeded, but ${why}.`));
}

interface KnownCall {
  readonly id: string;
  readonly owner: string | undefined;
  readonly expiresAt: number;
  readonly argumentsHash: string;
  readonly bytes: number;
  /** As JSON, so that a caller who changes its result does not change it for others. */
  readonly result?: string;
}

interface Share {
  count: number;
  bytes: number;
}

function repeatsInMemory(clock: Clock): StoredRepeats {
  const known = new Map<string, KnownCall>(); // oldest first
  const shares = new Map<string, Share>();
  const all: Share = { count: 0, bytes: 0 };

  const count = ({ owner, bytes }: KnownCall, sign: 1 | -1): void => {
    if (owner === undefined) return;
    const share = shares.get(owner) ?? { count: 0, bytes: 0 };
    for (const one of [share, all]) {
      one.count += sign;
      one.bytes += sign * bytes;
    }
    if (share.count === 0) shares.delete(owner);
    else shares.set(owner, share);
  };
  const drop = (key: string, call: KnownCall): void => {
    known.delete(key);
    count(call, -1);
  };
  const expire = (now: number): void => {
    for (const [key, call] of known) {
      if (call.expiresAt > now) return;
      drop(key, call);
    }
  };
  const usageOf = (owner: string) => {
    const { count: ofCaller, bytes: bytesOfCaller } = shares.get(owner) ?? { count: 0, bytes: 0 };
    return { ofCaller, bytesOfCaller, total: all.count, totalBytes: all.bytes };
  };

  return {
    async begin(key, { id, argumentsHash, keepMs, keeping }) {
      const now = clock.now();
      expire(now);
      const before = known.get(key);
      if (before !== undefined) return toFirstCall(before);
      const broken = keeping && brokenBound(usageOf(keeping.owner), RESERVED_BYTES, keeping.bounds);
      if (broken !== undefined) return { state: 'refused', broken };
      const owner = keeping?.owner;
      const call = { id, owner, argumentsHash, expiresAt: now + keepMs, bytes: RESERVED_BYTES };
      known.set(key, call);
      count(call, 1);
      return { state: 'new' };
    },
    async end(key, id, { owner, bounds, result, instead }) {
      const call = known.get(key);
      if (call?.id !== id || call.result !== undefined) return;
      count(call, -1);
      const text = JSON.stringify(result);
      const bytes = Math.max(RESERVED_BYTES, Buffer.byteLength(text));
      const hasRoom = brokenBound(usageOf(owner), bytes, bounds) === undefined;
      const ended = hasRoom ? { ...call, bytes, result: text } : { ...call, result: JSON.stringify(instead) };
      known.set(key, ended);
      count(ended, 1);
    },
    async forget(key, id) {
      const call = known.get(key);
      if (call?.id === id) drop(key, call);
    },
  };
}

function toFirstCall({ argumentsHash, result }: KnownCall): FirstCall {
  if (result === undefined) return { state: 'running', argumentsHash };
  return { state: 'ended', argumentsHash, result: JSON.parse(result) as ToolResult }; // written by end
}
