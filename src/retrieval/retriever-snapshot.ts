import { readSections, writeSections } from './byte-sections.ts';
import { createLexicalIndex, type LexicalIndex } from './lexical/lexical-index.ts';
import type { KeptTools } from './tool-ids.ts';

/** What a retriever is made of, as it is kept. */
export interface KeptParts {
  readonly tools: KeptTools;
  readonly lexical: LexicalIndex;
  readonly dense: Uint8Array | undefined;
}

/** Raised whenever tools are numbered or fingerprinted in another way. */
const VERSION = 3;

export function writeRetriever({ tools, lexical, dense }: KeptParts): Uint8Array {
  const { names, fingerprints } = tools;
  const list = new TextEncoder().encode(JSON.stringify(names));
  const marks = new Uint8Array(fingerprints.buffer, fingerprints.byteOffset, fingerprints.byteLength);
  return writeSections(VERSION, [list, marks, lexical.snapshot(), ...(dense === undefined ? [] : [dense])]);
}

/** What was kept; undefined where it is damaged or of another version: then everything is indexed anew. */
export function readRetriever(bytes: Uint8Array): KeptParts | undefined {
  const sections = readSections(VERSION, bytes);
  const [list, marks, lexicalBytes, dense] = sections ?? [];
  if (list === undefined || marks === undefined || lexicalBytes === undefined) return undefined;
  const lexical = createLexicalIndex(lexicalBytes);
  if (lexical === undefined) return undefined;
  // The checksum holds, so the list is what `writeRetriever` wrote.
  const names = JSON.parse(new TextDecoder().decode(list)) as KeptTools['names'];
  const fingerprints = new Float64Array(marks.buffer, marks.byteOffset, marks.byteLength / 8);
  return { tools: { names, fingerprints }, lexical, dense };
}
