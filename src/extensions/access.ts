import { isWithinHours } from '../core/access.ts';
import type { Extension } from '../core/extension.ts';
import type { Clock } from '../core/ports.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';

/** Judges what changes from call to call: the hours. Who may see a tool at all is decided by the view. */
export function access(options: { readonly clock: Clock }): Extension {
  return {
    name: 'access',
    priority: 900,
    unsafeOrder: true,
    applies: (spec) => (spec.policy.access ?? []).some((clause) => clause.hours !== undefined),
    wrap(call, next) {
      const now = options.clock.now();
      const closed = call.spec.policy.access?.find(
        (clause) => clause.hours !== undefined && !isWithinHours(clause.hours, now),
      )?.hours;
      if (closed === undefined) return next(call);
      const message = `"${call.spec.name}" may be used from ${closed.from} to ${closed.to} (${closed.timeZone ?? 'UTC'}) only.`;
      return failed(toolError('denied', message));
    },
  };
}
