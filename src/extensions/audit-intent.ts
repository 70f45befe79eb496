import type { AuditTrail } from '../core/audit-trail.ts';
import type { Extension } from '../core/extension.ts';
import { compileSelector, type Selector } from '../core/selector.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';

export interface AuditIntentOptions {
  /** Tools that only run once it is on record that they are about to; none if absent. */
  readonly requireFor?: readonly Selector[];
}

export interface AuditIntentPorts {
  /** Absent where there is nothing to write to: then such tools do not run. */
  readonly trail: AuditTrail | undefined;
  /** The names of the bundles a tool is in. */
  bundlesOf(tool: string): readonly string[];
}

/** Lets a tool run only once it is on record that it is about to; how it ended is told by the row of the call. */
export function auditIntent(
  { requireFor = [] }: AuditIntentOptions,
  { trail, bundlesOf }: AuditIntentPorts,
): Extension {
  const selects = requireFor.map(compileSelector);
  return {
    name: 'auditIntent',
    priority: 290,
    unsafeOrder: true,
    selectors: { requireFor },
    applies: (spec) => selects.length > 0 && selects.some((matches) => matches(spec, bundlesOf(spec.name))),
    async wrap(call, next) {
      try {
        if (trail === undefined) throw new Error('There is no store for the audit.');
        await trail.intend(call);
      } catch (cause) {
        const message = `"${call.spec.name}" only runs once that is on record, and the record cannot be written; try again later.`;
        return failed(toolError('unavailable', message, { retryable: true, cause }));
      }
      return next(call);
    },
  };
}
