import type { AuditFindingKind } from '../core/ports/audit-report.ts';
import {
  type AuditEntry,
  type ChainCut,
  type Checkpoint,
  indexText,
  type StoredAudit,
  type StoredAuditRow,
  type StoredChain,
} from '../core/ports/stored-audit.ts';
import { nextHash } from '../store/audit-append.ts';
import { createSealCursor, ROWS_PER_PAGE, readPortions } from './event-loop-turns.ts';
import { aboutEntry, type Findings, rowsFrom, sentence, timeText } from './findings.ts';
import { firstHash, isSignedCheckpoint, isSignedCut, readEntry } from './proof.ts';
import type { OpenIntents } from './verify-audit.ts';

/** Options for walking a chain. */
export interface Walk {
  readonly audit: StoredAudit;
  readonly chain: StoredChain;
  /** Checkpoints outside the database, with checked signatures. */
  readonly outside: readonly Checkpoint[];
  /** True if cuts signed by this key are trusted. */
  trusts(key: string): boolean;
  readonly findings: Findings;
  readonly intents: OpenIntents;
}

/** The extent of a chain. */
export interface Walked {
  readonly rows: number;
  /** The number of the last row, or of the last removed one. */
  readonly last: number;
  readonly removed: number;
  /** The number of the last row covered by a signature. */
  readonly sealed: number;
  /** Checkpoints in the database for rows that do not exist; read lazily. */
  readonly beyond: AsyncIterable<Checkpoint>;
}

/** The position of a walk. */
interface State {
  rows: number;
  /** The expected number of the next row. */
  next: number;
  /** Possible previous hashes of the next row, at most `MAX_PREVIOUS`; undefined after missing rows. */
  previous: readonly string[] | undefined;
  /** The chain as read again after a gap in the current portion; undefined before that. */
  fresh: StoredChain | undefined;
  removed: number;
  sealed: number;
  isRewritten: boolean;
}

/** Each wrong row adds a possible previous hash. Without a limit the walk would be quadratic. */
const MAX_PREVIOUS = 8;

/** Checks every row once, in portions, and reports what does not fit. */
export async function walkChain(walk: Walk): Promise<Walked> {
  const { audit, outside } = walk;
  const { chain } = walk.chain;
  const cut = believedCut(walk, walk.chain.cut);
  const state = stateAfter(walk, cut);
  await judgeEarlier(walk, cut);
  const seals = createSealCursor(audit, chain, { after: state.removed - 1, outside });
  for (const checkpoint of await seals.take(state.removed)) judgeSeal(walk, state, checkpoint);
  for await (const portion of readPortions(audit, chain, state.next - 1)) {
    state.fresh = undefined;
    for (const row of portion) {
      if (!Number.isSafeInteger(row.number)) {
        report(walk, 'row_changed', { row, says: 'has lost its number' });
        continue;
      }
      if (row.number > state.next) await explainGap(walk, state, row);
      if (row.number < state.next) continue; // old rows are being removed, including this one
      judgeRow(walk, state, row);
      if (seals.has(row.number))
        for (const checkpoint of await seals.take(row.number)) judgeSeal(walk, state, checkpoint);
    }
  }
  const { rows, next, removed, sealed } = state;
  return { rows, last: next - 1, removed, sealed, beyond: seals.rest() };
}

function stateAfter({ chain }: Walk, cut: ChainCut | undefined): State {
  const removed = cut?.count ?? 0;
  const previous = [cut === undefined ? firstHash(chain) : cut.hash];
  return { rows: 0, next: removed + 1, previous, fresh: undefined, removed, sealed: removed, isRewritten: false };
}

function believedCut({ chain, trusts, findings }: Walk, cut: ChainCut | undefined): ChainCut | undefined {
  if (cut === undefined || (isSignedCut(cut) && trusts(cut.key))) return cut;
  const message = `The removal of ${rowsFrom(1, cut.count)} of chain ${chain.chain} as old is not signed by a known key.`;
  findings.add({ kind: 'forged', chain: chain.chain, number: 1, to: cut.count, message });
  return undefined;
}

/** Reports added rows before the first row of a chain. Only removed rows may still be there for a moment, and these lead to the cut. */
async function judgeEarlier(walk: Walk, cut: ChainCut | undefined): Promise<void> {
  const { audit, chain } = walk;
  const says = 'was added before the first row of the chain';
  for (const row of await audit.rowsUpTo(chain.chain, 0, ROWS_PER_PAGE)) report(walk, 'row_added', { row, says });
  if (cut === undefined) return;
  const rows = await audit.rowsUpTo(chain.chain, cut.count, ROWS_PER_PAGE);
  for (const [index, row] of rows.entries()) {
    if (row.number < 1) return;
    const before = rows[index + 1];
    const isInPlace = row.number === cut.count - index && (index > 0 || row.hash === cut.hash);
    const follows = before === undefined || before.number < 1 || nextHash(before.hash, row.entry) === row.hash;
    if (!isInPlace || !follows)
      report(walk, 'row_added', { row, says: 'was added or changed after it was removed as old' });
  }
}

/** Reports rows that are missing before this one. */
async function explainGap(walk: Walk, state: State, row: StoredAuditRow): Promise<void> {
  const { chain } = walk.chain;
  state.fresh ??= (await walk.audit.chains()).find((candidate) => candidate.chain === chain) ?? walk.chain;
  const now = state.fresh;
  // Another process may be removing old rows right now.
  if (now.cut !== undefined && now.cut.count >= state.next && now.cut.count !== walk.chain.cut?.count) {
    const cut = believedCut(walk, now.cut);
    if (cut !== undefined) Object.assign(state, { ...stateAfter(walk, cut), rows: state.rows, fresh: now });
    if (row.number <= state.next) return;
  }
  const to = row.number - 1;
  const what = `${rowsFrom(state.next, to)} of chain ${chain}`;
  const message = `${sentence(what)} ${to > state.next ? 'are' : 'is'} missing before the row${aboutEntry(readEntry(row))}.`;
  walk.findings.add({ kind: 'row_removed', chain, number: state.next, to, message });
  state.next = row.number;
  state.previous = undefined;
}

function judgeRow(walk: Walk, state: State, row: StoredAuditRow): void {
  const entry = readEntry(row);
  const possible = state.previous?.map((previous) => nextHash(previous, row.entry));
  const follows = possible === undefined || possible.includes(row.hash);
  if (entry !== undefined && entry.number !== row.number)
    report(walk, 'row_moved', { row, says: `is in the place of row ${row.number}`, entry });
  else if (!follows) report(walk, 'row_changed', { row, says: 'was changed, or the row before it', entry });
  else if (entry === undefined || !isIndexed(row, entry))
    report(walk, 'row_changed', { row, says: 'was changed in its indexed columns', entry });
  if (entry !== undefined) walk.intents.see(walk.chain.chain, entry);
  if (entry?.kind === 'gap') noteGap(walk, entry);
  // Either the row or its hash was changed; the next row shows which.
  state.previous = follows ? [row.hash] : fewOf([row.hash, ...(possible ?? [])]);
  state.next = row.number + 1;
  state.rows++;
}

/** Keeps the newest hashes and the one after the last correct row, so that the walk recovers after any number of changed hashes. */
function fewOf(hashes: readonly string[]): readonly string[] {
  return hashes.length <= MAX_PREVIOUS ? hashes : [...hashes.slice(0, MAX_PREVIOUS - 1), ...hashes.slice(-1)];
}

function isIndexed(row: StoredAuditRow, { at, callId, tool, caller = '', outcome }: AuditEntry): boolean {
  const texts = [callId, tool, caller, outcome].map((text) => indexText(String(text)));
  return row.at === at && [row.callId, row.tool, row.caller, row.outcome].every((text, index) => text === texts[index]);
}

function judgeSeal({ chain, outside, findings }: Walk, state: State, checkpoint: Checkpoint): void {
  const { count, at } = checkpoint;
  if (!outside.includes(checkpoint) && !isSignedCheckpoint(checkpoint, chain.key)) {
    const message = `The checkpoint of row ${count} of chain ${chain.chain} was changed or forged: its signature is wrong.`;
    findings.add({ kind: 'forged', chain: chain.chain, number: count, message });
    return;
  }
  if (state.previous === undefined) return; // the missing rows were already reported
  const isSame = state.previous.includes(checkpoint.hash);
  if (!isSame && !state.isRewritten) {
    const from = Math.min(state.sealed + 1, count);
    const message = `${sentence(rowsFrom(from, count))} of chain ${chain.chain} do not match the checkpoint of ${timeText(at)}: some were changed and their hashes rewritten.`;
    findings.add({ kind: 'row_changed', chain: chain.chain, number: from, to: count, message });
  }
  state.isRewritten ||= !isSame;
  if (isSame) state.sealed = Math.max(state.sealed, count);
}

/** Reports rows that lists may show and that a walk did not read: a second row of a number, or one that is missing in the index. */
export async function reportUnread(
  { audit, findings }: Pick<Walk, 'audit' | 'findings'>,
  walked: readonly { readonly chain: string; readonly rows: number; readonly removed: number }[],
): Promise<void> {
  const known = new Map(walked.map(({ chain, rows, removed }) => [chain, removed + rows]));
  // Counted by one statement: rows are appended, and old ones removed, without a gap at any time.
  for (const { chain, rows, first, last } of await audit.extents()) {
    const read = known.get(chain);
    if (read === undefined) continue;
    const [newest] = last > read ? await audit.rows(chain, last - 1, 1) : [];
    const more = Math.max(rows - (last - first + 1), last > read && newest?.number !== last ? 1 : 0);
    if (!(more > 0)) continue;
    const message = `Chain ${chain} has more rows than numbers, at least ${more}: rows were added, and the index or the schema of the table was changed for that.`;
    findings.add({ kind: 'row_added', chain, message });
  }
}

interface Wrong {
  readonly row: StoredAuditRow;
  readonly says: string;
  readonly entry?: AuditEntry | undefined;
}

function report({ chain, findings }: Walk, kind: AuditFindingKind, { row, says, entry }: Wrong): void {
  const { number } = row;
  const named = kind === 'row_moved' ? entry?.number : number;
  const message = `Row ${named} of chain ${chain.chain}${aboutEntry(entry)}, ${says}.`;
  const about = entry === undefined ? {} : { at: entry.at, tool: entry.tool };
  findings.add({ kind, chain: chain.chain, ...(Number.isNaN(number) ? {} : { number }), ...about, message });
}

function noteGap({ chain, findings }: Walk, { count = 0, at, until = at }: AuditEntry): void {
  findings.note(
    `Between ${timeText(at)} and ${timeText(until)} ${count} rows of chain ${chain.chain} were lost because the store could not be written.`,
  );
}
