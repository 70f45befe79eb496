import type { ExtensionRecord, WithClock } from '../config/records.ts';
import { compileHours, type Hours } from '../core/access-clause.ts';
import { FORESEE } from '../core/extension.ts';
import { type ToolError, toolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { laterClock } from '../system/clock.ts';

/** Checks the access hours at each call. The view checks everything else about access. */
export const access: ExtensionRecord<WithClock> = {
  name: 'access',
  priority: 900,
  reason: 'a caller without access learns nothing about the arguments',
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
    const whyClosed = ({ name, policy }: ToolSpec): ToolError | undefined => {
      const now = clock.now();
      for (const { hours } of policy.access ?? []) {
        if (hours === undefined || isOpen(hours, now)) continue;
        return toolError('denied', `"${name}" may only be used ${inWords(hours)}.`);
      }
      return undefined;
    };
    return {
      applies: (spec) => (spec.policy.access ?? []).some((clause) => clause.hours !== undefined),
      wrap(call, next) {
        const error = whyClosed(call.spec);
        return error === undefined ? next(call) : failed(error);
      },
      [FORESEE]({ spec }) {
        const error = whyClosed(spec);
        if (error !== undefined) return { verdict: 'refuse', says: error.message, error };
        return { verdict: 'pass', says: 'The access hours of the tool are open.' };
      },
    };
  },
};

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

function inWords({ from, to, timeZone = 'UTC', days }: Hours): string {
  const when = `from ${from} to ${to} (${timeZone})`;
  return days === undefined ? when : `${when} on ${days.map((day) => DAYS[day - 1]).join(', ')}`;
}
