import type { Ranked, SearchOptions } from '../../core/retriever.ts';
import { isFindable, preferenceIn, rankInView, type Searched } from '../rank-in-view.ts';
import { chooseTools, type GoalHits } from './choose-tools.ts';
import { splitGoal } from './split-goal.ts';

/** The inputs for ranking the tools of a goal. */
interface GoalRanking extends Pick<GoalHits, 'toolOf' | 'minScore'> {
  readonly limit: number;
  rank(query: string, limit: number): Promise<readonly Ranked[]>;
}

/** Ranks the tools of a view for a goal, in the order that its profile prefers. */
export function rankGoalInView(
  searched: Searched,
  goal: string,
  { limit, minScore }: SearchOptions & { readonly limit: number },
): Promise<readonly Ranked[]> {
  const view = searched.view();
  const preference = preferenceIn(view, searched.generation().bundles);
  return rankGoal(goal, {
    limit,
    minScore,
    rank: (query, depth) => rankInView(searched, query, { limit: depth }),
    toolOf(name) {
      const spec = isFindable(name, view) ? view.get(name) : undefined;
      return spec && { origin: spec.origin, source: spec.source, preference: preference?.(name) };
    },
  });
}

/** Number of hits of each search that may be chosen. */
const DEPTH = 100;

/** The tools for a job of several steps: the best ones of each step in turns. The first one has the confidence of the best one. */
export async function rankGoal(
  goal: string,
  { limit, minScore, rank, toolOf }: GoalRanking,
): Promise<readonly Ranked[]> {
  const split = splitGoal(goal);
  const [whole = [], ...found] = await Promise.all(
    [goal, ...split.flatMap(({ text, inContext }) => [text, inContext])].map((query) => rank(query, DEPTH)),
  );
  const steps = split.map(({ text }, index) => ({ text, found: found.slice(2 * index, 2 * index + 2) }));
  const chosen = chooseTools({ steps, whole, toolOf, minScore }, limit);
  const best = chosen.find(({ confidence }) => confidence === 'high');
  return chosen.map(({ step, ...tool }, place) => ({
    ...tool,
    ...(place === 0 && best !== undefined && { confidence: 'high' as const }),
    why: split.length === 1 ? tool.why : `for "${step}": ${tool.why}`,
  }));
}
