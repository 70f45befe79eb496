import type { RankOptions } from '../core/retriever.ts';
import { type Curve, chanceOf } from './calibrations.ts';
import type { Fused } from './fuse.ts';
import { PARAMETERS } from './parameters.ts';

/** A tool that may be returned. */
export interface FoundTool extends Fused {
  readonly name: string;
  /** True where the request names it: then it is certain. */
  readonly isNamed: boolean;
}

/** What tools are judged by. */
export interface Judgement extends RankOptions {
  /** Undefined where nobody knows what the similarities are worth: then scores stay as they are. */
  readonly curve: Curve | undefined;
}

/** The hits, in order, with what they are likely to be worth. */
export function judgeHits(found: readonly FoundTool[], judgement: Judgement): readonly FoundTool[] {
  const { curve, limit, minScore, usage } = judgement;
  const worthOf = ({ isNamed, score }: FoundTool): number => {
    if (isNamed) return 1;
    return curve === undefined ? score : chanceOf(score, curve);
  };
  const ordered = found.filter(({ isNamed, score }) => isNamed || score > 0).sort(inOrder(usage));
  const isHit = minScore === undefined ? hitByDefault(ordered, curve) : (tool: FoundTool) => worthOf(tool) >= minScore;
  return ordered
    .filter(isHit)
    .slice(0, Math.max(0, limit))
    .map((tool) => ({ ...tool, score: worthOf(tool) }));
}

/** Where nobody says what is enough, the best tool decides whether there are hits, and what is far behind it is none. */
function hitByDefault(tools: readonly FoundTool[], curve: Curve | undefined): (tool: FoundTool) => boolean {
  const best = tools.reduce((most, { score }) => Math.max(most, score), 0);
  const isAnswered = curve === undefined ? best >= PARAMETERS.minScore : chanceOf(best, curve) >= curve.minScore;
  return ({ isNamed, score }) => isNamed || (isAnswered && score >= best * PARAMETERS.minShare);
}

/** Scores that differ by less are equal where usage may decide. */
const STEP = 0.005;

function inOrder(usage: RankOptions['usage']): (a: FoundTool, b: FoundTool) => number {
  const rankOf = ({ isNamed, score }: FoundTool) => (isNamed ? 1 : score);
  const byRank = (a: FoundTool, b: FoundTool) => rankOf(b) - rankOf(a) || (a.name < b.name ? -1 : 1);
  if (usage === undefined) return byRank;
  const steps = (tool: FoundTool) => Math.round(rankOf(tool) / STEP);
  return (a, b) => steps(b) - steps(a) || usage(b.name) - usage(a.name) || byRank(a, b);
}
