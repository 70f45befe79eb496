import { mayAsk } from '../core/approval.ts';
import type { Extension, Next } from '../core/extension.ts';
import type { AuditTrail } from '../core/ports/audit-trail.ts';
import { compileSelector, type Selector } from '../core/selector.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { failed, type ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

export interface AuditIntentOptions {
  /** Tools that only run once it is on record that they are about to; none if absent. */
  readonly requireFor?: readonly Selector[];
}

export interface AuditIntentPorts {
  /** Absent where there is nothing to write to: then such tools do not run. */
  readonly trail: AuditTrail | undefined;
  /** True if calls are put on record: then what a person approved is announced as well. */
  isAudited(): boolean;
  /** The names of the bundles a tool is in. */
  bundlesOf(tool: string): readonly string[];
}

/** Lets a tool that is named, or a call that a person approved, run only once it is on record that it is about to; how it ended is told by the row of the call. */
export function auditIntent(
  { requireFor = [] }: AuditIntentOptions,
  { trail, isAudited, bundlesOf }: AuditIntentPorts,
): Extension {
  const selects = requireFor.map(compileSelector);
  const isNamed = (spec: ToolSpec): boolean =>
    selects.length > 0 && selects.some((matches) => matches(spec, bundlesOf(spec.name)));
  const announce = async (call: ToolCall, next: Next): Promise<ToolResult> => {
    try {
      if (trail === undefined) throw new Error('There is no store for the audit.');
      await trail.intend(call);
    } catch (cause) {
      const message = `"${call.spec.name}" only runs once that is on record, and the record cannot be written; try again later.`;
      return failed(toolError('unavailable', message, { retryable: true, cause }));
    }
    return next(call);
  };
  return {
    name: 'auditIntent',
    priority: 290,
    unsafeOrder: true,
    selectors: { requireFor },
    applies: (spec) => mayAsk(spec) || isNamed(spec),
    wrap(call, next) {
      const isApproved = call[FACTS].approval !== undefined && isAudited();
      return isApproved || isNamed(call.spec) ? announce(call, next) : next(call);
    },
  };
}
