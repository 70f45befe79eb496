import type { CallRow } from './call-types.ts';

/** A call in the tree of nested calls. */
export interface TreeRow {
  readonly row: CallRow;
  readonly depth: number;
  readonly start: number;
  readonly end: number;
}

/** A stretch of time, and the part of the width that it gets. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly left: number;
  readonly right: number;
  /** No nested call ran: the stretch is folded to a narrow band. */
  readonly isIdle: boolean;
}

/** The calls below a call in the order of a tree: each call before its own, siblings by their start. Cycles end. */
export function toTree(root: CallRow | undefined, calls: readonly CallRow[], now: number): readonly TreeRow[] {
  const children = new Map<string, CallRow[]>();
  for (const call of calls) {
    if (call.parentId === undefined) continue;
    const siblings = children.get(call.parentId);
    if (siblings === undefined) children.set(call.parentId, [call]);
    else siblings.push(call);
  }
  const rows: TreeRow[] = [];
  const seen = new Set<string>();
  const stack = root === undefined ? [] : [{ row: root, depth: 0 }];
  while (stack.length > 0) {
    const next = stack.pop();
    if (next === undefined || seen.has(next.row.callId)) continue;
    seen.add(next.row.callId);
    rows.push({ ...next, ...spanOf(next.row, now) });
    const below = (children.get(next.row.callId) ?? []).toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
    for (const row of below) stack.push({ row, depth: next.depth + 1 });
  }
  return rows;
}

function spanOf({ at, durationMs, outcome }: CallRow, now: number): { readonly start: number; readonly end: number } {
  const start = Date.parse(at);
  return { start, end: outcome === 'running' ? Math.max(now, start) : start + (durationMs ?? 0) };
}

/** An idle stretch is folded if it is longer than this part of the whole. */
const LONG_PART = 0.08;
const LONG_MS = 50;
/** The part of the width of a folded stretch. */
const FOLDED = 0.03;

/** Divides the time into stretches. Those in which no innermost call ran are folded. */
export function toStretches(rows: readonly TreeRow[]): readonly Stretch[] {
  const [root] = rows;
  if (root === undefined) return [];
  const start = root.start;
  const end = rows.reduce((latest, row) => Math.max(latest, row.end), root.end);
  const inner = rows.filter((_row, place) => place > 0 && (rows[place + 1]?.depth ?? 0) <= (rows[place]?.depth ?? 0));
  const parts = rows.length === 1 ? [{ from: start, to: end, isIdle: false }] : divide(start, end, inner);
  const idle = parts.filter(({ isIdle }) => isIdle);
  const busyMs = parts.reduce((sum, { from, to, isIdle }) => (isIdle ? sum : sum + to - from), 0);
  const busyWidth = 1 - idle.length * FOLDED;
  let left = 0;
  return parts.map((part) => {
    const width = part.isIdle ? FOLDED : busyMs === 0 ? busyWidth : ((part.to - part.from) / busyMs) * busyWidth;
    const stretch = { ...part, left, right: left + width };
    left += width;
    return stretch;
  });
}

type Part = Pick<Stretch, 'from' | 'to' | 'isIdle'>;

function divide(start: number, end: number, calls: readonly TreeRow[]): readonly Part[] {
  const parts: Part[] = [];
  const isLong = (ms: number) => ms > LONG_MS && ms > (end - start) * LONG_PART;
  let busyFrom = start;
  let covered = start;
  for (const { start: from, end: to } of calls.toSorted((a, b) => a.start - b.start)) {
    if (isLong(from - covered)) {
      if (covered > busyFrom) parts.push({ from: busyFrom, to: covered, isIdle: false });
      parts.push({ from: covered, to: from, isIdle: true });
      busyFrom = from;
    }
    covered = Math.max(covered, to);
  }
  const restIsIdle = isLong(end - covered);
  const busyTo = restIsIdle ? covered : end;
  if (busyTo > busyFrom || parts.length === 0) parts.push({ from: busyFrom, to: busyTo, isIdle: false });
  if (restIsIdle) parts.push({ from: covered, to: end, isIdle: true });
  return parts;
}

/** The moment at a place from 0 to 1: what `placeOf` turns around. */
export function momentAt(place: number, stretches: readonly Stretch[]): number {
  for (const { from, to, left, right } of stretches)
    if (place <= right)
      return right === left ? to : from + ((Math.max(place, left) - left) / (right - left)) * (to - from);
  return stretches.at(-1)?.to ?? 0;
}

/** The times at places along the axis, exact enough that neighbours differ. */
export function toTickTexts(
  places: readonly number[],
  stretches: readonly Stretch[],
  toDuration: (ms: number) => string,
): readonly string[] {
  const start = stretches[0]?.from ?? 0;
  const times = places.map((place) => momentAt(place, stretches) - start);
  const apartMs = Math.min(...times.slice(1).map((time, place) => time - (times[place] ?? 0)));
  const digits = apartMs >= 100 ? 1 : apartMs >= 10 ? 2 : 3;
  const toText = (ms: number) =>
    ms >= 1000 && ms < 60_000 ? `${(ms / 1000).toFixed(digits)} s` : toDuration(Math.max(0, ms));
  return times.map((ms, place) => (place === 0 ? '0' : toText(ms)));
}

/** The place of a moment, from 0 to 1. */
export function placeOf(at: number, stretches: readonly Stretch[]): number {
  for (const { from, to, left, right } of stretches)
    if (at <= to) return to === from ? left : left + ((Math.max(at, from) - from) / (to - from)) * (right - left);
  return 1;
}
