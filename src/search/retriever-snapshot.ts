import { bytesOf, floatsIn, readSections, writeSections } from './byte-sections.ts';
import { createLexicalIndex, type LexicalIndex } from './lexical/lexical-index.ts';
import type { KeptTools } from './tool-ids.ts';

/** What a retriever is made of, as it is kept. */
export interface KeptParts {
  readonly tools: KeptTools;
  readonly lexical: LexicalIndex;
  readonly dense: Uint8Array | undefined;
}

/** Raised whenever tools are numbered or fingerprinted in another way. */
const VERSION = 4;

export function writeRetriever({ tools, lexical, dense }: KeptParts): Uint8Array {
  const { names, fingerprints, marks } = tools;
  const list = new TextEncoder().encode(JSON.stringify(names));
  const numbers = [bytesOf(fingerprints), bytesOf(marks)];
  return writeSections(VERSION, [list, ...numbers, lexical.snapshot(), ...(dense === undefined ? [] : [dense])]);
}

/** What was kept; undefined where it is damaged or of another version: then everything is indexed anew. */
export function readRetriever(bytes: Uint8Array): KeptParts | undefined {
  const sections = readSections(VERSION, bytes);
  const [list, fingerprints, marks, lexicalBytes, dense] = sections ?? [];
  if (!list || !fingerprints || !marks || !lexicalBytes) return undefined;
  const lexical = createLexicalIndex(lexicalBytes);
  if (lexical === undefined) return undefined;
  // The checksum holds, so the list is what `writeRetriever` wrote.
  const names = JSON.parse(new TextDecoder().decode(list)) as KeptTools['names'];
  return { tools: { names, fingerprints: floatsIn(fingerprints), marks: floatsIn(marks) }, lexical, dense };
}
