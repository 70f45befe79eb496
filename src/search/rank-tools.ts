import type { DenseIndex, QueryVectors, Ranked, RankOptions } from '../core/retriever.ts';
import {
  type Candidate,
  type FoundTool,
  findCandidates,
  fuse,
  type Judgement,
  judgeHits,
  type Meaning,
} from './fuse.ts';
import type { LexicalIndex, LexicalMatch } from './lexical/lexical-index.ts';
import type { MatchedWord } from './lexical/said-terms.ts';
import { STOP_WORDS } from './lexical/terms.ts';
import type { Field } from './search-texts.ts';
import type { ToolIds } from './tool-ids.ts';
import type { Choice } from './top-ids.ts';

/** Vectors that come with the package, whose similarities are known, or of a model that nobody knows. */
export type VectorOrigin = 'builtin' | 'endpoint';

/** What requests are ranked over. */
export interface RankedTools {
  readonly ids: ToolIds;
  readonly lexical: LexicalIndex;
  readonly dense: DenseIndex | undefined;
  readonly vectors: VectorOrigin;
}

/** How one request is ranked. */
interface Ranking {
  /** Undefined where none can be had. */
  readonly vectors: QueryVectors | undefined;
  readonly options: RankOptions;
}

/** Ranks tools by words and, where there are vectors, by meaning. */
export function createRanking({ ids, lexical, dense, vectors: origin }: RankedTools) {
  return (query: string, { vectors, options }: Ranking): readonly Ranked[] => {
    const match = lexical.match(query);
    const choice = choiceOf(ids, options.among);
    const named = new Set<number>();
    for (const name of namesMentioned(query)) for (const id of ids.named(name)) if (choice.isAllowed(id)) named.add(id);
    const exact = new Set(match.exact(choice.isAllowed));
    const meaning = dense !== undefined && vectors !== undefined ? { dense, vectors } : undefined;
    const certain = named.union(exact);
    const candidates = findCandidates({ match, meaning, certain, choice, limit: options.limit });
    const found = fuse(candidates, ids.size).map(
      (tool): FoundTool => ({
        ...tool,
        name: ids.name(tool.id),
        isNamed: named.has(tool.id),
        isExact: exact.has(tool.id),
      }),
    );
    const compared = comparisonOf(candidates, meaning, { origin, match, choice });
    return judgeHits(found, { ...options, ...compared, catalogSize: ids.size }).map((tool) => ({
      name: tool.name,
      score: tool.score,
      confidence: tool.confidence,
      why: explainHit({ ...tool, words: match.explain(tool.id) }),
    }));
  };
}

interface Compared {
  readonly origin: VectorOrigin;
  readonly match: LexicalMatch;
  readonly choice: Choice;
}

/** How a request was compared with tools, which decides what figures are worth. */
function comparisonOf(
  candidates: readonly Candidate[],
  meaning: Meaning | undefined,
  { origin, match, choice }: Compared,
): Pick<Judgement, 'mode' | 'background'> {
  if (meaning === undefined) return { mode: 'words', background: 0 };
  if (origin === 'endpoint') return { mode: 'endpoint', background: backgroundOf(meaning, match.count, choice) };
  return { mode: candidates.some((one) => one.lexical > 0) ? 'hybrid' : 'vectors', background: 0 };
}

/** Of so many tools the similarity is looked at. */
const SAMPLE = 200;

/** How similar a request is to tools that it does not mean: some models find everything similar. The median, without the nearest. */
export function backgroundOf({ dense, vectors }: Meaning, count: number, { isAllowed }: Choice): number {
  const step = Math.max(1, Math.floor(count / SAMPLE));
  const sample: number[] = [];
  for (let id = 0; id < count; id += step) if (isAllowed(id)) sample.push(id);
  const others = dense.similarity(vectors, Uint32Array.from(sample)).sort().subarray(0, -1);
  return Math.max(0, others[others.length >> 1] ?? 0);
}

// Equal scores by name, not by id: what was added before or after must not matter.
function choiceOf(ids: ToolIds, among: ((name: string) => boolean) | undefined): Choice {
  return {
    isAllowed: (id) => ids.isUsed(id) && (among === undefined || among(ids.name(id))),
    isFirst: (a, b) => ids.name(a) < ids.name(b),
  };
}

const MAX_WORDS = 5;

const PLACES: Readonly<Record<Field, string>> = {
  name: 'name',
  title: 'title',
  description: 'description',
  source: 'source',
  bundle: 'bundle',
  category: 'category',
  tags: 'tags',
  parameters: 'parameters',
  parameterTexts: 'parameters',
  examples: 'examples',
};

/** What made a tool a hit. */
interface Reasons {
  readonly isNamed: boolean;
  readonly isExact: boolean;
  readonly words: readonly MatchedWord[];
  readonly similarity: number | undefined;
}

/** Why a tool was found, in words: `name: "read", "file"; description: "folder"; similar in meaning (0.71)`. */
function explainHit({ isNamed, isExact, words, similarity }: Reasons): string {
  const places: string[] = [];
  const parts: string[] = [];
  for (const { word, field } of words.slice(0, MAX_WORDS)) {
    const place = PLACES[field];
    const known = places.indexOf(place);
    if (known >= 0) parts[known] += `, "${word}"`;
    else {
      places.push(place);
      parts.push(`${place}: "${word}"`);
    }
  }
  if (isNamed) parts.unshift('named in the request');
  else if (isExact) parts.unshift('called as the request says');
  if (similarity !== undefined && similarity >= 0.3) parts.push(`similar in meaning (${similarity.toFixed(2)})`);
  return parts.length === 0 ? 'similar in meaning' : parts.join('; ');
}

const MAX_REQUEST_LENGTH = 10_000;

/** The names that a request may mean: words that look like identifiers, stand in quotes, or are called a tool. Lower case. */
export function namesMentioned(request: string): ReadonlySet<string> {
  const text = request.slice(0, MAX_REQUEST_LENGTH);
  const names = new Set<string>();
  const isShort = !MANY_WORDS.test(text);
  if (isShort || PART_OF_NAME.test(text))
    for (const word of text.split(BETWEEN_WORDS)) {
      const bare = word.replace(/\.+$/, '');
      if (word !== '' && (isShort || looksLikeName(bare))) names.add(bare.toLowerCase());
    }
  for (const [, quoted = ''] of text.matchAll(/["'`]([\w.-]{2,64})["'`]/g)) names.add(quoted.toLowerCase());
  if (!/tool/i.test(text)) return names;
  for (const pattern of CALLED_TOOL)
    for (const [, called = ''] of text.matchAll(pattern))
      if (!STOP_WORDS.has(called.toLowerCase())) names.add(called.toLowerCase());
  return names;
}

const CALLED_TOOL = [/\b([\w.-]{2,64}) tool\b/gi, /\btool ([\w.-]{2,64})\b/gi];
const BETWEEN_WORDS = /[\s,;:!?()[\]{}"'`<>]+/u;
/** More than two words: in fewer one may be a name, whatever it looks like. */
const MANY_WORDS = /^[\s,;:!?()[\]{}"'`<>]*(?:[^\s,;:!?()[\]{}"'`<>]+[\s,;:!?()[\]{}"'`<>]+){2}[^\s,;:!?()[\]{}"'`<>]/u;
/** What a text must have somewhere for a word of it to look like a name: most have not, and need not be taken apart. */
const PART_OF_NAME = /[_-]|\.[^\s.]|\p{Ll}\p{Lu}/u;

/** True for what nobody writes but as a name: `read_file`, `readFile`, `read-file`, `files.read`. */
function looksLikeName(word: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(word) && (/[_.-]/.test(word) || /\p{Ll}\p{Lu}/u.test(word));
}
