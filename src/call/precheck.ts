import type { Executor } from '../core/executor.ts';
import { type Extension, FORESEE } from '../core/extension.ts';
import { isPromise, type MaybePromise } from '../core/json.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { ToolError } from '../core/tool-error.ts';
import { failed } from '../core/tool-result.ts';
import { isElsewhere, kindOf, RUN, WITHHELD } from '../core/tool-spec.ts';
import { restoreWithheld } from './before-execute.ts';
import type { Call } from './call.ts';

/** Its row in the order of extensions. */
export const PRECHECK = {
  name: 'precheck',
  priority: 790,
  reason: 'arguments that the executor would refuse are refused before approval is requested',
} as const;

/** Lets executors refuse arguments before approval is requested, if they would fail after approval anyway. */
export function precheck(executors: ReadonlyMap<string, Executor>): Extension {
  return {
    name: PRECHECK.name,
    priority: PRECHECK.priority,
    unsafeOrder: true,
    applies: (spec) => executors.get(kindOf(spec))?.precheck !== undefined && !isElsewhere(spec),
    wrap(call, next) {
      const error = check(call);
      const goOn = (found: ToolError | undefined) => (found === undefined ? next(call) : failed(found));
      return isPromise(error) ? error.then(goOn) : goOn(error);
    },
    async [FORESEE](call) {
      const error = await check(call);
      if (error !== undefined) return { verdict: 'refuse', says: error.message, error };
      return { verdict: 'pass', says: 'The executor accepts the arguments.' };
    },
  };

  function check(call: ToolCall): MaybePromise<ToolError | undefined> {
    const run = call.spec[RUN];
    const withheld = run[WITHHELD];
    const whole = withheld === undefined ? call : restoreWithheld(call as Call, withheld); // the pipeline only passes Call objects
    return executors.get(run.kind)?.precheck?.(whole, run);
  }
}
