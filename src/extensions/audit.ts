import type { AuditTrail } from '../core/audit-trail.ts';
import type { Extension, Next } from '../core/extension.ts';
import type { MaybePromise } from '../core/json.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { ToolResult } from '../core/tool-result.ts';

export interface AuditOptions {
  /** How long rows are kept; for ever if absent. */
  readonly retentionDays?: number;
}

/** Puts every call on record, refused and unknown ones too. It never fails a call; one waits only where rows come faster than they can be written. */
export function audit({ trail, retentionDays }: AuditOptions & { readonly trail: AuditTrail }): Extension {
  const wrap = (call: ToolCall, next: Next): MaybePromise<ToolResult> => {
    const room = trail.room();
    return room === undefined ? next(call) : room.then(() => wrap(call, next));
  };
  let isTold = false;
  return {
    name: 'audit',
    priority: 1000,
    unsafeOrder: true,
    wrap,
    onEnd(call, result) {
      if (!isTold) trail.keepFor(retentionDays); // only now: one that was tried out and not taken says nothing
      isTold = true;
      trail.record(call, result);
    },
  };
}
