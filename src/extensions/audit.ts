import type { Extension, Next } from '../core/extension.ts';
import type { MaybePromise } from '../core/json.ts';
import { type AuditTrail, KEPT_DAYS, type Recording } from '../core/ports/audit-trail.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { ToolResult } from '../core/tool-result.ts';

export interface AuditOptions {
  /** How long rows are kept; for ever if absent. */
  readonly retentionDays?: number;
  /** The Ed25519 key that signs, in a file or a variable; made and kept in the user's state directory if absent. Replicas may share it. */
  readonly key?: { readonly file: string } | { readonly env: string };
  /** Public keys of other machines whose rows count as genuine, as `toolcrib audit key` prints them. */
  readonly trustedKeys?: readonly string[];
}

/** The property of the extension under which the crib finds what was said about keys. */
export const AUDIT_KEYS: unique symbol = Symbol('toolcrib.auditKeys');

/** What was said about keys. */
export type AuditKeyOptions = Pick<AuditOptions, 'key' | 'trustedKeys'>;

/** Puts every call on record, refused and unknown ones too. It never fails a call; one waits only where rows come faster than they can be written. */
export function audit({
  trail,
  retentionDays,
  ...keys
}: AuditOptions & { readonly trail: AuditTrail }): Extension & Recording & { readonly [AUDIT_KEYS]: AuditKeyOptions } {
  const wrap = (call: ToolCall, next: Next): MaybePromise<ToolResult> => {
    const room = trail.room();
    return room === undefined ? next(call) : room.then(() => wrap(call, next));
  };
  let isTold = false;
  return {
    name: 'audit',
    priority: 1000,
    unsafeOrder: true,
    [AUDIT_KEYS]: keys,
    [KEPT_DAYS]: retentionDays,
    wrap,
    onEnd(call, result) {
      if (!isTold) trail.keepFor(retentionDays); // only now: one that was tried out and not taken says nothing
      isTold = true;
      trail.record(call, result);
    },
  };
}
