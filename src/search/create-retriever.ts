import { isPromise } from '../core/json.ts';
import type { DenseIndex, Retriever } from '../core/retriever.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { bytesOf, floatsIn, readSections, writeSections } from './byte-sections.ts';
import { createLexicalIndex, type LexicalIndex } from './lexical/lexical-index.ts';
import type { SynonymGroups } from './lexical/synonyms.ts';
import type { VectorOrigin } from './prepare-request.ts';
import { createRanking } from './rank-tools.ts';
import { denseTexts, searchTextsOf } from './search-texts.ts';
import { createFingerprint, createMarks, createToolIds, fingerprintSpec, type KeptTools, NO_MARK } from './tool-ids.ts';

/** Options for creating a retriever. */
export interface RetrieverSettings {
  /** Creates the dense index, empty or from its snapshot; absent: words only. */
  readonly dense?: (snapshot: Uint8Array | undefined) => DenseIndex;
  /** The origin of the vectors; default `endpoint`. */
  readonly vectors?: VectorOrigin;
  /** A result of `snapshot`. If it cannot be used, everything is indexed again. */
  readonly snapshot?: Uint8Array;
  /** Groups of words that mean the same, besides the built-in ones. */
  readonly synonyms?: SynonymGroups;
  /** Texts of a tool's bundles, which are searched besides its own. */
  readonly bundlesOf?: (tool: string) => readonly string[];
}

/** A retriever with snapshots: adding the same tools to a snapshot costs almost nothing. */
export interface KeptRetriever extends Retriever {
  snapshot(): Uint8Array;
  /** Number of tools indexed or marked since creation; 0 means that the original snapshot is still current. */
  readonly changes: number;
}

/** Creates a retriever that ranks tools by the words of a request and, with a dense index, by its meaning. */
export function createRetriever(settings: RetrieverSettings = {}): KeptRetriever {
  const kept = settings.snapshot === undefined ? undefined : readRetriever(settings.snapshot, settings.synonyms);
  const ids = createToolIds(kept?.tools);
  const lexical = kept?.lexical ?? createLexicalIndex(undefined, settings.synonyms);
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

  /** True for a known tool with the same texts. If the mark is enough to tell, the tool is not parsed. */
  function isKnown(id: number | undefined, spec: ToolSpec, bundles: readonly string[] | undefined): id is number {
    if (id === undefined) return false;
    const mark = markOf(spec, bundles);
    if (mark !== NO_MARK && mark === ids.mark(id)) return true;
    if (ids.fingerprint(id) !== fingerprintSpec(spec, bundles)) return false;
    noteMark(id, mark);
    return true;
  }

  function noteMark(id: number, mark: number): void {
    if (mark === NO_MARK) return; // the earlier mark is still valid
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

  const { prepare, rank } = createRanking({ ids, lexical, dense, vectors: settings.vectors ?? 'endpoint' });

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
      const prepared = prepare(query);
      return rank(query, { ...(isPromise(prepared) ? await prepared : prepared), options });
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

/** Ids from a snapshot whose tools have not been added yet: they may be gone from the catalog. */
interface Unconfirmed {
  delete(id: number): void;
  all(): readonly number[];
}

/** Starts with all ids that have a name. One byte each, because a set of ten thousand would slow down a start. */
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

/** The parts of a retriever in a snapshot. */
interface KeptParts {
  readonly tools: KeptTools;
  readonly lexical: LexicalIndex;
  readonly dense: Uint8Array | undefined;
}

/** Increased whenever the numbering or fingerprints of tools change. */
const VERSION = 5;

function writeRetriever({ tools, lexical, dense }: KeptParts): Uint8Array {
  const { names, fingerprints, marks } = tools;
  const list = new TextEncoder().encode(JSON.stringify(names));
  const numbers = [bytesOf(fingerprints), bytesOf(marks)];
  return writeSections(VERSION, [list, ...numbers, lexical.snapshot(), ...(dense === undefined ? [] : [dense])]);
}

/** Reads a snapshot; undefined if it is damaged or of another version: then everything is indexed again. */
function readRetriever(bytes: Uint8Array, synonyms?: SynonymGroups): KeptParts | undefined {
  const sections = readSections(VERSION, bytes);
  const [list, fingerprints, marks, lexicalBytes, dense] = sections ?? [];
  if (!list || !fingerprints || !marks || !lexicalBytes) return undefined;
  const lexical = createLexicalIndex(lexicalBytes, synonyms);
  if (lexical === undefined) return undefined;
  // The checksum matches, so the list is as `writeRetriever` wrote it.
  const names = JSON.parse(new TextDecoder().decode(list)) as KeptTools['names'];
  return { tools: { names, fingerprints: floatsIn(fingerprints), marks: floatsIn(marks) }, lexical, dense };
}
