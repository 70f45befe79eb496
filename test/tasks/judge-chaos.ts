import { expect } from 'vitest';
import { isRepeatable, usualOutcome } from './chaos-tools.ts';
import type { ChaosReport } from './run-chaos.ts';

/** Checks that every accepted task has one end, and that no tool ran more often than it may. */
export function judgeChaos({ accepted, ended, strays }: ChaosReport): void {
  const all = [...ended].map(([id, task]) => ({ id, ...task }));
  const repeatable = all.filter(({ tool }) => isRepeatable(tool));
  const others = all.filter(({ tool }) => !isRepeatable(tool));
  expect({
    missing: accepted.filter((id) => !ended.has(id)),
    strays,
    notEndedOnce: all.filter(({ ends }) => ends !== 1),
    twice: others.filter(({ runs }) => runs > 1),
    unfinished: repeatable.filter(({ tool, outcome, runs }) => outcome !== usualOutcome(tool) || runs === 0),
    wrong: others.filter(({ tool, outcome, runs }) => {
      if (outcome === 'unknown_outcome') return false;
      return outcome !== usualOutcome(tool) || runs !== 1;
    }),
  }).toEqual({ missing: [], strays: [], notEndedOnce: [], twice: [], unfinished: [], wrong: [] });
}

/** A line for the log of a test. */
export function describeChaos({ accepted, ended }: ChaosReport): string {
  const all = [...ended.values()];
  const outcomes = Map.groupBy(all, ({ outcome }) => outcome);
  const counts = [...outcomes].map(([outcome, tasks]) => `${tasks.length} ${outcome}`).join(', ');
  return `${accepted.length} accepted, ${all.length} stored: ${counts}; ${all.filter(({ runs }) => runs > 1).length} ran again`;
}
