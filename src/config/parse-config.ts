import type { Alias, Node, Pair, YAMLError, YAMLMap } from 'yaml';
import type { Mistake, Path } from './config-text.ts';

/** Line and column in a text, counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A syntax error. */
interface TextMistake extends Position {
  readonly message: string;
}

/** Parsed data, and the position of each part in the text. */
export interface ParsedConfig {
  /** Undefined for an empty text. If there are mistakes, the data that could still be read. */
  readonly value: unknown;
  readonly mistakes: readonly TextMistake[];
  /** Position of the node at the path, or of its nearest existing ancestor. */
  locate(path: Path, at: Mistake['at']): Position | undefined;
}

/** Parses YAML, which includes JSON. Variables are expanded later, so their values cannot become syntax. */
export async function parseConfig(text: string): Promise<ParsedConfig> {
  const yaml = await import('yaml'); // loaded lazily: a crib without a file does not need it
  const lines = new yaml.LineCounter();
  // The parser's own duplicate check is quadratic; toData checks with a map.
  const document = yaml.parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const toPosition = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const broken = findErrors([...document.errors, ...document.warnings], text);
  const data = toData(document.contents, yaml);
  const mistakes = broken.length > 0 ? broken : data.mistakes;
  const findOffset = createFindOffset(document.contents, yaml);
  return {
    value: data.value,
    mistakes: mistakes.map(({ message, offset }) => ({ message, ...toPosition(offset) })),
    locate(path, at) {
      const offset = findOffset(path, at);
      return offset === undefined ? undefined : toPosition(offset);
    },
  };
}

/** The parser's errors: one per position, or only the nesting error if the text is nested too deeply. */
function findErrors(errors: readonly YAMLError[], text: string): readonly { offset: number; message: string }[] {
  const deep = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
  const byOffset = new Map((deep === undefined ? errors.toReversed() : [deep]).map((error) => [error.pos[0], error]));
  const first = [...byOffset.values()].reverse();
  return first.map((error) => ({ offset: error.pos[0], message: inWords(error, text) }));
}

function inWords({ code, message, pos: [offset] }: YAMLError, text: string): string {
  if (code === 'RESOURCE_EXHAUSTION') return TOO_DEEP;
  if (code === 'MULTIPLE_DOCS') return 'A configuration must be a single YAML document; remove this "---".';
  const [variable] = /^\$\{[^}\n]*\}/.exec(text.slice(offset - 1, offset + 100)) ?? [];
  if (variable !== undefined) return `Inside braces and brackets a variable needs quotes: "${variable}".`;
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** The data of a document, and the mistakes found while converting it. */
interface DocumentData {
  readonly value: unknown;
  readonly mistakes: readonly { readonly offset: number; readonly message: string }[];
}

// Guards against alias bombs; real configurations stay far below.
const MAX_ALIASED = 100_000;
const MAX_DEPTH = 100;

const TOO_DEEP = `The configuration is nested too deeply; at most ${MAX_DEPTH} levels are allowed.`;

interface Anchored {
  readonly value: unknown;
  /** Number of values in it, including those its own aliases expand to. */
  readonly weight: number;
}

interface Conversion {
  readonly yaml: typeof import('yaml');
  readonly anchors: Map<string, Anchored>;
  readonly mistakes: { offset: number; message: string }[];
  weight: number;
  aliased: number;
  depth: number;
}

/** Converts a document to plain data. Rejects duplicate keys, and resolves and counts aliases and merge keys. Linear in the size of the text. */
function toData(root: Node | null, yaml: typeof import('yaml')): DocumentData {
  const conversion: Conversion = { yaml, anchors: new Map(), mistakes: [], weight: 0, aliased: 0, depth: 0 };
  const value = root === null ? undefined : toValue(root, conversion);
  return { value: value ?? undefined, mistakes: conversion.mistakes };
}

function toValue(node: Node | null | undefined, conversion: Conversion): unknown {
  const { yaml, anchors } = conversion;
  if (node === null || node === undefined) return null; // next to a syntax error a node may be missing
  if (yaml.isAlias(node)) return toAliased(node.source, offsetOf(node), conversion);
  if (conversion.depth >= MAX_DEPTH) return reject(conversion, offsetOf(node), TOO_DEEP);
  const { anchor } = node as { anchor?: string }; // scalars, lists and maps may have one
  const before = conversion.weight++;
  if (anchor !== undefined) anchors.delete(anchor); // from here on the name refers to this node
  conversion.depth++;
  const value = toContent(node, conversion);
  conversion.depth--;
  if (anchor !== undefined) anchors.set(anchor, { value, weight: conversion.weight - before });
  return value;
}

function toContent(node: Node, conversion: Conversion): unknown {
  const { yaml } = conversion;
  if (yaml.isMap(node)) return toObject(node, conversion);
  if (yaml.isSeq(node)) return node.items.map((item) => toValue(item as Node, conversion)); // composed lists hold nodes
  const value: unknown = yaml.isScalar(node) ? node.value : undefined;
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
  return reject(conversion, offsetOf(node), 'Only text, numbers, true, false, lists and maps can be used here.');
}

function toAliased(name: string, offset: number, conversion: Conversion): unknown {
  const found = conversion.anchors.get(name);
  if (found === undefined) return reject(conversion, offset, `The alias *${name} refers to a value that contains it.`);
  conversion.weight += found.weight;
  conversion.aliased += found.weight;
  if (conversion.aliased <= MAX_ALIASED) return found.value;
  return reject(conversion, offset, `The aliases expand to more than ${MAX_ALIASED} values; use fewer aliases.`);
}

function toObject(map: YAMLMap, conversion: Conversion): unknown {
  const members = new Map<string, unknown>();
  const merged: unknown[] = [];
  for (const pair of map.items as Pair<Node, Node | null>[]) {
    // composed maps hold pairs of nodes
    const key = toKey(pair.key, conversion);
    const value = toValue(pair.value, conversion);
    if (key === undefined) continue;
    if (key === '<<') merged.push(...toMerged(value, pair, conversion));
    else if (members.has(key))
      reject(conversion, offsetOf(pair.key), `${JSON.stringify(key)} appears twice; keep one.`);
    else members.set(key, value);
  }
  // Own keys win over merged keys; of several merged maps the first wins.
  return Object.assign({}, ...merged.reverse(), Object.fromEntries(members));
}

function toMerged(value: unknown, pair: Pair<Node, unknown>, conversion: Conversion): readonly object[] {
  const maps = Array.isArray(value) ? value : [value];
  if (maps.every((map) => typeof map === 'object' && map !== null && !Array.isArray(map))) return maps;
  reject(conversion, offsetOf(pair.key), 'The merge key << takes a map, or a list of maps.');
  return [];
}

function toKey(key: Node | null, conversion: Conversion): string | undefined {
  const value: unknown = conversion.yaml.isScalar(key) ? key.value : undefined;
  if (value === '__proto__') return reject(conversion, offsetOf(key), '"__proto__" is not allowed as a name.');
  if (['string', 'number', 'boolean'].includes(typeof value) && value !== '') return String(value);
  return reject(conversion, offsetOf(key), 'The key is missing or is not a string.');
}

function reject(conversion: Conversion, offset: number, message: string): undefined {
  conversion.mistakes.push({ offset, message });
}

function offsetOf(node: Node | null): number {
  return node?.range?.[0] ?? 0;
}

type Found = Node | null | undefined;
type NodePair = Pair<Node, Node | null>;

/** Finds the text offset of the node at a path, or of its nearest existing ancestor. */
type FindOffset = (path: Path, at: Mistake['at']) => number | undefined;

/** Creates the search for one document. The document is walked on the first lookup. */
function createFindOffset(root: Node | null, yaml: typeof import('yaml')): FindOffset {
  let anchored: readonly Node[] | undefined;

  // An alias refers to the last node with that anchor before it.
  const target = (alias: Alias): Found => {
    anchored ??= listAnchored(root, yaml);
    const before = offsetOfPath(alias) ?? 0;
    return anchored.findLast((node) => anchorOf(node) === alias.source && (offsetOfPath(node) ?? 0) < before);
  };
  const follow = (node: Found): Found => (yaml.isAlias(node) ? target(node) : node);

  const findPair = (map: YAMLMap, key: string): NodePair | undefined => {
    const pairs = map.items as NodePair[]; // composed maps hold pairs of nodes
    const named = (name: string) => (pair: NodePair) => yaml.isScalar(pair.key) && String(pair.key.value) === name;
    const own = pairs.find(named(key));
    if (own !== undefined) return own;
    const merged = pairs.filter(named('<<')).map(({ value }) => value);
    const maps = merged.flatMap((value) => (yaml.isSeq(value) ? (value.items as Node[]) : [value])).map(follow); // composed lists hold nodes
    for (const from of maps) {
      const found = yaml.isMap(from) ? findPair(from, key) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };

  return function findOffset(path, at) {
    let place: Found = root;
    let node: Found = root;
    for (const [index, segment] of path.entries()) {
      const container = follow(node);
      const item = yaml.isSeq(container) ? (container.items[Number(segment)] as Found) : undefined; // as above
      const pair = yaml.isMap(container) ? findPair(container, String(segment)) : undefined;
      if (item === undefined && pair === undefined) break;
      node = item ?? pair?.value;
      const isKeyMeant = at === 'key' || index < path.length - 1 || isEmpty(node);
      place = pair !== undefined && isKeyMeant ? pair.key : node;
    }
    return offsetOfPath(place);
  };
}

function listAnchored(root: Node | null, yaml: typeof import('yaml')): readonly Node[] {
  const nodes: Node[] = [];
  yaml.visit(root, { Value: (_, node) => void (node.anchor !== undefined && nodes.push(node)) });
  return nodes;
}

function anchorOf(node: Node): string | undefined {
  return (node as { anchor?: string }).anchor; // scalars, lists and maps may have one
}

function offsetOfPath(node: Found): number | undefined {
  return node?.range?.[0];
}

/** An empty node has no position of its own. */
function isEmpty(node: Found): boolean {
  const [start, end] = node?.range ?? [0, 0];
  return start === end;
}
