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

/** Lets a tool that is named, or a call that a person approved, run only once it is on record that it is about to; how it ended is told by the row of the call. */
export const auditIntent: ExtensionRecord<Pick<AuditConfig, 'requireFor'>> = {
  name: 'auditIntent',
  priority: 290,
  reason: 'what is approved and about to run is on record before it runs',
  entry: 'audit',
  options: object('Lets tools run only once that is on record.', {
    requireFor: selectors('Tools that only run once it is on record that they are about to; none if absent.'),
  }),
  make({ requireFor: given = [] }, { audit: trail, isAudited, bundlesOf }) {
    const requireFor = readSelectors(given);
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
  if (Array.isArray(read)) return Array.from(read); // a copy, holes included: they are refused
  const message = `auditIntent(): requireFor takes a list of selectors, got ${describe(read)}.`;
  throw new ToolcribError('invalid_option', message);
}
