import { type CallRow, type EntryKind, kindOf } from './call-types.ts';

/** A line of the timeline: a conversation, a turn in it, or a call in that. */
export type TimelineItem =
  | {
      readonly kind: 'conversation';
      readonly key: string;
      readonly id: string | undefined;
      readonly calls: number;
      readonly lastAt: string;
    }
  | { readonly kind: 'turn'; readonly key: string; readonly id: string | undefined; readonly summary: TurnSummary }
  | {
      readonly kind: 'entry';
      readonly key: string;
      readonly row: CallRow;
      readonly entry: EntryKind;
      readonly place: EntryPlace;
    };

/** What happened in a turn. */
export interface TurnSummary {
  readonly at: string;
  readonly spanMs: number;
  readonly counts: Readonly<Record<EntryKind, number>>;
  readonly failed: number;
  readonly waitedMs: number;
  readonly tokens: number;
}

/** Where an entry stands in its turn, in parts of the turn. */
interface EntryPlace {
  readonly afterMs: number;
  readonly left: number;
  readonly width: number;
}

/** Groups calls by conversation and turn. Conversations: the last active one first; turns and calls: oldest first. */
export function toTimeline(rows: readonly CallRow[]): readonly TimelineItem[] {
  const conversations = groupBy(rows, ({ conversation }) => conversation);
  const named = [...conversations].sort(([a], [b]) => Number(a === undefined) - Number(b === undefined));
  return named.flatMap(([id, calls]) => {
    const [newest] = calls;
    if (newest === undefined) return [];
    const head: TimelineItem = { kind: 'conversation', key: `c ${id}`, id, calls: calls.length, lastAt: newest.at };
    const turns = groupBy(calls.toReversed(), ({ turn }) => turn);
    return [head, ...[...turns].flatMap(([turn, own]) => toTurn(id, turn, own))];
  });
}

function toTurn(conversation: string | undefined, id: string | undefined, calls: readonly CallRow[]): TimelineItem[] {
  const summary = summarize(calls);
  const start = Date.parse(summary.at);
  const inOrder = calls.toSorted((a, b) => startOf(a) - startOf(b)); // a call that waited was made before it ran
  const entries = inOrder.map((row): TimelineItem => {
    const from = startOf(row);
    const place = {
      afterMs: from - start,
      left: summary.spanMs === 0 ? 0 : (from - start) / summary.spanMs,
      width: summary.spanMs === 0 ? 1 : (endOf(row) - from) / summary.spanMs,
    };
    return { kind: 'entry', key: row.callId, row, entry: kindOf(row), place };
  });
  return [{ kind: 'turn', key: `t ${conversation} ${id}`, id, summary }, ...entries];
}

/** When a call was made; a call that waited was made before it ran. */
function startOf({ at, waitedMs = 0 }: CallRow): number {
  return Date.parse(at) - waitedMs;
}

function endOf({ at, durationMs = 0 }: CallRow): number {
  return Date.parse(at) + durationMs;
}

function summarize(calls: readonly CallRow[]): TurnSummary {
  const counts = { search: 0, call: 0, wait: 0, denial: 0 };
  let [start, end, failed, waitedMs, tokens] = [Number.POSITIVE_INFINITY, 0, 0, 0, 0];
  for (const row of calls) {
    counts[kindOf(row)]++;
    start = Math.min(start, startOf(row));
    end = Math.max(end, endOf(row));
    if (!['done', 'waiting', 'running', 'denied'].includes(row.outcome)) failed++;
    waitedMs += row.waitedMs ?? 0;
    tokens += row.tokens ?? 0;
  }
  return { at: new Date(start).toISOString(), spanMs: Math.max(0, end - start), counts, failed, waitedMs, tokens };
}

function groupBy<T>(
  items: readonly T[],
  keyOf: (item: T) => string | undefined,
): ReadonlyMap<string | undefined, readonly T[]> {
  const groups = new Map<string | undefined, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** A turn in words: 2 searches, 5 calls, 1 denied, waited 12 s, 1,200 tokens. */
export function summaryWords(
  { counts, failed, waitedMs, tokens }: TurnSummary,
  toTime: (ms: number) => string,
): string {
  const many = (count: number, one: string, more: string) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : more}`];
  return [
    ...many(counts.search, 'search', 'searches'),
    ...many(counts.call, 'call', 'calls'),
    ...many(failed, 'failed', 'failed'),
    ...many(counts.denial, 'denied', 'denied'),
    ...many(counts.wait, 'waits for approval', 'wait for approval'),
    ...(waitedMs > 0 ? [`waited ${toTime(waitedMs)}`] : []),
    ...(tokens > 0 ? [`${tokens.toLocaleString('en')} tokens`] : []),
  ].join(', ');
}
