import { isUtf8 } from 'node:buffer';
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import {
  createEntryCollector,
  createNdjsonReader,
  type EntryReader,
  type EntrySink,
  NOT_TEXT,
  type NoList,
  noToolsIn,
  type SpecFormat,
  type SpecReading,
} from './entry-collector.ts';
import { createEntryReader, type EntryOptions } from './spec-entry.ts';

/** Options for reading a text. */
export interface SpecTextOptions extends EntryOptions {
  readonly format: SpecFormat;
  /** The name used in problems. */
  readonly file: string;
}

/** A list of specs that is being read. */
export interface SpecTextReader {
  /** Takes the next bytes. The buffer may be reused afterwards. */
  take(piece: Buffer): void;
  end(): SpecReading;
}

/** Reads a complete text. */
export function readSpecText(bytes: Uint8Array, options: SpecTextOptions): SpecReading {
  const reader = createSpecTextReader(options);
  reader.take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return reader.end();
}

/** Reads a list of specs as its bytes arrive. */
export function createSpecTextReader(options: SpecTextOptions): SpecTextReader {
  const collector = createEntryCollector(options.file, { ...options, read: createEntryReader(options) });
  const reader = createReader(options.format, collector);
  let isEmpty = true;
  return {
    take(piece) {
      reader.take(isEmpty ? piece.subarray(markLength(piece)) : piece);
      isEmpty &&= piece.length === 0;
    },
    end() {
      if (isEmpty) return { ok: false, reason: 'it is empty; write "tools: []" for a list without tools' };
      const failure = reader.end();
      return failure === undefined ? collector.reading() : { ok: false, ...failure };
    },
  };
}

function createReader(format: SpecFormat, sink: EntrySink): EntryReader {
  switch (format) {
    case 'ndjson':
      return createNdjsonReader(sink);
    case 'json':
      return whole((text) => readJsonEntries(text, sink));
    case 'yaml':
      return whole((text) => readYamlEntries(text, sink));
  }
}

function whole(read: (text: string) => NoList | undefined): EntryReader {
  const pieces: Buffer[] = [];
  return {
    take: (piece) => void pieces.push(Buffer.from(piece)),
    end() {
      const bytes = Buffer.concat(pieces);
      return isUtf8(bytes) && !bytes.includes(0) ? read(bytes.toString()) : NOT_TEXT;
    },
  };
}

/** The length of the UTF-8 byte order mark. */
export function markLength(bytes: Buffer): 0 | 3 {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** Reads the entries of JSON text: `{ "tools": [...] }`, or the bare list. */
function readJsonEntries(text: string, sink: EntrySink): NoList | undefined {
  let top: unknown;
  try {
    top = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { reason: `it is not JSON: ${error.message}` };
  }
  const tools = typeof top === 'object' && top !== null && 'tools' in top ? top.tools : top;
  if (!Array.isArray(tools)) return noToolsIn(top, () => sink.refused(top));
  const lines = linesOfEntries(text, top === tools ? 1 : 2);
  for (const [index, entry] of tools.entries()) sink.entry(entry, lines[index] ?? 1);
  return undefined;
}

const [LINE_BREAK, SPACE, QUOTE, COMMA, COLON] = [10, 32, 34, 44, 58];
const [LIST, LIST_END, MAP, MAP_END] = [91, 93, 123, 125];

/** The line of each entry in valid JSON whose list of tools is nested `listDepth` deep; JSON.parse does not report it. */
function linesOfEntries(text: string, listDepth: 1 | 2): readonly number[] {
  let lines: number[] = [];
  let line = 1;
  let depth = 0;
  let key = '';
  let isInList = false;
  let isStart = false; // the next value is an entry
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === LINE_BREAK) line++;
    if (char <= SPACE || char === COLON) continue;
    if (char === COMMA) {
      isStart = isInList && depth === listDepth;
      continue;
    }
    if (char === LIST_END || char === MAP_END) {
      depth--;
      isStart = false;
      continue;
    }
    if (isStart) lines.push(line);
    isStart = false;
    if (char === QUOTE) {
      const end = endOfString(text, at);
      if (depth === 1) key = text.slice(at, end + 1);
      at = end;
    } else if (char === LIST || char === MAP) {
      depth++;
      if (depth !== listDepth) continue;
      isInList = char === LIST && (listDepth === 1 || key === '"tools"');
      if (isInList) lines = [];
      isStart = isInList;
    }
  }
  return lines;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

type Parsed = Document.Parsed;
type List = YAMLSeq.Parsed<ParsedNode>;

/** Limit for the expansion of YAML aliases. */
const LIMITS = { maxAliasCount: 100 };
/** With more repeated keys than this, the file as a whole is rejected. */
const MAX_REPEATED = 100;
const TOO_DEEP: NoList = { reason: 'it is nested too deeply' };

/** Reads the entries of YAML text: `tools:` with a list, or the bare list. */
function readYamlEntries(text: string, sink: EntrySink): NoList | undefined {
  const lineCounter = new LineCounter();
  try {
    // The parser's own search for duplicate keys is quadratic: it takes minutes for a map of 100,000.
    const document = parseDocument(text, { lineCounter, logLevel: 'error', uniqueKeys: false });
    return readDocument(document, lineCounter, sink);
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP; // stack overflow
    if (error instanceof ReferenceError) return { reason: 'it has too many aliases, or one without an anchor' };
    throw error;
  }
}

function readDocument(document: Parsed, lineCounter: LineCounter, sink: EntrySink): NoList | undefined {
  const [error] = document.errors;
  if (error !== undefined) return { reason: `it is not YAML: ${firstLineOf(error.message)}` };
  const list = listIn(document);
  const spoiled = new Map<number, string>();
  const repeated = repeatedKeys(document);
  for (const at of repeated) {
    const { line, col } = lineCounter.linePos(at);
    const index = list?.items.findIndex(({ range }) => range[0] <= at && at < range[2]) ?? -1;
    if (index === -1 || repeated.length > MAX_REPEATED)
      return { reason: `a key is duplicated, at line ${line}, column ${col}` };
    spoiled.set(index, `A key is duplicated, at line ${line}, column ${col}.`);
  }
  if (list === undefined) return noToolsIn(outlineOf(document), () => sink.refused(document.toJS(LIMITS)));
  for (const [index, item] of list.items.entries()) {
    const { line } = lineCounter.linePos(item.range[0]);
    const problem = spoiled.get(index);
    if (problem === undefined) readItem(item, document, line, sink);
    else sink.broken(line, problem);
  }
  return undefined;
}

function listIn({ contents }: Parsed): List | undefined {
  const node = isMap(contents) ? contents.get('tools', true) : contents;
  return isSeq(node) ? (node as List) : undefined; // a parsed document has parsed nodes
}

/** Offsets of duplicate keys; stops when there are too many. */
function repeatedKeys(document: Parsed): readonly number[] {
  const places: number[] = [];
  visit(document, {
    Map(_, { items }: YAMLMap) {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) places.push(key.range?.[0] ?? 0);
        seen.add(name);
      }
      return places.length > MAX_REPEATED ? visit.BREAK : undefined;
    },
  });
  return places;
}

/** The top level of a document, without following aliases. */
function outlineOf({ contents }: Parsed): unknown {
  const plain = (node: unknown) => (isScalar(node) ? node.value : {});
  if (!isMap(contents)) return contents === null ? null : plain(contents);
  return Object.fromEntries(contents.items.map(({ key, value }) => [String(plain(key)), plain(value)]));
}

function readItem(item: ParsedNode, document: Parsed, line: number, sink: EntrySink): void {
  let value: unknown;
  try {
    value = item.toJS(document, LIMITS);
  } catch (error) {
    // Too many aliases, an unknown alias, or nested too deeply: yaml has no error class for these.
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    sink.broken(line, error instanceof ReferenceError ? `${error.message}.` : 'The entry is nested too deeply.');
    return;
  }
  sink.entry(value, line);
}

function firstLineOf(message: string): string {
  return (message.split('\n', 1)[0] ?? message).replace(/:$/, ''); // the following lines quote the text
}
