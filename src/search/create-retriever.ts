import { isPromise } from '../core/json.ts';
import type { DenseIndex, QueryVectors, Ranked, RankOptions, Retriever } from '../core/retriever.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { bytesOf, floatsIn, readSections, writeSections } from './byte-sections.ts';
import { type FoundTool, findCandidates, fuse, judgeHits } from './fuse.ts';
import { createLexicalIndex, type LexicalIndex, type MatchedWord } from './lexical/lexical-index.ts';
import { isInGeneralTerms, namesMentioned } from './read-request.ts';
import { denseTexts, type Field, searchTextsOf } from './search-texts.ts';
import {
  createFingerprint,
  createMarks,
  createToolIds,
  fingerprintSpec,
  type KeptTools,
  NO_MARK,
  type ToolIds,
} from './tool-ids.ts';
import type { Choice } from './top-ids.ts';
import { type Calibration, WORDS_ALONE } from './tuning.ts';

/** How a retriever is made. */
export interface RetrieverSettings {
  /** Makes the side that compares meanings, empty or from what it kept; absent: words alone. */
  readonly dense?: (snapshot: Uint8Array | undefined) => DenseIndex;
  /** What the similarities of the dense side are worth; absent: nobody knows, and a score says how well a tool fits, not how likely. */
  readonly calibration?: Calibration;
  /** What `snapshot` returned once. One that cannot be used is as good as none: everything is indexed anew. */
  readonly snapshot?: Uint8Array;
  /** What the bundles of a tool say of themselves; it is found by that besides its own words. */
  readonly bundlesOf?: (tool: string) => readonly string[];
}

/** A retriever that can be kept: with the snapshot, adding the same tools again costs next to nothing. */
export interface KeptRetriever extends Retriever {
  snapshot(): Uint8Array;
  /** How many tools were indexed, or marked, since it was made; 0 means that the snapshot it came from still says everything. */
  readonly changes: number;
}

/** Ranks tools by the words of a request and, where there is a dense side, by its meaning. */
export function createRetriever(settings: RetrieverSettings = {}): KeptRetriever {
  const kept = settings.snapshot === undefined ? undefined : readRetriever(settings.snapshot);
  const ids = createToolIds(kept?.tools);
  const lexical = kept?.lexical ?? createLexicalIndex();
  const dense = settings.dense?.(kept?.dense);
  const unconfirmed = createUnconfirmed(kept?.tools.names ?? []);
  const markOf = createMarks();
  let changes = 0;

  function removeTool(id: number): void {
    lexical.remove(id);
    dense?.remove([id]);
    unconfirmed.delete(id);
    ids.release(id);
    changes += 1;
  }

  /** True for a tool that is there, and says the same. One that is known by its mark is not parsed for that. */
  function isKnown(id: number | undefined, spec: ToolSpec, bundles: readonly string[] | undefined): id is number {
    if (id === undefined) return false;
    const mark = markOf(spec, bundles);
    if (mark !== NO_MARK && mark === ids.mark(id)) return true;
    if (ids.fingerprint(id) !== fingerprintSpec(spec, bundles)) return false;
    noteMark(id, mark);
    return true;
  }

  function noteMark(id: number, mark: number): void {
    if (mark === NO_MARK) return; // the one of before still holds
    ids.setMark(id, mark);
    changes += 1;
  }

  function addTool(spec: ToolSpec): void {
    const bundles = settings.bundlesOf?.(spec.name);
    const known = ids.find(spec.name);
    if (isKnown(known, spec, bundles)) {
      unconfirmed.delete(known);
      if (dense === undefined || dense.has(known)) return;
      changes += 1;
      dense.add([{ id: known, texts: denseTexts(searchTextsOf(spec, bundles)) }]);
      return;
    }
    if (known !== undefined) removeTool(known);
    const fingerprint = createFingerprint();
    const texts = searchTextsOf(spec, bundles, fingerprint.take);
    const id = ids.take(spec.name, fingerprint.value(), markOf(spec, bundles));
    lexical.add(id, texts);
    dense?.add([{ id, texts: denseTexts(texts) }]);
    changes += 1;
  }

  function rankWith(query: string, vectors: QueryVectors | undefined, options: RankOptions): readonly Ranked[] {
    const match = lexical.match(query);
    const choice = choiceOf(ids, options.among);
    const named = new Set<number>();
    for (const name of namesMentioned(query)) for (const id of ids.named(name)) if (choice.isAllowed(id)) named.add(id);
    const meaning = dense !== undefined && vectors !== undefined ? { dense, vectors } : undefined;
    const candidates = findCandidates({ match, meaning, named, choice, limit: options.limit });
    const found = fuse(candidates, ids.size).map(
      ({ id, lexical: words, similarity, score }): FoundTool => ({
        id,
        lexical: words,
        similarity,
        score,
        name: ids.name(id),
        isNamed: named.has(id),
      }),
    );
    const calibration = meaning === undefined ? WORDS_ALONE : settings.calibration;
    const curve = isInGeneralTerms(query) ? calibration?.general : calibration?.particular;
    return judgeHits(found, { ...options, curve }).map(({ id, name, score, similarity, isNamed }) => ({
      name,
      score,
      why: explainHit({ isNamed, words: match.explain(id), similarity }),
    }));
  }

  return {
    add: (specs) => specs.forEach(addTool),
    remove(names) {
      for (const name of names) {
        const id = ids.find(name);
        if (id !== undefined) removeTool(id);
      }
    },
    async rank(query, options) {
      unconfirmed.all().forEach(removeTool);
      if (ids.size === 0) return [];
      const prepared = dense?.prepare(query);
      return rankWith(query, isPromise(prepared) ? await prepared : prepared, options);
    },
    snapshot() {
      unconfirmed.all().forEach(removeTool);
      return writeRetriever({ tools: ids.entries(), lexical, dense: dense?.snapshot() });
    },
    get changes() {
      return changes;
    },
  };
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
  readonly words: readonly MatchedWord[];
  readonly similarity: number | undefined;
}

/** Why a tool was found, in words: `name: "read", "file"; description: "folder"; similar in meaning (0.71)`. */
function explainHit({ isNamed, words, similarity }: Reasons): string {
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
  if (similarity !== undefined && similarity >= 0.3) parts.push(`similar in meaning (${similarity.toFixed(2)})`);
  return parts.length === 0 ? 'similar in meaning' : parts.join('; ');
}

/** Numbers of a snapshot whose tools nobody has added yet: they may be gone from the catalog. */
interface Unconfirmed {
  delete(id: number): void;
  all(): readonly number[];
}

/** All that have a name. A byte each: a set of ten thousand takes a start longer than reading them. */
function createUnconfirmed(names: readonly (string | null)[]): Unconfirmed {
  const isOpen = new Uint8Array(names.length);
  let count = 0;
  names.forEach((name, id) => {
    if (name === null) return;
    isOpen[id] = 1;
    count += 1;
  });
  return {
    delete(id) {
      if (isOpen[id] !== 1) return;
      isOpen[id] = 0;
      count -= 1;
    },
    all() {
      const ids: number[] = [];
      if (count === 0) return ids;
      for (let id = 0; id < isOpen.length; id += 1) if (isOpen[id] === 1) ids.push(id);
      return ids;
    },
  };
}

/** What a retriever is made of, as it is kept. */
interface KeptParts {
  readonly tools: KeptTools;
  readonly lexical: LexicalIndex;
  readonly dense: Uint8Array | undefined;
}

/** Raised whenever tools are numbered or fingerprinted in another way. */
const VERSION = 4;

function writeRetriever({ tools, lexical, dense }: KeptParts): Uint8Array {
  const { names, fingerprints, marks } = tools;
  const list = new TextEncoder().encode(JSON.stringify(names));
  const numbers = [bytesOf(fingerprints), bytesOf(marks)];
  return writeSections(VERSION, [list, ...numbers, lexical.snapshot(), ...(dense === undefined ? [] : [dense])]);
}

/** What was kept; undefined where it is damaged or of another version: then everything is indexed anew. */
function readRetriever(bytes: Uint8Array): KeptParts | undefined {
  const sections = readSections(VERSION, bytes);
  const [list, fingerprints, marks, lexicalBytes, dense] = sections ?? [];
  if (!list || !fingerprints || !marks || !lexicalBytes) return undefined;
  const lexical = createLexicalIndex(lexicalBytes);
  if (lexical === undefined) return undefined;
  // The checksum holds, so the list is what `writeRetriever` wrote.
  const names = JSON.parse(new TextDecoder().decode(list)) as KeptTools['names'];
  return { tools: { names, fingerprints: floatsIn(fingerprints), marks: floatsIn(marks) }, lexical, dense };
}
