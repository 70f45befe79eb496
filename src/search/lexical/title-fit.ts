import type { createPackedLists } from './packed-lists.ts';
import { FIELD_BITS, LEAD_BIT, NAME_BIT, SOURCE_BIT, TITLE_BIT } from './said-terms.ts';
import { NO_VERB } from './verb-classes.ts';
import type { WeighedRequest } from './weigh-request.ts';

/** How a request fits what a tool is called. */
export interface TitleFit {
  /** From 0 to 1: how much of the best clause a title says, and how much of the title the clause says. */
  readonly title: number;
  /** 1 if the verbs agree, -1 if they contradict each other, 0 if either is unknown. */
  readonly verb: number;
}

/** The inputs for computing fits. */
export interface FitSources {
  readonly said: ReturnType<typeof createPackedLists>;
  rarity(number: number): number;
  verbOf(id: number): number;
}

/** Three texts say what a tool is: its title, its name without the words of its source, and its first sentence. */
const TITLES = 3;
const MAX_CLAUSES = 16;

/** Creates a function that compares a request with what a tool is called. */
export function createTitleFit({
  said,
  rarity,
  verbOf,
}: FitSources): (id: number, request: WeighedRequest) => TitleFit {
  const totals = new Float64Array(TITLES);
  const titleSays = new Float64Array(TITLES * MAX_CLAUSES);
  const clauseSays = new Float64Array(TITLES * MAX_CLAUSES);

  /** Counts a term of a tool for the clauses that contain it, or of which it is a synonym. */
  function count(number: number, titles: number, request: WeighedRequest): void {
    const weight = rarity(number);
    for (let title = 0; title < TITLES; title += 1)
      if ((titles >> title) & 1) totals[title] = (totals[title] as number) + weight; // one for each title
    for (const { share, place } of request.byNumber.get(number) ?? []) {
      const { clauses, weight: asked } = request.words[place] as WeighedRequest['words'][number]; // an index of the words
      for (let title = 0; title < TITLES; title += 1) {
        if (((titles >> title) & 1) === 0) continue;
        for (let rest = clauses; rest !== 0; rest &= rest - 1) {
          const at = title * MAX_CLAUSES + 31 - Math.clz32(rest & -rest);
          titleSays[at] = (titleSays[at] as number) + share * weight; // one for each title and clause
          clauseSays[at] = (clauseSays[at] as number) + share * asked; // as above
        }
      }
    }
  }

  function bestFit({ clauses }: WeighedRequest): number {
    let best = 0;
    for (let title = 0; title < TITLES; title += 1) {
      for (let clause = 0; clause < clauses.length; clause += 1) {
        const at = title * MAX_CLAUSES + clause;
        const ofTitle = Math.min(1, (titleSays[at] as number) / (totals[title] || 1)); // as above
        const ofClause = Math.min(1, (clauseSays[at] as number) / (clauses[clause] || 1)); // as above
        if (ofTitle > 0) best = Math.max(best, (2 * ofTitle * ofClause) / (ofTitle + ofClause));
      }
    }
    return best;
  }

  return (id, request) => {
    totals.fill(0);
    titleSays.fill(0);
    clauseSays.fill(0);
    const { data } = said;
    const end = said.start(id) + said.length(id);
    for (let at = said.start(id); at < end; at += 1) {
      const entry = data[at] as number; // within the list
      if ((entry & (NAME_BIT | TITLE_BIT | LEAD_BIT)) === 0) break; // names, titles and first sentences come first
      count(entry >>> FIELD_BITS, titlesOf(entry), request);
    }
    const own = request.verbs === NO_VERB ? NO_VERB : verbOf(id);
    const verb = own === NO_VERB ? 0 : (request.verbs & own) !== 0 ? 1 : -1;
    return { title: bestFit(request), verb };
  };
}

/** The titles that contain the term of an entry, as bits. */
function titlesOf(entry: number): number {
  const inTitle = (entry & TITLE_BIT) !== 0 ? 1 : 0;
  const inName = (entry & (NAME_BIT | SOURCE_BIT)) === NAME_BIT ? 2 : 0;
  const inLead = (entry & LEAD_BIT) !== 0 ? 4 : 0;
  return inTitle | inName | inLead;
}
