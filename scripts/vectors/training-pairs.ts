import { sentencesOf } from '../../src/search/dense/dense-index.ts';
import type { SetTool, TrainingSet } from './training-sets.ts';

/** A text and the tools that it should find. */
export interface TrainingPair {
  /** The whole text first, then its sentences if it has several. */
  readonly query: readonly string[];
  readonly relevant: readonly string[];
}

/** The pairs of one set, the texts of its tools, and how many pairs one pass over the data takes. */
export interface PairSet {
  readonly name: string;
  readonly pairs: readonly TrainingPair[];
  /** Several texts a tool; training takes one of them by chance. */
  readonly tools: ReadonlyMap<string, readonly string[]>;
  readonly perPass: number;
}

/** Large sets would drown small ones, which are closer to what people ask: a pass takes at most so many pairs of a set. */
const MOST_PER_PASS: Readonly<Record<string, number>> = {
  openapi_train: 16_000,
  tldr_train: 7_000,
  clinc150_train: 5_000,
  metatool: 6_000,
};
/** Small sets are gone through more than once a pass. */
const LEAST_PER_PASS = 600;
/** Shorter halves of a description say too little. */
const LEAST_CHARACTERS = 15;

/** The pairs of a set: its requests with their tools, or, in a corpus without requests, the halves of each description with the tool. */
export function toPairSet(set: TrainingSet): PairSet {
  const tools = new Map(set.tools.map((tool) => [tool.id, textsOf(tool)]));
  const asked = set.queries.length === 0 ? pairsOfTools(set.tools) : set.queries;
  const pairs = asked
    .map(({ query, relevant }) => ({ query: textsOfQuery(query), relevant: relevant.filter((id) => tools.has(id)) }))
    .filter(({ relevant }) => relevant.length > 0);
  const most = MOST_PER_PASS[set.name] ?? Number.POSITIVE_INFINITY;
  return { name: set.name, pairs, tools, perPass: Math.max(LEAST_PER_PASS, Math.min(most, pairs.length)) };
}

/** Every text of a set, for counting words. */
export function* allTexts(set: TrainingSet): Generator<string> {
  for (const tool of set.tools) yield `${tool.name}. ${tool.description ?? ''}`;
  for (const { query } of set.queries) yield query;
}

/** What a tool is called and does, twice as often as the same with its parameters; now and then the name alone. */
function textsOf(tool: SetTool): readonly string[] {
  const { name, description = '' } = tool;
  const text = `${name}. ${description}`;
  const parameters = Object.keys(tool.schema?.properties ?? {}).join(' ');
  return [text, text, `${text} ${parameters}`, description === '' || /[\s_A-Z/-]/.test(name.slice(1)) ? name : text];
}

function textsOfQuery(query: string): readonly string[] {
  const sentences = sentencesOf(query);
  return sentences.length > 1 ? [query, ...sentences] : [query];
}

/** A description says what the name says, and its halves say the same as each other. */
function pairsOfTools(tools: readonly SetTool[]): readonly { readonly query: string; readonly relevant: string[] }[] {
  return tools.flatMap((tool) => {
    const [first = '', ...rest] = (tool.description ?? '').split(/(?<=[.!?])\s+/);
    const halves = [first, rest.join(' ')].filter(({ length }) => length > LEAST_CHARACTERS);
    return halves.map((query) => ({ query, relevant: [tool.id] }));
  });
}
