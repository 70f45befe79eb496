import type { RankOptions } from '../../core/retriever.ts';
import { PARAMETERS } from '../parameters.ts';
import { type Curve, chanceOf } from './calibrations.ts';
import type { Fused } from './fuse.ts';
import { selectFirst, sortNumbers } from './quickselect.ts';

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
  const isHit = minScore === undefined ? hitByDefault(found, curve) : (tool: FoundTool) => worthOf(tool) >= minScore;
  const hits = found.filter((tool) => (tool.isNamed || tool.score > 0) && isHit(tool));
  return firstOf(hits, Math.max(0, limit), isAhead(usage)).map((tool) => ({ ...tool, score: worthOf(tool) }));
}

/** Where nobody says what is enough, the best tool decides whether there are hits, and what is far behind it is none. */
function hitByDefault(tools: readonly FoundTool[], curve: Curve | undefined): (tool: FoundTool) => boolean {
  const best = tools.reduce((most, { score }) => Math.max(most, score), 0);
  const isAnswered = curve === undefined ? best >= PARAMETERS.minScore : chanceOf(best, curve) >= curve.minScore;
  return ({ isNamed, score }) => isNamed || (isAnswered && score >= best * PARAMETERS.minShare);
}

/** The first ones in order. Most candidates are none of them, and are not put in order. */
function firstOf(tools: readonly FoundTool[], limit: number, isFirst: IsAhead): readonly FoundTool[] {
  const at = (place: number) => tools[place] as FoundTool; // a place in the list
  const isBefore = (a: number, b: number) => a !== b && isFirst(at(a), at(b));
  const places = new Uint32Array(tools.length);
  for (let place = 0; place < places.length; place += 1) places[place] = place;
  selectFirst(places, Math.trunc(limit), isBefore);
  const first = places.subarray(0, limit);
  sortNumbers(first, isBefore);
  const found: FoundTool[] = [];
  for (const place of first) found.push(at(place));
  return found;
}

type IsAhead = (a: FoundTool, b: FoundTool) => boolean;

/** Scores that differ by less are equal where usage may decide. */
const STEP = 0.005;

function isAhead(usage: RankOptions['usage']): IsAhead {
  const rankOf = ({ isNamed, score }: FoundTool) => (isNamed ? 1 + score : score); // above all that are not
  const isAheadByRank: IsAhead = (a, b) => {
    const ahead = rankOf(a) - rankOf(b);
    return ahead > 0 || (ahead === 0 && a.name < b.name);
  };
  if (usage === undefined) return isAheadByRank;
  const stepOf = (tool: FoundTool) => Math.round(rankOf(tool) / STEP);
  return (a, b) => {
    const ahead = stepOf(a) - stepOf(b) || usage(a.name) - usage(b.name);
    return ahead > 0 || (ahead === 0 && isAheadByRank(a, b));
  };
}
