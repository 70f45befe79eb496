import { brokenBound, DEFAULT_KEEP_BOUNDS } from '../core/ports/keep-bounds.ts';
import type { NewApproval, StoredApproval, StoredApprovals } from '../core/ports/stored-approvals.ts';
import { indexText } from '../core/ports/stored-audit.ts';
import type { ToolResult } from '../core/tool-result.ts';
import {
  bindingOf,
  grantKeysOf,
  isApprovalId,
  MAX_SKEW_MS,
  stateOf,
  toApproval,
  toListed,
  toTexts,
} from './approval-rows.ts';
import {
  addStatements,
  answerStatements,
  CUT,
  claimStatement,
  dropResultsStatements,
  expireStatement,
  findAnsweredStatement,
  findStatement,
  finishStatement,
  giveBackStatement,
  listStatement,
  OPEN_APPROVALS,
  type OwnClaim,
  runnableStatement,
} from './approval-statements.ts';
import { type Engine, jsonOf, numberOf, type Row, type Statement, sql, textOf } from './engines/engine.ts';
import type { Heartbeat } from './heartbeat.ts';
import { readUsage } from './keep-room.ts';

/** How long what is over is kept: what nobody answered, and the rest. */
const KEEP_UNANSWERED_MS = 86_400_000;
const KEEP_MS = 30 * KEEP_UNANSWERED_MS;
/** Where the row of a claim is among the answers: after the sign of life and what is over. */
const CLAIMING = 2;
/** So many new requests, and what is over is removed, at most so much at once. */
const ADDED_PER_PURGE = 100;
const PURGED_ROWS = 500;

/** Requests for approval in an engine. Whatever decides is one statement: of all who try, one succeeds. */
export function approvals(engine: Engine, now: () => number, heartbeat: Heartbeat): StoredApprovals {
  const listeners = new Set<(id: string) => void>();
  /** The claims of this process, as their rows say them. */
  const claims = new Map<string, string>();
  let added = 0;
  const tell = (id: string) => {
    for (const listener of listeners) listener(id);
  };
  const one = (rows: readonly Row[] | undefined): StoredApproval | undefined =>
    rows?.[0] === undefined ? undefined : toApproval(rows[0], now());
  /** A claim that is called like no other of this process that has not ended, whatever the clock says. */
  const newClaim = (id: string, callId: string): OwnClaim & { readonly claim: string } => {
    const { process } = heartbeat;
    for (let at = now(); ; at++) {
      const own = { id, process, claim: JSON.stringify({ callId, at }) };
      if (!heartbeat.holds(nameOf(own))) return own;
    }
  };
  /** Writes a claim; the last statement answers its row, or none where it was not made. */
  const take = async (own: OwnClaim & { readonly claim: string }, statements: readonly Statement[]) => {
    const name = nameOf(own);
    const rows = await heartbeat.make({ name, statements, undo: giveBackStatement(own) });
    const [row] = rows[CLAIMING] ?? [];
    if (row?.claim === own.claim) claims.set(own.id, own.claim);
    else heartbeat.release(name);
    return row;
  };
  const ownClaim = (id: string): OwnClaim => ({ id, process: heartbeat.process, claim: claims.get(id) ?? null });
  const get = async (id: string) =>
    isApprovalId(id) ? one(await engine.read(sql`SELECT * FROM toolcrib_approvals WHERE id = ${id}`)) : undefined;
  const find: StoredApprovals['find'] = async (subject) => {
    const binding = bindingOf(subject);
    const same = one(await engine.read(findStatement(binding, now())));
    if (same !== undefined || subject.answersHash !== undefined) return same;
    return one(await engine.read(findAnsweredStatement(binding, now())));
  };
  return {
    get,
    find,
    add: async (request, bounds) => {
      if (added++ % ADDED_PER_PURGE === 0) await purge(engine, now());
      const texts = toTexts(request);
      for (;;) {
        const at = now();
        const statements = addStatements({ request, texts, bounds, at });
        const made = (await engine.write([...engine.dialect.lock('approvals'), ...statements])).at(-1)?.[0];
        if (made !== undefined) return { ok: true, approval: toNew(request, textOf(made, 'id'), at), isNew: true };
        const approval = await find(request);
        if (approval !== undefined) return { ok: true, approval, isNew: false };
        const usage = await readUsage(engine.read, OPEN_APPROVALS, request.callerId);
        const broken = brokenBound(usage, texts.bytes, bounds);
        if (broken !== undefined) return { ok: false, broken };
        // The one that was there has been taken up meanwhile, or others are over: there is room again.
      }
    },
    stateOf: async (id) => {
      if (!isApprovalId(id)) return undefined;
      const [row] = await engine.read(sql`
        SELECT state, created_at, expires_at FROM toolcrib_approvals WHERE id = ${id}`);
      return row === undefined ? undefined : stateOf(row, now());
    },
    list: async (listing) => {
      const at = now();
      return (await engine.read(listStatement(listing, at))).map((row) => toListed(row, at)).reverse();
    },
    states: async (limit) => {
      const at = now();
      const rows = await engine.read(sql`
        SELECT id, state, created_at, expires_at FROM toolcrib_approvals ORDER BY created_at DESC LIMIT ${limit}`);
      return rows.map((row) => ({ id: textOf(row, 'id'), state: stateOf(row, at) })).reverse();
    },
    answer: async (id, reply, callId) => {
      const asked = await get(id);
      if (asked === undefined) return undefined;
      const own = callId === undefined ? undefined : newClaim(id, callId);
      const statements = answerStatements(asked, { ...reply, at: now() }, own);
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
    runnable: async (after, limit) => {
      const rows = await engine.read(runnableStatement(after, limit, now()));
      return rows.map((row) => ({ id: textOf(row, 'id'), createdAt: numberOf(row, 'created_at') }));
    },
    finish: async (id, outcome, end) => {
      const drops = end === undefined ? [] : dropResultsStatements(id, end.bounds ?? DEFAULT_KEEP_BOUNDS);
      const own = ownClaim(id);
      claims.delete(id);
      await heartbeat.settle(nameOf(own), [finishStatement(own, { outcome, end }), ...drops]);
      tell(id);
    },
    ofCall: async (callId) => {
      const [row] = await engine.read({
        sql: `SELECT ${CUT} FROM toolcrib_approvals WHERE call_id = ? ORDER BY created_at DESC LIMIT 1`,
        params: [indexText(callId)],
      });
      if (row === undefined) return undefined;
      return { approval: toApproval(row, now()), ...(row.result !== null && { result: resultOf(row) }) };
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
      const [ended] = await engine.write([
        sql`
          UPDATE toolcrib_approvals SET state = ${state}, arguments = NULL
          WHERE id = ${id} AND state = 'waiting' RETURNING id`,
      ]);
      return ended?.length === 1;
    },
    remembered: async (subject) => {
      const at = now();
      const keys = grantKeysOf(subject);
      if (keys.length === 0) return undefined;
      const [row] = await engine.read({
        sql: `SELECT id, given_by FROM toolcrib_grants WHERE subject IN (${keys.map(() => '?').join(', ')})
          AND expires_at > ? AND given_at <= ? ORDER BY given_at DESC LIMIT 1`,
        params: [...keys, at, at + MAX_SKEW_MS],
      });
      return row === undefined ? undefined : { id: textOf(row, 'id'), by: String(jsonOf(row, 'given_by')) };
    },
    forget: async (id) => {
      if (!isApprovalId(id)) return false;
      const [forgotten] = await engine.write([sql`DELETE FROM toolcrib_grants WHERE id = ${id} RETURNING id`]);
      return forgotten?.length === 1;
    },
    onAnswer(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** What the claim is called where it is held: one that was given back and taken again is another one. */
function nameOf({ id, claim }: OwnClaim): string {
  return `approval ${id} ${claim}`;
}

/** A request as it is right after it was added. */
function toNew(request: NewApproval, id: string, at: number): StoredApproval {
  const lifetimeMs = Math.ceil(request.lifetimeMs);
  return { ...request, lifetimeMs, id, state: 'waiting', createdAt: at, expiresAt: at + lifetimeMs };
}

function resultOf(row: Row): ToolResult {
  return jsonOf(row, 'result') as ToolResult; // written by finish
}

/** Best effort: a request must not fail because two processes clean up at once. */
async function purge(engine: Engine, at: number): Promise<void> {
  const statements = [
    sql`
      DELETE FROM toolcrib_approvals WHERE id IN (
        SELECT id FROM toolcrib_approvals
        WHERE expires_at < ${at - KEEP_UNANSWERED_MS}
          AND (state IN ('waiting', 'approved', 'expired', 'withdrawn') OR expires_at < ${at - KEEP_MS})
        LIMIT ${PURGED_ROWS})`,
    sql`
      DELETE FROM toolcrib_grants WHERE id IN (
        SELECT id FROM toolcrib_grants WHERE expires_at < ${at} LIMIT ${PURGED_ROWS})`,
  ];
  statements.push(
    // The call of a process that died in the middle: whether it was done is for a person to see.
    sql`
      UPDATE toolcrib_approvals SET arguments = NULL
      WHERE arguments IS NOT NULL AND expires_at <= ${at} AND state = 'claimed'`,
    // A result is kept for a day, which is time enough to fetch it.
    sql`
      UPDATE toolcrib_approvals SET result = NULL, bytes = 0
      WHERE result IS NOT NULL AND expires_at < ${at - KEEP_UNANSWERED_MS}`,
  );
  for (const statement of statements) await engine.write([statement]).catch(() => undefined);
}
