import type { Executor } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
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
      const run = call.spec[RUN];
      const withheld = run[WITHHELD];
      const whole = withheld === undefined ? call : restoreWithheld(call as Call, withheld); // the pipeline only passes Call objects
      const error = executors.get(run.kind)?.precheck?.(whole, run);
      const goOn = (found: ToolError | undefined) => (found === undefined ? next(call) : failed(found));
      return isPromise(error) ? error.then(goOn) : goOn(error);
    },
  };
}
