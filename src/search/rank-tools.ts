import type { DenseIndex, Ranked, RankOptions, SearchPreference } from '../core/retriever.ts';
import { withoutEnd } from '../core/visible-text.ts';
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
import { createPrepare, type Prepared, type VectorOrigin } from './prepare-request.ts';
import type { Field } from './search-texts.ts';
import type { ToolIds } from './tool-ids.ts';
import type { Choice } from './top-ids.ts';

/** The inputs of a ranking. */
export interface RankedTools {
  readonly ids: ToolIds;
  readonly lexical: LexicalIndex;
  readonly dense: DenseIndex | undefined;
  readonly vectors: VectorOrigin;
}

/** Options for ranking one request. */
interface Ranking extends Prepared {
  readonly options: RankOptions;
}

/** Creates functions that prepare a request, and rank tools for it by words and, with vectors, by meaning. */
export function createRanking({ ids, lexical, dense, vectors: origin }: RankedTools) {
  const prepare = createPrepare({ lexical, dense, vectors: origin });

  function rank(query: string, { gloss, known, vectors, options }: Ranking): readonly Ranked[] {
    const match = lexical.match({ request: query, gloss, known });
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
        preference: options.preference?.(ids.name(tool.id)),
      }),
    );
    const compared = comparisonOf(candidates, meaning, { origin, match, choice });
    return judgeHits(found, { ...options, ...compared, catalogSize: ids.size, unknown: match.unknown }).map((tool) => ({
      name: tool.name,
      score: tool.score,
      confidence: tool.confidence,
      why: explainHit({ ...tool, words: match.explain(tool.id) }),
    }));
  }

  return { prepare, rank };
}

interface Compared {
  readonly origin: VectorOrigin;
  readonly match: LexicalMatch;
  readonly choice: Choice;
}

/** The way in which the request was compared with tools; it decides the meaning of the figures. */
function comparisonOf(
  candidates: readonly Candidate[],
  meaning: Meaning | undefined,
  { origin, match, choice }: Compared,
): Pick<Judgement, 'mode' | 'background'> {
  if (meaning === undefined) return { mode: 'words', background: 0 };
  if (origin === 'endpoint') return { mode: 'endpoint', background: backgroundOf(meaning, match.count, choice) };
  return { mode: candidates.some((one) => one.lexical > 0) ? 'hybrid' : 'vectors', background: 0 };
}

/** Number of tools to sample. */
const SAMPLE = 200;

/** Typical similarity of a request to unrelated tools: some models find everything similar. The median, without the nearest. */
export function backgroundOf({ dense, vectors }: Meaning, count: number, { isAllowed }: Choice): number {
  const step = Math.max(1, Math.floor(count / SAMPLE));
  const sample: number[] = [];
  for (let id = 0; id < count; id += step) if (isAllowed(id)) sample.push(id);
  const others = dense.similarity(vectors, Uint32Array.from(sample)).sort().subarray(0, -1);
  return Math.max(0, others[others.length >> 1] ?? 0);
}

// Equal scores are ordered by name, not by id, so that the order of additions does not matter.
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
  rest: 'description',
  source: 'source',
  bundle: 'bundle',
  category: 'category',
  tags: 'tags',
  parameters: 'parameters',
  parameterTexts: 'parameters',
  examples: 'examples',
};

/** The reasons for a hit. */
interface Reasons {
  readonly isNamed: boolean;
  readonly isExact: boolean;
  readonly preference: SearchPreference | undefined;
  readonly words: readonly MatchedWord[];
  readonly similarity: number | undefined;
}

/** The reasons as text: `name: "read", "file"; description: "folder"; similar in meaning (0.71)`. */
function explainHit({ isNamed, isExact, preference, words, similarity }: Reasons): string {
  const places: string[] = [];
  const parts: string[] = [];
  for (const { word, field, isMeant } of words.slice(0, MAX_WORDS)) {
    const place = PLACES[field];
    const quoted = isMeant ? `"${word}" in other words` : `"${word}"`;
    const known = places.indexOf(place);
    if (known >= 0) parts[known] += `, ${quoted}`;
    else {
      places.push(place);
      parts.push(`${place}: ${quoted}`);
    }
  }
  if (isNamed) parts.unshift('named in the request');
  else if (isExact) parts.unshift('name or title matches the request');
  if (similarity !== undefined && similarity >= 0.3) parts.push(`similar in meaning (${similarity.toFixed(2)})`);
  if (parts.length === 0) parts.push('similar in meaning');
  if (preference !== undefined) parts.unshift(`${PREFERENCES[preference]} by the profile`);
  return parts.join('; ');
}

const PREFERENCES: Readonly<Record<SearchPreference, string>> = { pin: 'pinned', boost: 'boosted', bury: 'buried' };

const MAX_REQUEST_LENGTH = 10_000;

/** Names that a request may refer to, in lower case: words that look like identifiers, are quoted, or are called a tool. */
export function namesMentioned(request: string): ReadonlySet<string> {
  const text = request.slice(0, MAX_REQUEST_LENGTH);
  const names = new Set<string>();
  const isShort = !MANY_WORDS.test(text);
  if (isShort || PART_OF_NAME.test(text))
    for (const word of text.split(BETWEEN_WORDS)) {
      const bare = withoutEnd(word, /\./);
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
/** More than two words. In a shorter request, each word may be a name. */
const MANY_WORDS = /^[\s,;:!?()[\]{}"'`<>]*(?:[^\s,;:!?()[\]{}"'`<>]+[\s,;:!?()[\]{}"'`<>]+){2}[^\s,;:!?()[\]{}"'`<>]/u;
/** Characters that a text must contain to have a word that looks like a name. Most texts do not, and need not be split. */
const PART_OF_NAME = /[_-]|\.[^\s.]|\p{Ll}\p{Lu}/u;

/** True for identifiers: `read_file`, `readFile`, `read-file`, `files.read`. */
function looksLikeName(word: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(word) && (/[_.-]/.test(word) || /\p{Ll}\p{Lu}/u.test(word));
}
