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
import { createTurns, readPortions, SIGNATURES_PER_TURN } from './event-loop-turns.ts';
import { aboutEntry, type Findings, rowsFrom, sentence, timeText } from './findings.ts';
import { firstHash, isSignedCheckpoint, isSignedCut, nextHash, readEntry } from './proof.ts';
import type { OpenIntents } from './verify-audit.ts';

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
  /** Checkpoints inside the database of rows that are not there; read while they are looked at. */
  readonly beyond: AsyncIterable<Checkpoint>;
}

/** Where a walk stands. */
interface State {
  rows: number;
  /** The number that the next row should have. */
  next: number;
  /** What the hash of the next row may follow from, at most `MAX_PREVIOUS`; unknown after rows that are missing. */
  previous: readonly string[] | undefined;
  /** The chain as it was after the portion of this row was read; undefined until a gap in the portion asks for it. */
  fresh: StoredChain | undefined;
  removed: number;
  sealed: number;
  isRewritten: boolean;
}

/** Each wrong row adds a hash that the next one may follow from. All of them would make the walk quadratic. */
const MAX_PREVIOUS = 8;

/** Looks at every row once, a portion at a time, and says what does not fit. */
export async function walkChain(walk: Walk): Promise<Walked> {
  const { audit, outside } = walk;
  const { chain } = walk.chain;
  const state = stateAfter(walk, believedCut(walk, walk.chain.cut));
  const seals = createSealCursor(audit, chain, { after: state.removed - 1, outside });
  for (const checkpoint of await seals.take(state.removed)) judgeSeal(walk, state, checkpoint);
  for await (const portion of readPortions(audit, chain, state.next - 1)) {
    state.fresh = undefined;
    for (const row of portion) {
      if (!Number.isSafeInteger(row.number)) {
        report(walk, 'row_changed', { row, says: 'has no number any more' });
        continue;
      }
      if (row.number > state.next) await explainGap(walk, state, row);
      if (row.number < state.next) continue; // old rows are being removed, and this one with them
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
  const message = `That ${rowsFrom(1, cut.count)} of chain ${chain.chain} were removed because they were old is not signed by a key that is known here.`;
  findings.add({ kind: 'forged', chain: chain.chain, number: 1, to: cut.count, message });
  return undefined;
}

/** Reports rows that are missing before this one. */
async function explainGap(walk: Walk, state: State, row: StoredAuditRow): Promise<void> {
  const { chain } = walk.chain;
  state.fresh ??= (await walk.audit.chains()).find((candidate) => candidate.chain === chain) ?? walk.chain;
  const now = state.fresh;
  // Somebody may be removing old rows just now.
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
    report(walk, 'row_moved', { row, says: `stands in the place of row ${row.number}`, entry });
  else if (!follows) report(walk, 'row_changed', { row, says: 'was changed, or what stands before it', entry });
  else if (entry === undefined || !isIndexed(row, entry))
    report(walk, 'row_changed', { row, says: 'was changed in the columns it is found by', entry });
  if (entry !== undefined) walk.intents.see(walk.chain.chain, entry);
  if (entry?.kind === 'gap') noteGap(walk, entry);
  // One of the two was changed, and the next row shows which.
  state.previous = follows ? [row.hash] : fewOf([row.hash, ...(possible ?? [])]);
  state.next = row.number + 1;
  state.rows++;
}

/** The newest, and the one that follows from the last row that was right: it is right again after any number of changed hashes. */
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

/** The checkpoints of one chain, in order, a page at a time. The event loop turns after a few of them: each is a signature to check. */
interface SealCursor {
  /** False where `take` of this row would find nothing. */
  has(count: number): boolean;
  /** Those of row `count`, once all before were taken. */
  take(count: number): Promise<readonly Checkpoint[]>;
  /** All that are left. */
  rest(): AsyncIterable<Checkpoint>;
}

const PAGE = 1000;

/** Those inside the database from the one after row `after`, and those outside. */
function createSealCursor(
  audit: StoredAudit,
  chain: string,
  { after, outside }: { readonly after: number; readonly outside: readonly Checkpoint[] },
): SealCursor {
  let page: readonly Checkpoint[] = [];
  let next = 0;
  let from = after;
  let isLast = false;
  const turn = createTurns(SIGNATURES_PER_TURN);
  const current = async (): Promise<Checkpoint | undefined> => {
    if (next >= page.length && !isLast) {
      page = await audit.checkpoints(chain, from, PAGE);
      next = 0;
      isLast = page.length < PAGE;
      from = page.at(-1)?.count ?? from;
    }
    return page[next];
  };
  const pass = async (): Promise<void> => {
    next++;
    await turn();
  };
  return {
    has(count) {
      const first = page[next];
      const isAfter = first === undefined ? isLast : first.count > count;
      return !isAfter || outside.some((checkpoint) => checkpoint.count === count);
    },
    async take(count) {
      const taken = outside.filter((checkpoint) => checkpoint.count === count);
      for (let checkpoint = await current(); checkpoint !== undefined; checkpoint = await current()) {
        if (!(checkpoint.count <= count)) break;
        if (checkpoint.count === count) taken.push(checkpoint);
        await pass();
      }
      return taken;
    },
    async *rest() {
      for (let checkpoint = await current(); checkpoint !== undefined; checkpoint = await current()) {
        yield checkpoint;
        await pass();
      }
    },
  };
}
