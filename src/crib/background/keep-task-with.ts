import type { CribContext } from '../../core/ports/crib-context.ts';
import { RUN } from '../../core/tool-spec.ts';
import { traitsOf } from '../../kinds/index.ts';
import { systemClock } from '../../system/clock.ts';
import { createKeepTask, type KeepTask, type KeepTaskPorts } from '../../tasks/keep-task.ts';
import { taskSettings } from '../../tasks/task-settings.ts';
import type { CribDefinition } from '../crib-definition.ts';
import type { createServices } from '../services.ts';

/** Creates a function that stores tasks; `onKept` is called after each. */
export type KeepTaskWith = (onKept: KeepTaskPorts['onKept']) => KeepTask;

export function createKeepTaskWith(
  definition: () => CribDefinition,
  { store, sharedRates }: CribContext,
  { missingIn }: Pick<ReturnType<typeof createServices>, 'missingIn'>,
): KeepTaskWith {
  return (onKept) =>
    createKeepTask({
      tasks: store?.tasks,
      settings: () => taskSettings(definition().tasks),
      isForWorkers: (name) => definition().sources.some((source) => source.name === name && source.runOn === 'worker'),
      ownService: ({ [RUN]: { needs } }) =>
        sharedRates === undefined ? undefined : missingIn(definition().configuredServices, needs),
      keepsJournal: (spec) => traitsOf(spec[RUN].kind).keepsJournal === true,
      now: systemClock.now,
      onKept,
    });
}
