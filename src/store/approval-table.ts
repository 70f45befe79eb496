import { stateAfter } from '../core/ports/approval-states.ts';
import type { NewApproval, StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import { brokenBound, DEFAULT_KEEP_BOUNDS } from '../core/ports/stored-results.ts';
import { createListeners } from '../system/listeners.ts';
import { readApprovals, resultOf } from './approval-reads.ts';
import { isApprovalId, toApproval, toTexts } from './approval-rows.ts';
import {
  addStatements,
  answerStatements,
  claimStatement,
  dropResultsStatements,
  expireStatement,
  finishStatement,
  giveBackStatement,
  IS_OPEN,
  moveStatement,
  type OwnClaim,
  placesAt,
} from './approval-statements.ts';
import { batchTable } from './batch-table.ts';
import type { Heartbeat } from './claims.ts';
import { type SqlEngine, type Statement, sql, textOf } from './engines/sql-engine.ts';
import { grantTable } from './grant-table.ts';
import { readUsage } from './repeats.ts';
import type { TaskSignals } from './tasks/task-signals.ts';

/** Retention of ended requests: unanswered ones, and all others. */
const KEEP_UNANSWERED_MS = 86_400_000;
const KEEP_MS = 30 * KEEP_UNANSWERED_MS;
/** The index of the claim's row among the results: after the heartbeat and the expiry. */
const CLAIMING = 2;
/** Ended requests are purged after this many new ones, at most `PURGED_ROWS` at a time. */
const ADDED_PER_PURGE = 100;
const PURGED_ROWS = 500;

/** Dependencies of the table of approval requests. */
export interface ApprovalTablePorts {
  readonly engine: SqlEngine;
  now(): number;
  readonly heartbeat: Heartbeat;
  readonly signals: Pick<TaskSignals, 'announce'>;
}

/** Approval requests in an engine. Each decision is a single statement: if several callers try, one succeeds. */
export function approvals({ engine, now, heartbeat, signals }: ApprovalTablePorts): StoredApprovals {
  const reads = readApprovals(engine, now);
  const { tell, ...listeners } = createListeners<[id: string]>();
  /** The claims of this process, as stored in their rows. */
  const claims = new Map<string, string>();
  /** Creates a claim whose name differs from all open claims of this process, even if the clock repeats. */
  const newClaim = (id: string, callId: string): OwnClaim & { readonly claim: string } => {
    const { process } = heartbeat;
    for (let at = now(); ; at++) {
      const own = { id, process, claim: JSON.stringify({ callId, at }) };
      if (!heartbeat.holds(nameOf(own))) return own;
    }
  };
  /** Writes a claim. The last statement returns its row, or none if the claim failed. */
  const take = async (own: OwnClaim & { readonly claim: string }, statements: readonly Statement[]) => {
    const name = nameOf(own);
    const rows = await heartbeat.make({ name, statements, undo: giveBackStatement(own) });
    const [row] = rows[CLAIMING] ?? [];
    if (row?.claim === own.claim) claims.set(own.id, own.claim);
    else heartbeat.release(name);
    return row;
  };
  const ownClaim = (id: string): OwnClaim => ({ id, process: heartbeat.process, claim: claims.get(id) ?? null });
  return {
    ...reads,
    ...grantTable(engine, now),
    ...batchTable({ engine, now, signals }, reads, tell),
    add: adding({ engine, now }, reads),
    answer: async (id, reply, callId) => {
      const asked = await reads.get(id);
      if (asked === undefined) return undefined;
      const own = callId === undefined ? undefined : newClaim(id, callId);
      const statements = [...answerStatements(asked, { ...reply, at: now() }, own), ...signals.announce];
      const row =
        own === undefined ? (await engine.write(statements, 'power loss'))[1]?.[0] : await take(own, statements);
      const answered = row && toApproval(row, now());
      if (answered !== undefined) tell(id);
      return answered;
    },
    claim: async (id, subject, callId) => {
      if (!isApprovalId(id)) return undefined;
      const own = newClaim(id, callId);
      const claimed = await take(own, [expireStatement(id, now()), claimStatement(own, subject)]);
      return claimed && toApproval(claimed, now());
    },
    giveBack: async (id) => {
      const own = ownClaim(id);
      const [given] = await heartbeat.settle(nameOf(own), [giveBackStatement(own)]);
      const isGiven = given?.length === 1;
      if (isGiven && claims.get(id) === own.claim) claims.delete(id);
      tell(id);
      return isGiven;
    },
    finish: async (id, outcome, end) => {
      const drops = end === undefined ? [] : dropResultsStatements(id, end.bounds ?? DEFAULT_KEEP_BOUNDS);
      const own = ownClaim(id);
      claims.delete(id);
      await heartbeat.settle(nameOf(own), [finishStatement(own, outcome, end), ...drops]);
      tell(id);
    },
    takeResult: async (id, which) => {
      if (!isApprovalId(id)) return undefined;
      const [rows] = await engine.write([
        sql`
          UPDATE toolcrib_approvals SET is_handed_over = 1
          WHERE id = ${id} AND state = 'done' AND result IS NOT NULL
            AND (is_handed_over = 0 OR ${which === 'any' ? 1 : 0} = 1) RETURNING result`,
      ]);
      return rows?.[0] === undefined ? undefined : resultOf(rows[0]);
    },
    end: async (id, state) => {
      const where = sql`id = ${id} AND state = 'waiting'`; // a request that was answered at the last moment stays
      const [ended] = await engine.write([moveStatement(state === 'expired' ? 'expire' : 'withdraw', { where })]);
      return ended?.length === 1;
    },
    onAnswer: listeners.add,
  };
}

/** Adds requests. Ended ones are purged now and then. */
function adding(
  { engine, now }: Pick<ApprovalTablePorts, 'engine' | 'now'>,
  reads: Pick<StoredApprovals, 'find'>,
): StoredApprovals['add'] {
  const nextInBatch = inOrder();
  let added = 0;
  return async (request, bounds) => {
    const placeAt = request.batch === undefined ? undefined : nextInBatch(now());
    if (added++ % ADDED_PER_PURGE === 0) await purge(engine, now());
    const texts = toTexts(request);
    for (;;) {
      const at = placeAt ?? now();
      const statements = addStatements({ request, texts, bounds, at });
      const made = (await engine.write([...engine.dialect.lock('approvals'), ...statements])).at(-1)?.[0];
      if (made !== undefined) return { ok: true, approval: toNew(request, textOf(made, 'id'), at), isNew: true };
      const approval = request.batch === undefined ? await reads.find(request) : undefined;
      if (approval !== undefined) return { ok: true, approval, isNew: false };
      const usage = await readUsage(engine.read, placesAt(at), request.callerId);
      const broken = brokenBound(usage, texts.bytes, bounds);
      if (broken !== undefined) return { ok: false, broken };
      // The conflicting request has ended meanwhile, or others have: there is room again.
    }
  };
}

/** Calls of a script are made within a millisecond. Each gets a time of its own, so that they are shown in their order. */
function inOrder(): (at: number) => number {
  let last = 0;
  return (at) => {
    last = last >= at && last - at < MOST_AHEAD_MS ? last + 1 : at;
    return last;
  };
}

/** Beyond this the clock was set back. */
const MOST_AHEAD_MS = 10_000;

/** The name of the claim in the heartbeat. A claim that was given back and taken again has another name. */
function nameOf({ id, claim }: OwnClaim): string {
  return `approval ${id} ${claim}`;
}

/** A request right after it was added. */
function toNew(request: NewApproval, id: string, at: number): StoredApproval {
  const lifetimeMs = Math.ceil(request.lifetimeMs);
  const state = { state: stateAfter('ask'), ...(request.batch !== undefined && { isSealed: false as const }) };
  return { ...request, lifetimeMs, id, ...state, createdAt: at, expiresAt: at + lifetimeMs };
}

/** Best effort: a request must not fail because two processes purge at once. */
async function purge(engine: SqlEngine, at: number): Promise<void> {
  const statements: readonly Statement[] = [
    {
      sql: `DELETE FROM toolcrib_approvals WHERE id IN (
        SELECT id FROM toolcrib_approvals
        WHERE expires_at < ? AND (state IN ('expired', 'withdrawn') OR ${IS_OPEN} OR expires_at < ?) LIMIT ?)`,
      params: [at - KEEP_UNANSWERED_MS, at - KEEP_MS, PURGED_ROWS],
    },
    sql`
      DELETE FROM toolcrib_grants WHERE id IN (
        SELECT id FROM toolcrib_grants WHERE expires_at < ${at} LIMIT ${PURGED_ROWS})`,
    // The process of this call died; only a person can tell whether the call took effect.
    sql`
      UPDATE toolcrib_approvals SET arguments = NULL
      WHERE arguments IS NOT NULL AND expires_at <= ${at} AND state = 'claimed'`,
    // Results are kept for one day.
    sql`
      UPDATE toolcrib_approvals SET result = NULL, bytes = 0
      WHERE result IS NOT NULL AND expires_at < ${at - KEEP_UNANSWERED_MS}`,
  ];
  for (const statement of statements) await engine.write([statement]).catch(() => undefined);
}
