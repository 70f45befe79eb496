import { type ArrayNode, type JsonNode, type MemberNode, type ObjectNode, parseJson } from './json-text.ts';
import { childOf, type JsonPath, nodeAt } from './json-value.ts';

/**
 * Edits of a JSON text by path. Each returns a new text, in which every other value stands as it was written.
 * A text that does not parse is returned as it is.
 */

/** Sets the value at a path to a JSON text. Absent parents are added; a parent that cannot have parts is replaced. */
export function setAt(text: string, path: JsonPath, raw: string): string {
  const root = rootOf(text);
  if (root === undefined) return text;
  let node = root;
  for (const [depth, step] of path.entries()) {
    const child = canHave(node, step) ? childOf(node, step) : undefined;
    if (child !== undefined) {
      node = child;
      continue;
    }
    const rest = path.slice(depth + 1);
    const style = styleOf(text, node);
    const value = nest(rest, raw, deeper(style));
    if (!canHave(node, step)) return splice(text, node, nest(path.slice(depth), raw, style));
    return insertPart(text, node as ObjectNode | ArrayNode, { value, step, at: Number.POSITIVE_INFINITY });
  }
  return splice(text, node, raw);
}

/** Removes the value at a path, with its name and its comma. Removing what is absent changes nothing. */
export function removeAt(text: string, path: JsonPath): string {
  const parent = nodeAt(rootOf(text), path.slice(0, -1));
  const step = path.at(-1);
  if (parent === undefined || step === undefined || childOf(parent, step) === undefined) return text;
  const parts = partsOf(parent);
  const index = parent.type === 'array' ? Number(step) : memberIndex(parent, String(step));
  const part = parts[index];
  if (part === undefined) return text;
  const [before, after] = [parts[index - 1], parts[index + 1]];
  if (before !== undefined) return text.slice(0, before.end) + text.slice(part.end);
  if (after !== undefined) return text.slice(0, part.start) + text.slice(after.start);
  return text.slice(0, parent.start + 1) + text.slice(parent.end - 1);
}

/** Adds an item to the list at a path, before the item of this index. An absent list is added first. */
export function insertAt(text: string, path: JsonPath, { index, raw }: { index: number; raw: string }): string {
  const list = nodeAt(rootOf(text), path);
  if (list?.type !== 'array') return setAt(text, [...path, 0], raw);
  return insertPart(text, list, { value: raw, step: index, at: index });
}

/** Swaps two neighbours of the list at a path, each as it is written. */
export function swapWithNext(text: string, path: JsonPath, index: number): string {
  const list = nodeAt(rootOf(text), path);
  const [first, second] = list?.type === 'array' ? [list.items[index], list.items[index + 1]] : [];
  if (first === undefined || second === undefined) return text;
  return [
    text.slice(0, first.start),
    text.slice(second.start, second.end),
    text.slice(first.end, second.start),
    text.slice(first.start, first.end),
    text.slice(second.end),
  ].join('');
}

/** Gives the member at a path another name, if no other member has it. */
export function renameAt(text: string, path: JsonPath, name: string): string {
  const parent = nodeAt(rootOf(text), path.slice(0, -1));
  if (parent?.type !== 'object' || parent.members.some(({ key }) => key === name)) return text;
  const member = parent.members[memberIndex(parent, String(path.at(-1)))];
  if (member === undefined) return text;
  const nameEnd = member.start + keyLength(text, member);
  return text.slice(0, member.start) + JSON.stringify(name) + text.slice(nameEnd);
}

function rootOf(text: string): JsonNode | undefined {
  const parsed = parseJson(text);
  return 'node' in parsed ? parsed.node : undefined;
}

function keyLength(text: string, { start }: MemberNode): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1 - start;
}

function canHave(node: JsonNode, step: string | number): boolean {
  return node.type === (typeof step === 'number' ? 'array' : 'object');
}

function partsOf(node: JsonNode): readonly (JsonNode | MemberNode)[] {
  if (node.type === 'object') return node.members;
  return node.type === 'array' ? node.items : [];
}

function memberIndex(node: JsonNode, key: string): number {
  return node.type === 'object' ? node.members.findIndex((member) => member.key === key) : -1;
}

function splice(text: string, { start, end }: { readonly start: number; readonly end: number }, raw: string): string {
  return text.slice(0, start) + raw + text.slice(end);
}

/** How the parts of a container stand: each on a line of its own with this indent, or all on one line. */
type Style = { readonly lines: true; readonly indent: string } | { readonly lines: false };

function deeper(style: Style): Style {
  return style.lines ? { lines: true, indent: `${style.indent}  ` } : style;
}

/** The style of the parts of a node: as its first part stands; an empty one follows the text around it. */
function styleOf(text: string, node: JsonNode): Style {
  const [first] = partsOf(node);
  if (first !== undefined) {
    const space = text.slice(node.start + 1, first.start);
    return space.includes('\n') ? { lines: true, indent: space.slice(space.lastIndexOf('\n') + 1) } : { lines: false };
  }
  const line = text.slice(text.lastIndexOf('\n', node.start) + 1, node.start);
  const isOnOneLine = !text.trim().includes('\n');
  if (isOnOneLine && node.start > text.search(/\S/)) return { lines: false };
  return { lines: true, indent: `${/^[ \t]*/.exec(line)?.[0] ?? ''}  ` };
}

/** A value inside new containers, one for each step. */
function nest(path: JsonPath, raw: string, style: Style): string {
  const [step, ...rest] = path;
  if (step === undefined) return raw;
  const inner = nest(rest, raw, deeper(style));
  const part = typeof step === 'number' ? inner : `${JSON.stringify(step)}: ${inner}`;
  const [open, close] = typeof step === 'number' ? '[]' : '{}';
  if (!style.lines) return `${open}${part}${close}`;
  return `${open}\n${style.indent}${part}\n${style.indent.slice(0, -2)}${close}`;
}

interface NewPart {
  readonly value: string;
  readonly step: string | number;
  /** The index of the part that it comes before. */
  readonly at: number;
}

function insertPart(text: string, parent: ObjectNode | ArrayNode, { value, step, at }: NewPart): string {
  const part = typeof step === 'number' ? value : `${JSON.stringify(step)}: ${value}`;
  const style = styleOf(text, parent);
  const parts = partsOf(parent);
  const next = parts[at];
  const last = parts.at(-1);
  const gap = style.lines ? `\n${style.indent}` : ' ';
  if (next !== undefined) return `${text.slice(0, next.start)}${part},${gap}${text.slice(next.start)}`;
  if (last !== undefined) return `${text.slice(0, last.end)},${gap}${part}${text.slice(last.end)}`;
  const inside = style.lines ? `${gap}${part}\n${style.indent.slice(0, -2)}` : part;
  return text.slice(0, parent.start + 1) + inside + text.slice(parent.end - 1);
}
