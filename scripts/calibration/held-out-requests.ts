import type { Embedder } from '../../src/core/retriever.ts';
import type { SearchMode } from '../../src/search/tuning.ts';
import { type Random, shuffled } from '../vectors/random.ts';
import type { SetQuery, SetTool, TrainingSet } from '../vectors/training-sets.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';

/** The figure of the best tool for a request that the catalogue can answer, or cannot. */
export interface Trial {
  readonly set: string;
  readonly isAnswerable: boolean;
  readonly score: number;
}

/** What trials are made with. */
export interface TrialOptions {
  readonly embedder: Embedder;
  readonly mode: SearchMode;
  /** Tools of real servers, to be among those of a set. */
  readonly others: readonly SetTool[];
  /** Requests about something else. */
  readonly strangers: readonly SetQuery[];
  /** Sentences that ask for nothing: people say such things before and after what they ask. */
  readonly talk: readonly string[];
  readonly random: Random;
}

/** How many tools catalogues have, how many requests are tried in each, and how many catalogues of each are made. */
const CATALOGUES = [
  { tools: 10, requests: 5, count: 4 },
  { tools: 30, requests: 5, count: 4 },
  { tools: 150, requests: 40, count: 1 },
  { tools: 300, requests: 40, count: 1 },
  { tools: 500, requests: 40, count: 1 },
  { tools: Number.POSITIVE_INFINITY, requests: 60, count: 1 },
];
/** The share of other servers' tools in every second catalogue. */
const OTHERS = 0.4;
const STRANGERS = 8;

/** Requests of a set: each with its catalogue, and once more when what answers it is taken out. */
export function* tryRequests(set: TrainingSet, options: TrialOptions): Generator<Trial> {
  let made = 0;
  for (const { tools, requests, count } of CATALOGUES) {
    for (let repeat = 0; repeat < count; repeat++, made++) {
      const asked = shuffled(set.queries, options.random).slice(0, requests);
      const chosen = chooseTools(set, asked, { size: tools, isMixed: made % 2 === 1, options });
      const catalogue = createCatalogue(chosen, options.embedder, options.mode);
      for (const request of asked) {
        const query = amongTalk(request.query, options);
        yield* tryRequest(set.name, { ...request, query }, catalogue);
      }
      if (tools > 300) continue; // among very many tools there may be one for them
      for (const { query } of shuffled(options.strangers, options.random).slice(0, STRANGERS))
        yield { set: set.name, isAnswerable: false, score: catalogue.bestScore(amongTalk(query, options)) };
    }
  }
}

function* tryRequest(set: string, { query, relevant }: SetQuery, catalogue: Catalogue): Generator<Trial> {
  yield { set, isAnswerable: true, score: catalogue.bestScore(query) };
  const gone = relevant.flatMap((id) => catalogue.alike(id));
  yield { set, isAnswerable: false, score: catalogue.without(gone, () => catalogue.bestScore(query)) };
}

/** Half of the requests with one to three sentences around them. */
function amongTalk(request: string, { talk, random }: TrialOptions): string {
  if (random.next() < 0.5) return request;
  const around = Array.from({ length: 1 + random.below(3) }, () => talk[random.below(talk.length)] ?? '');
  const before = random.below(around.length + 1);
  return [...around.slice(0, before), request, ...around.slice(before)].join(' ');
}

interface Choice {
  readonly size: number;
  readonly isMixed: boolean;
  readonly options: TrialOptions;
}

/** What the requests need, and tools of the same set or of others' to fill up. */
function chooseTools(set: TrainingSet, asked: readonly SetQuery[], { size, isMixed, options }: Choice) {
  const wanted = new Set(asked.flatMap(({ relevant }) => relevant));
  const needed = set.tools.filter(({ id }) => wanted.has(id));
  const rest = shuffled(
    set.tools.filter(({ id }) => !wanted.has(id)),
    options.random,
  );
  const share = isMixed && Number.isFinite(size) ? OTHERS : 0;
  const foreign = shuffled(options.others, options.random).slice(0, share * Math.min(size, set.tools.length));
  return [...needed, ...rest.slice(0, Math.max(0, size - needed.length - foreign.length)), ...foreign];
}
