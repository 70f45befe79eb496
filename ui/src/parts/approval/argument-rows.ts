import type { Json, JsonMembers, PreviousCall } from './approval-types.ts';

/** One line of the list of arguments. */
export interface ArgumentRow {
  /** A JSON pointer. */
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  /** The value as text; a heading such as "3 items" for a value whose members follow as rows. */
  readonly text: string;
  readonly kind: 'text' | 'number' | 'word' | 'heading' | 'json';
  /** A folded value must be opened before the call can be approved. */
  readonly isFolded: boolean;
  /** Size of a value that can be folded, in words. */
  readonly size?: string;
  readonly change?: Change;
}

/** How a value differs from the last approved call. */
type Change = { readonly kind: 'new' } | { readonly kind: 'changed'; readonly before: string };

const LONGEST_TEXT = 400;
const MOST_LINES = 10;
/** A list or an object with more values than this is shown as JSON text. */
const MOST_ROWS = 200;
/** A list or an object with more values than this is folded. */
const MOST_OPEN_ROWS = 12;

/** The arguments as rows, in their order. `opened` has the paths of values that the approver has opened. */
export function toRows(
  given: JsonMembers,
  opened: ReadonlySet<string>,
  previous: PreviousCall | undefined,
): readonly ArgumentRow[] {
  const rows: ArgumentRow[] = [];
  const visit = (name: string, value: Json, at: Place): void => {
    const before = previous === undefined ? undefined : valueAt(previous.arguments, at.path);
    const change = previous === undefined ? {} : changeOf(value, before, previous);
    const base = { path: at.path, name, depth: at.depth, ...change };
    const members = membersOf(value);
    if (members === undefined) {
      rows.push({ ...base, ...leafOf(value, opened.has(at.path)) });
      return;
    }
    const count = countValues(value);
    const isLong = count > MOST_OPEN_ROWS || JSON.stringify(value).length > 4 * LONGEST_TEXT;
    if (count > MOST_ROWS) {
      rows.push({ ...base, ...jsonOf(value, opened.has(at.path)) });
      return;
    }
    const isFolded = isLong && !opened.has(at.path);
    const heading = { kind: 'heading', text: sizeOf(value), isFolded } as const;
    rows.push({ ...base, ...heading, ...(isLong && { size: sizeOf(value) }) });
    if (isFolded) return;
    for (const [member, inner] of members) visit(member, inner, { path: join(at.path, member), depth: at.depth + 1 });
  };
  for (const [name, value] of Object.entries(given)) visit(name, value, { path: join('', name), depth: 0 });
  return rows;
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

function leafOf(value: Json, isOpened: boolean): Pick<ArgumentRow, 'text' | 'kind' | 'isFolded' | 'size'> {
  if (typeof value !== 'string')
    return { text: JSON.stringify(value), kind: typeof value === 'number' ? 'number' : 'word', isFolded: false };
  const isLong = value.length > LONGEST_TEXT || value.split('\n').length > MOST_LINES;
  if (!isLong) return { text: value, kind: 'text', isFolded: false };
  return { text: value, kind: 'text', isFolded: !isOpened, size: sizeOf(value) };
}

function jsonOf(value: Json, isOpened: boolean): Pick<ArgumentRow, 'text' | 'kind' | 'isFolded' | 'size'> {
  const text = JSON.stringify(value, undefined, 2);
  return { text, kind: 'json', isFolded: !isOpened, size: `${sizeOf(value)}, ${characters(text.length)}` };
}

function sizeOf(value: Json): string {
  if (typeof value === 'string') {
    const lines = value.split('\n').length;
    return lines > 1 ? `${characters(value.length)}, ${lines.toLocaleString('en')} lines` : characters(value.length);
  }
  const count = membersOf(value)?.length ?? 0;
  if (Array.isArray(value)) return count === 1 ? '1 item' : `${count.toLocaleString('en')} items`;
  return count === 1 ? '1 member' : `${count.toLocaleString('en')} members`;
}

function characters(count: number): string {
  return `${count.toLocaleString('en')} characters`;
}

function membersOf(value: Json): readonly (readonly [string, Json])[] | undefined {
  return typeof value === 'object' && value !== null ? Object.entries(value) : undefined;
}

function countValues(value: Json): number {
  const members = membersOf(value);
  return members === undefined ? 1 : members.reduce((sum, [, inner]) => sum + countValues(inner), 1);
}

function join(path: string, name: string): string {
  return `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function valueAt(members: JsonMembers, path: string): Json | undefined {
  let value: Json | undefined = members;
  for (const step of path.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    value = Object.hasOwn(value, name) ? (value as JsonMembers)[name] : undefined; // lists have numbered members
  }
  return value;
}

/** The server cuts long arguments of ended calls; such a value cannot be compared. */
const CUT = /^…|… \(\d+ characters\)$/;

function changeOf(value: Json, before: Json | undefined, previous: PreviousCall): { readonly change?: Change } {
  if (previous.sameArguments) return {};
  if (before === undefined) return { change: { kind: 'new' } };
  if (typeof before === 'string' && previous.argumentsLength !== undefined && CUT.test(before)) return {};
  if (JSON.stringify(value) === JSON.stringify(before)) return {};
  const isTree = membersOf(value) !== undefined && membersOf(before) !== undefined;
  if (isTree && countValues(value) <= MOST_ROWS) return {}; // its members say what changed
  return { change: { kind: 'changed', before: typeof before === 'string' ? before : JSON.stringify(before) } };
}

/** The difference in one sentence: how many values changed, are new, are gone. */
export function compareWith(given: JsonMembers, previous: PreviousCall): Comparison {
  const now = leavesOf(given);
  const before = leavesOf(previous.arguments);
  const gone = [...before.keys()].filter((path) => !now.has(path));
  const fresh = [...now.keys()].filter((path) => !before.has(path));
  const both = [...now.keys()].filter((path) => before.has(path));
  const isCut = (path: string) => previous.argumentsLength !== undefined && CUT.test(readText(before.get(path)));
  const changed = previous.sameArguments
    ? []
    : both.filter((path) => !isCut(path) && now.get(path) !== before.get(path));
  return {
    gone: previous.sameArguments ? [] : gone.map((path) => ({ path, before: before.get(path) ?? '' })),
    counts: { changed: changed.length, fresh: fresh.length, gone: gone.length, same: both.length - changed.length },
  };
}

interface Comparison {
  readonly gone: readonly { readonly path: string; readonly before: string }[];
  readonly counts: { readonly changed: number; readonly fresh: number; readonly gone: number; readonly same: number };
}

function readText(json: string | undefined): string {
  const value: unknown = JSON.parse(json ?? 'null');
  return typeof value === 'string' ? value : '';
}

function leavesOf(members: JsonMembers): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  const visit = (path: string, value: Json): void => {
    const inner = membersOf(value);
    if (inner === undefined || inner.length === 0) leaves.set(path, JSON.stringify(value));
    else for (const [name, member] of inner) visit(join(path, name), member);
  };
  for (const [name, value] of Object.entries(members)) visit(join('', name), value);
  return leaves;
}

/** A pointer to read: `order/items/0/sku`. */
export function toReadablePath(path: string): string {
  return path.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
}
