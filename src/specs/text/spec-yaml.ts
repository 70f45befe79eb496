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
import { type EntrySink, type NoList, noToolsIn } from './spec-sink.ts';

type Parsed = Document.Parsed;
type List = YAMLSeq.Parsed<ParsedNode>;

/** How far aliases may multiply what is written. */
const LIMITS = { maxAliasCount: 100 };
/** With more than that, it is not entries that are wrong but the file. */
const MAX_REPEATED = 100;
const TOO_DEEP: NoList = { reason: 'it is nested too deeply' };

/** Reads the entries of YAML text: `tools:` with a list, or the bare list. */
export function readYamlEntries(text: string, sink: EntrySink): NoList | undefined {
  const lineCounter = new LineCounter();
  try {
    // The parser's own search for keys that stand twice compares each with each: minutes for a map of 100,000.
    const document = parseDocument(text, { lineCounter, logLevel: 'error', uniqueKeys: false });
    return readDocument(document, lineCounter, sink);
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP; // the stack is full
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
      return { reason: `a key stands twice, at line ${line}, column ${col}` };
    spoiled.set(index, `A key stands twice, at line ${line}, column ${col}.`);
  }
  if (list === undefined) return noToolsIn(outlineOf(document));
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

/** Where keys stand that their map has already; not all of them if there are too many. */
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

/** The top of a document, without following aliases. */
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
    // Too many aliases, an alias of nothing, or nested too deeply: yaml has no error of its own for these.
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    sink.broken(line, error instanceof ReferenceError ? `${error.message}.` : 'It is nested too deeply.');
    return;
  }
  sink.entry(value, line);
}

function firstLineOf(message: string): string {
  return (message.split('\n', 1)[0] ?? message).replace(/:$/, ''); // the lines after it show the text
}
