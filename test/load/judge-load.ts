import { argumentsHash } from '../../src/specs/hashes.ts';
import type { Sent } from './clients.ts';
import type { AuditRow, LoadReport } from './run-load.ts';

/** How many calls went wrong, by what went wrong. All are 0 where nothing did. */
export interface Verdict {
  /** No answer came. */
  readonly lost: number;
  /** A call that may not be repeated ran more than once. */
  readonly twice: number;
  /** The answer says something else than what the upstream did, or belongs to another call. */
  readonly wrong: number;
  /** The audit has no row for the call, several, or one with another outcome. */
  readonly misrecorded: number;
}

/** Outcomes that say that the tool did not begin. */
const NOT_BEGUN = ['unavailable', 'rate_limited', 'conflict'];

export function judgeLoad({ sent, written, rows }: LoadReport): Verdict {
  const timesOf = ({ id }: Sent) => written.get(id) ?? 0;
  const isOnce = ({ tool }: Sent) => tool.endsWith('_write');
  return {
    lost: sent.filter(({ outcome }) => outcome === 'lost').length,
    twice: sent.filter((call) => isOnce(call) && timesOf(call) > 1).length,
    wrong: sent.filter((call) => !isTrue(call, timesOf(call), isOnce(call))).length,
    misrecorded: countMisrecorded(sent, rows),
  };
}

function isTrue({ id, outcome, text }: Sent, times: number, isOnce: boolean): boolean {
  if (outcome === 'done') return times >= 1 && text === id;
  if (NOT_BEGUN.includes(outcome)) return times === 0 || !isOnce; // what may be repeated was tried before it was refused
  return outcome === 'unknown_outcome' || outcome === 'lost';
}

/** Each call has one row with its outcome; refusals that came in a flood share rows that count them. */
function countMisrecorded(sent: readonly Sent[], rows: readonly AuditRow[]): number {
  const single = Map.groupBy(
    rows.filter(({ kind }) => kind === 'call'),
    ({ argumentsHash: hash }) => hash,
  );
  const shared = new Map<string, number>();
  for (const { kind, outcome, count = 0 } of rows)
    if (kind === 'many') shared.set(outcome, (shared.get(outcome) ?? 0) + count);
  let misrecorded = 0;
  for (const { id, ms, outcome } of sent.map(withArguments)) {
    const found = single.get(argumentsHash({ id, ms })) ?? [];
    const left = shared.get(outcome) ?? 0;
    if (found.length === 1 && found[0]?.outcome === outcome) continue;
    if (found.length === 0 && left > 0) shared.set(outcome, left - 1);
    else misrecorded++;
  }
  return misrecorded;
}

function withArguments({ id, sentMs, outcome }: Sent) {
  return { id, ms: sentMs, outcome };
}
