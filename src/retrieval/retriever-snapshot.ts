import { readSections, writeSections } from './byte-sections.ts';
import { createLexicalIndex, type LexicalIndex } from './lexical/lexical-index.ts';
import type { KeptTool } from './tool-ids.ts';

/** What a retriever is made of, as it is kept. */
export interface KeptParts {
  /** By id. */
  readonly tools: readonly KeptTool[];
  readonly lexical: LexicalIndex;
  readonly dense: Uint8Array | undefined;
}

const VERSION = 1;

export function writeRetriever({ tools, lexical, dense }: KeptParts): Uint8Array {
  const list = new TextEncoder().encode(JSON.stringify(tools));
  return writeSections(VERSION, [list, lexical.snapshot(), ...(dense === undefined ? [] : [dense])]);
}

/** What was kept; undefined where it is damaged or of another version: then everything is indexed anew. */
export function readRetriever(bytes: Uint8Array): KeptParts | undefined {
  const sections = readSections(VERSION, bytes);
  const [list, lexicalBytes, dense] = sections ?? [];
  if (list === undefined || lexicalBytes === undefined) return undefined;
  const lexical = createLexicalIndex(lexicalBytes);
  if (lexical === undefined) return undefined;
  // The checksum holds, so the list is what `writeRetriever` wrote.
  return { tools: JSON.parse(new TextDecoder().decode(list)) as readonly KeptTool[], lexical, dense };
}
