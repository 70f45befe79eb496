import { isPromise } from '../core/json.ts';
import type { DenseIndex, Retriever } from '../core/retriever.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { bytesOf, floatsIn, readSections, writeSections } from './byte-sections.ts';
import { createLexicalIndex, type LexicalIndex } from './lexical/lexical-index.ts';
import { createRanking, type VectorOrigin } from './rank-tools.ts';
import { denseTexts, searchTextsOf } from './search-texts.ts';
import { createFingerprint, createMarks, createToolIds, fingerprintSpec, type KeptTools, NO_MARK } from './tool-ids.ts';

/** How a retriever is made. */
export interface RetrieverSettings {
  /** Makes the side that compares meanings, empty or from what it kept; absent: words alone. */
  readonly dense?: (snapshot: Uint8Array | undefined) => DenseIndex;
  /** Whose vectors the dense side compares; absent: `endpoint`. */
  readonly vectors?: VectorOrigin;
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

  const rankWith = createRanking({ ids, lexical, dense, vectors: settings.vectors ?? 'endpoint' });

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
      return rankWith(query, { vectors: isPromise(prepared) ? await prepared : prepared, options });
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
