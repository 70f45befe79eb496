import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { compileHours, type Hours } from '../core/access-clause.ts';
import { toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import { laterClock } from '../system/clock.ts';

/** Judges what changes from call to call: the hours. Who may see a tool at all is decided by the view. */
export const access: ExtensionRecord<WithClock> = {
  name: 'access',
  priority: 900,
  reason: 'who may not call learns nothing about the arguments',
  codeOptions: ['clock'],
  make({ clock = laterClock }) {
    const compiled = new WeakMap<Hours, (at: number) => boolean>();
    const isOpen = (hours: Hours, at: number): boolean => {
      const known = compiled.get(hours);
      if (known !== undefined) return known(at);
      const judge = compileHours(hours);
      compiled.set(hours, judge);
      return judge(at);
    };
    return {
      applies: (spec) => (spec.policy.access ?? []).some((clause) => clause.hours !== undefined),
      wrap(call, next) {
        const now = clock.now();
        for (const { hours } of call.spec.policy.access ?? []) {
          if (hours === undefined || isOpen(hours, now)) continue;
          return failed(toolError('denied', `"${call.spec.name}" may be used ${inWords(hours)} only.`));
        }
        return next(call);
      },
    };
  },
};

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

function inWords({ from, to, timeZone = 'UTC', days }: Hours): string {
  const when = `from ${from} to ${to} (${timeZone})`;
  return days === undefined ? when : `${when} on ${days.map((day) => DAYS[day - 1]).join(', ')}`;
}
