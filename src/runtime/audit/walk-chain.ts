import { setImmediate } from 'node:timers/promises';
import type { AuditFindingKind } from '../../core/audit-report.ts';
import {
  type AuditEntry,
  type ChainCut,
  type Checkpoint,
  indexText,
  type StoredAudit,
  type StoredAuditRow,
  type StoredChain,
} from '../../core/stored-audit.ts';
import { aboutEntry, type Findings, rowsFrom, sentence, timeText } from './findings.ts';
import type { OpenIntents } from './open-intents.ts';
import { firstHash, isSignedCheckpoint, isSignedCut, nextHash } from './proof.ts';
import { readEntry } from './read-entry.ts';
import { createSealCursor } from './seal-cursor.ts';

/** What walking a chain needs. */
export interface Walk {
  readonly audit: StoredAudit;
  readonly chain: StoredChain;
  /** Checkpoints that lie outside the database, and whose signatures were checked. */
  readonly outside: readonly Checkpoint[];
  /** Whether it is believed that the holder of this key removed old rows. */
  trusts(key: string): boolean;
  readonly findings: Findings;
  readonly intents: OpenIntents;
}

/** How far a chain goes. */
export interface Walked {
  readonly rows: number;
  /** The number of the last row, or of the last that was removed. */
  readonly last: number;
  readonly removed: number;
  /** The number of the last row that a signature vouches for. */
  readonly sealed: number;
  /** Checkpoints inside the database of rows that are not there. */
  readonly beyond: readonly Checkpoint[];
}

/** Where a walk stands. */
interface State {
  rows: number;
  /** The number that the next row should have. */
  next: number;
  /** What the hash of the next row may follow from; unknown after rows that are missing. */
  previous: readonly string[] | undefined;
  removed: number;
  sealed: number;
  isRewritten: boolean;
}

const PAGE = 1000;

/** Looks at every row once, a page at a time, and says what does not fit. */
export async function walkChain(walk: Walk): Promise<Walked> {
  const { audit, outside } = walk;
  const { chain } = walk.chain;
  const state = stateAfter(walk, believedCut(walk, walk.chain.cut));
  const seals = createSealCursor(audit, chain, { after: state.removed - 1, outside });
  for (const checkpoint of await seals.take(state.removed)) judgeSeal(walk, state, checkpoint);
  for (let after = state.next - 1, isMore = true; isMore; ) {
    const rows = await audit.rows(chain, after, PAGE);
    for (const row of rows) {
      if (!Number.isSafeInteger(row.number)) report(walk, 'row_changed', { row, says: 'has no number any more' });
      else if (await isNext(walk, state, row)) {
        judgeRow(walk, state, row);
        for (const checkpoint of await seals.take(row.number)) judgeSeal(walk, state, checkpoint);
      }
    }
    isMore = rows.length === PAGE;
    after = rows.reduce((most, { number }) => (number > most ? number : most), after);
    await setImmediate(); // others want their turn
  }
  const { rows, next, removed, sealed } = state;
  return { rows, last: next - 1, removed, sealed, beyond: await seals.rest() };
}

function stateAfter({ chain }: Walk, cut: ChainCut | undefined): State {
  const removed = cut?.count ?? 0;
  const previous = [cut === undefined ? firstHash(chain) : cut.hash];
  return { rows: 0, next: removed + 1, previous, removed, sealed: removed, isRewritten: false };
}

function believedCut({ chain, trusts, findings }: Walk, cut: ChainCut | undefined): ChainCut | undefined {
  if (cut === undefined || (isSignedCut(cut) && trusts(cut.key))) return cut;
  const message = `That ${rowsFrom(1, cut.count)} of chain ${chain.chain} were removed because they were old is not signed by a key that is known here.`;
  findings.add({ kind: 'forged', chain: chain.chain, number: 1, to: cut.count, message });
  return undefined;
}

/** False for a row that old rows are being removed with. Rows that are missing before it are reported. */
async function isNext(walk: Walk, state: State, row: StoredAuditRow): Promise<boolean> {
  if (row.number > state.next) await explainGap(walk, state, row);
  return row.number >= state.next;
}

async function explainGap(walk: Walk, state: State, row: StoredAuditRow): Promise<void> {
  const { chain } = walk.chain;
  const now = (await walk.audit.chains()).find((candidate) => candidate.chain === chain);
  // Somebody may be removing old rows just now.
  if (now?.cut !== undefined && now.cut.count >= state.next && now.cut.count !== walk.chain.cut?.count) {
    const cut = believedCut(walk, now.cut);
    if (cut !== undefined) Object.assign(state, { ...stateAfter(walk, cut), rows: state.rows });
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
    report(walk, 'row_moved', { row, says: `stands in the place of row ${row.number}`, entry });
  else if (!follows) report(walk, 'row_changed', { row, says: 'was changed, or what stands before it', entry });
  else if (entry === undefined || !isIndexed(row, entry))
    report(walk, 'row_changed', { row, says: 'was changed in the columns it is found by', entry });
  if (entry !== undefined) walk.intents.see(walk.chain.chain, entry);
  if (entry?.kind === 'gap') noteGap(walk, entry);
  // One of the two was changed, and the next row shows which.
  state.previous = follows ? [row.hash] : [row.hash, ...(possible ?? [])];
  state.next = row.number + 1;
  state.rows++;
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
  if (state.previous === undefined) return; // what is missing was reported
  const isSame = state.previous.includes(checkpoint.hash);
  if (!isSame && !state.isRewritten) {
    const from = Math.min(state.sealed + 1, count);
    const message = `${sentence(rowsFrom(from, count))} of chain ${chain.chain} lead elsewhere than to the checkpoint of ${timeText(at)}: some were changed, and their hashes rewritten.`;
    findings.add({ kind: 'row_changed', chain: chain.chain, number: from, to: count, message });
  }
  state.isRewritten ||= !isSame;
  if (isSame) state.sealed = Math.max(state.sealed, count);
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
