import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseDocument,
  Scalar,
  type YAMLError,
  type YAMLSeq,
} from 'yaml';
import { type EntrySink, type NoList, noToolsIn } from './spec-sink.ts';

type Parsed = Document.Parsed;

/** Reads the entries of YAML text: `tools:` with a list, or the bare list. */
export function readYamlEntries(text: string, sink: EntrySink): NoList | undefined {
  const lineCounter = new LineCounter();
  const document = parse(text, lineCounter);
  if (document === undefined) return { reason: 'it is nested too deeply' };
  const { errors } = document;
  const list = listIn(document);
  const spoiled = list === undefined ? undefined : spoiledEntries(errors, list);
  if (errors[0] !== undefined && spoiled === undefined) return { reason: `it is not YAML: ${messageOf(errors[0])}` };
  if (list === undefined) return noToolsIn(outlineOf(document));
  for (const [index, item] of list.items.entries()) {
    const line = lineCounter.linePos(item.range[0]).line;
    const error = spoiled?.get(index);
    if (error === undefined) readItem(item, document, line, sink);
    else sink.broken(line, `${messageOf(error)}.`);
  }
  return undefined;
}

/** How far aliases may multiply what is written. */
const LIMITS = { maxAliasCount: 100 };

function parse(text: string, lineCounter: LineCounter): Parsed | undefined {
  try {
    return parseDocument(text, { lineCounter, logLevel: 'error' });
  } catch (error) {
    if (error instanceof RangeError) return undefined; // the stack is full
    throw error;
  }
}

function listIn({ contents }: Parsed): YAMLSeq.Parsed<ParsedNode> | undefined {
  const node = isMap(contents) ? contents.get('tools', true) : contents;
  return isSeq(node) ? (node as YAMLSeq.Parsed<ParsedNode>) : undefined; // a parsed document has parsed nodes
}

const MAX_SPOILED = 100;

/** The entries in which a key stands twice, if nothing else is wrong; after any other error nothing can be relied on. */
function spoiledEntries(
  errors: readonly YAMLError[],
  { items }: YAMLSeq.Parsed<ParsedNode>,
): ReadonlyMap<number, YAMLError> | undefined {
  const spoiled = new Map<number, YAMLError>();
  if (errors.length > MAX_SPOILED) return undefined;
  for (const error of errors) {
    const [at] = error.pos;
    const index = items.findIndex(({ range }) => range[0] <= at && at < range[2]);
    if (error.code !== 'DUPLICATE_KEY' || index === -1) return undefined;
    spoiled.set(index, error);
  }
  return spoiled;
}

/** The top of a document, without following aliases. */
function outlineOf({ contents }: Parsed): unknown {
  const plain = (node: unknown) => (isScalar(node) ? node.value : {});
  if (!isMap(contents)) return plain(contents ?? new Scalar(null));
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

function messageOf({ message }: YAMLError): string {
  return (message.split('\n', 1)[0] ?? message).replace(/:$/, ''); // the lines after it show the text
}
