import { messageOf } from '../core/tool-error.ts';
import { findProblems, idleSelectors } from './catalog/problems.ts';
import { type EngineCore, requireStarted } from './engine-core.ts';

/** What the operator of an engine should know. */
export interface EngineProblems {
  /** Says what is found by now, and once all lists are there what they show. */
  announce(): void;
  /** Everything that was said or can be found out now, each sentence once. */
  list(): readonly string[];
}

export function createEngineProblems(core: EngineCore, isClosing: () => boolean): EngineProblems {
  const { warnings, generation } = core;
  const { redact } = core.fixed.context;
  const ownProblems = () => [...core.definition.problems, ...core.auditKeys.problems()];
  const heldBack = () => generation().catalog.held.map(({ message }) => message);
  const announceAll = async (): Promise<void> => {
    const announced = core.definition;
    const sources = requireStarted(core.sources);
    for (const report of sources.report())
      if (report.state === 'failed') warnings.warn(`Source "${report.name}": ${sentence(report.reason)}`);
    for (const problem of ownProblems()) warnings.announce(problem);
    if (!sources.isListed()) await sources.listed();
    if (core.definition !== announced || isClosing()) return; // a later edit tells
    for (const problem of problemsOfLists(core)) warnings.announce(problem);
  };
  return {
    announce: () => void announceAll().catch((cause: unknown) => warnings.warn(messageOf(cause))),
    list: () => {
      const found = [...heldBack(), ...ownProblems(), ...problemsOfLists(core)];
      return [...new Set([...warnings.list(), ...found.map(redact)])];
    },
  };
}

/** What selectors match is known when all lists are there. */
function problemsOfLists({ sources, generation, definition, services, extensions }: EngineCore): readonly string[] {
  if (sources?.isListed() !== true) return [];
  return [
    ...findProblems(generation(), definition.profiles.byName.values(), services.all()),
    ...idleSelectors(generation(), extensions.list()),
    ...sources.problems(),
  ];
}

function sentence(reason = 'it failed'): string {
  return reason.endsWith('.') ? reason : `${reason}.`;
}
