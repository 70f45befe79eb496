import { selectors } from '../config/policy-schema.ts';
import type { ExtensionRecord } from '../config/records.ts';
import { object } from '../config/schema-node.ts';
import type { AuditConfig } from '../config/types/guards.ts';
import { mayAsk } from '../core/approval-request.ts';
import type { Next } from '../core/extension.ts';
import { describe } from '../core/read-options.ts';
import { compileSelector, type Selector } from '../core/selector.ts';
import { FACTS, type ToolCall } from '../core/tool-call.ts';
import { ToolcribError, toolError } from '../core/tool-error.ts';
import { failed, type ToolResult } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';

/** Records a run before it starts, for selected tools and approved calls. If that fails, the tool does not run. The row of the call records the end. */
export const auditIntent: ExtensionRecord<Pick<AuditConfig, 'requireFor'>> = {
  name: 'auditIntent',
  priority: 290,
  reason: 'an approved call is recorded before it runs',
  entry: 'audit',
  options: object('Records runs before they start.', {
    requireFor: selectors('Tools that run only after the start of the run was recorded; default none.'),
  }),
  make({ requireFor: given = [] }, { audit: trail, isAudited, bundlesOf }) {
    const requireFor = readSelectors(given);
    const selects = requireFor.map(compileSelector);
    const isNamed = (spec: ToolSpec): boolean =>
      selects.length > 0 && selects.some((matches) => matches(spec, bundlesOf(spec.name)));
    const announce = async (call: ToolCall, next: Next): Promise<ToolResult> => {
      try {
        if (trail === undefined) throw new Error('This crib has no store for the audit log.');
        await trail.intend(call);
      } catch (cause) {
        const message = `"${call.spec.name}" was not run because the audit log cannot be written. Try again later.`;
        return failed(toolError('unavailable', message, { retryable: true, cause }));
      }
      return next(call);
    };
    return {
      selectors: { requireFor },
      applies: (spec) => mayAsk(spec) || isNamed(spec),
      wrap(call, next) {
        const isApproved = call[FACTS].approval !== undefined && isAudited();
        return isApproved || isNamed(call.spec) ? announce(call, next) : next(call);
      },
    };
  },
};

function readSelectors(given: string | readonly Selector[]): readonly Selector[] {
  const read: readonly Selector[] = typeof given === 'string' ? [given] : given;
  if (Array.isArray(read)) return Array.from(read); // holes become undefined and are refused later
  const message = `auditIntent(): requireFor must be a list of selectors, got ${describe(read)}.`;
  throw new ToolcribError('invalid_option', message);
}
