import type { Ranked, SearchPreference } from '../../core/retriever.ts';
import { wordsOf } from '../lexical/split-words.ts';
import { termOf } from '../lexical/terms.ts';

/** The hits of one step of a goal. */
interface StepHits {
  readonly text: string;
  /** By the step alone, and by the step in its context. */
  readonly found: readonly (readonly Ranked[])[];
}

/** The inputs for choosing tools. */
export interface GoalHits {
  readonly steps: readonly StepHits[];
  /** The hits of the whole goal. */
  readonly whole: readonly Ranked[];
  readonly minScore?: number | undefined;
  /** The facts about a tool; undefined for a tool that may not be chosen. */
  toolOf(name: string): GoalTool | undefined;
}

interface GoalTool {
  /** Its name at its source. */
  readonly origin: string;
  readonly source: string;
  readonly preference: SearchPreference | undefined;
}

/** A chosen tool with its step. */
interface ChosenTool extends Ranked {
  readonly step: string;
}

/** Parameters, chosen on the dev requests for several tools; docs/search-tuning.md has the figures. */
const GOAL_PARAMETERS = {
  /** The weight of the score for the whole goal, relative to that for the step. */
  whole: 0.5,
  /** The gain of the source that fits the whole goal best: the steps of a job mostly use one product. */
  source: 0.3,
  /** The gain of a tool with the name of the first tool of another step: the steps mostly do something with the same thing. */
  sameThing: 0.4,
  /** The loss of a tool with the name of another tool of its step. */
  duplicate: 0.1,
} as const;

const FACTORS: Readonly<Record<SearchPreference, number>> = { pin: 1, boost: 1.25, bury: 0.5 };
/** Puts pinned tools first. */
const PINNED = 10;

interface Candidate {
  readonly hit: Ranked;
  readonly value: number;
  readonly words: ReadonlySet<string>;
  /** Similarity of its name to the first tools of other steps, and to the chosen tools of its own. */
  likeOthers: number;
  likeOwn: number;
}

/** Chooses tools in turns: the best tool of each step, then the next of each. */
export function chooseTools(goal: GoalHits, limit: number): readonly ChosenTool[] {
  const steps = goal.steps.map((step) => ({ text: step.text, left: candidatesOf(step, goal) }));
  const chosen = new Map<string, ChosenTool>();
  for (let round = 0; chosen.size < limit; round += 1) {
    const before = chosen.size;
    for (const step of steps) {
      const best = chosen.size < limit ? takeBest(step.left, chosen) : undefined;
      if (best === undefined) continue;
      chosen.set(best.hit.name, { ...best.hit, step: step.text });
      for (const other of steps) if (other === step || round === 0) noteChoice(other.left, best, other === step);
    }
    if (chosen.size === before) break;
  }
  return [...chosen.values()];
}

function candidatesOf({ found }: StepHits, goal: GoalHits): Candidate[] {
  const shareOf = sharesOfSources(goal);
  const values = new Map<string, { value: number; hit: Ranked }>();
  const add = (hits: readonly Ranked[], weight: number) => {
    for (const hit of hits) {
      const known = values.get(hit.name);
      const best = known !== undefined && known.hit.score >= hit.score ? known.hit : hit;
      values.set(hit.name, { value: (known?.value ?? 0) + weight * hit.score, hit: best });
    }
  };
  for (const hits of found) add(hits, 1 / found.length);
  add(goal.whole, GOAL_PARAMETERS.whole);
  return [...values].flatMap(([name, { value, hit }]) => {
    const tool = goal.toolOf(name);
    if (tool === undefined || hit.score < (goal.minScore ?? 0)) return [];
    const { preference, source, origin } = tool;
    const preferred = (value + GOAL_PARAMETERS.source * shareOf(source)) * FACTORS[preference ?? 'pin'];
    const pinned = preference === 'pin' ? PINNED : 0;
    return [{ hit, value: preferred + pinned, words: wordsOfName(origin), likeOthers: 0, likeOwn: 0 }];
  });
}

const MOST_SOURCE_HITS = 10;

/** How well each source fits the whole goal, relative to the best one. */
function sharesOfSources({ whole, toolOf }: GoalHits): (source: string) => number {
  const sums = new Map<string, number>();
  whole.slice(0, MOST_SOURCE_HITS).forEach(({ name, score }, place) => {
    const source = toolOf(name)?.source;
    if (source !== undefined) sums.set(source, (sums.get(source) ?? 0) + score / (1 + place));
  });
  const best = Math.max(0, ...sums.values());
  return (source) => (best === 0 ? 0 : (sums.get(source) ?? 0) / best);
}

function takeBest(candidates: readonly Candidate[], chosen: ReadonlyMap<string, unknown>): Candidate | undefined {
  let best: Candidate | undefined;
  for (const one of candidates)
    if (!chosen.has(one.hit.name) && (best === undefined || worthOf(one) > worthOf(best))) best = one;
  return best;
}

function worthOf({ value, likeOthers, likeOwn }: Candidate): number {
  return value + GOAL_PARAMETERS.sameThing * likeOthers - GOAL_PARAMETERS.duplicate * likeOwn;
}

function noteChoice(candidates: readonly Candidate[], { words }: Candidate, isOwn: boolean): void {
  for (const one of candidates) {
    const similarity = similarityOf(one.words, words);
    if (isOwn) one.likeOwn = Math.max(one.likeOwn, similarity);
    else one.likeOthers = Math.max(one.likeOthers, similarity);
  }
}

function wordsOfName(name: string): ReadonlySet<string> {
  return new Set(wordsOf(name).flatMap(({ text, isWhole }) => (isWhole ? [] : (termOf(text) ?? []))));
}

/** The share of common words (Jaccard). */
function similarityOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = one.intersection(other).size;
  return common === 0 ? 0 : common / (one.size + other.size - common);
}
