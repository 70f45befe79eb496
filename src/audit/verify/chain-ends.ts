import type { ChainReport } from '../../core/ports/audit-report.ts';
import type { Checkpoint, StoredAudit, StoredChain } from '../../core/ports/stored-audit.ts';
import { listCheckpointFiles } from '../checkpoint-files.ts';
import { isSignedCheckpoint, type KeptCheckpoint } from '../proof.ts';
import { type Findings, rowsFrom, sentence, timeText } from './findings.ts';
import type { Walked } from './walk-chain.ts';

/** A chain that was walked, and what is known of its end. */
export interface ChainEnd {
  readonly audit: StoredAudit;
  readonly chain: StoredChain;
  readonly walked: Walked;
  readonly kept: KeptCheckpoint | undefined;
  readonly state: ChainReport['state'];
  readonly folder: string | undefined;
  readonly findings: Findings;
}

/** Compares where a chain ends with where it was when it was sealed. */
export async function judgeEnd(end: ChainEnd): Promise<void> {
  const { walked, kept, state } = end;
  const inside = await newestBeyond(end);
  const sealedTo = Math.max(kept?.count ?? 0, inside ?? 0);
  if (sealedTo > walked.last) await reportMissing(end, sealedTo, inside !== undefined);
  else if (state === 'closed' && kept !== undefined && walked.last > kept.count) await reportAdded(end, kept);
  else if (state === 'ended') noteUnsealed(end);
}

/** The row of the newest genuine checkpoint inside the database that lies after the last row. */
async function newestBeyond(end: ChainEnd): Promise<number | undefined> {
  let newest: number | undefined;
  for await (const checkpoint of end.walked.beyond)
    if (isGenuine(end, checkpoint)) newest = Math.max(newest ?? 0, checkpoint.count);
  return newest;
}

function isGenuine({ chain, findings }: ChainEnd, checkpoint: Checkpoint): boolean {
  if (isSignedCheckpoint(checkpoint, chain.key)) return true;
  const message = `A checkpoint after the end of chain ${chain.chain} was changed or forged: its signature is wrong.`;
  findings.add({ kind: 'forged', chain: chain.chain, message });
  return false;
}

async function reportMissing(end: ChainEnd, to: number, isKnownInside: boolean): Promise<void> {
  const { audit, walked, kept, findings } = end;
  const { chain } = end.chain;
  const number = walked.last + 1;
  const at = kept?.at;
  const when = at === undefined ? '' : ` on ${timeText(at)}`;
  const rows = `${rowsFrom(number, to)} of chain ${chain}`;
  // An older copy has none of what came later, not even the checkpoint that was written with it.
  const isOlder =
    kept !== undefined && !isKnownInside && kept.stored > 0 && !(await hasCheckpoint(audit, chain, kept.stored));
  if (isOlder) {
    const message = `The database ends before ${rows}, written${when}: an older copy of it was put in its place, or its end was cut off together with its checkpoints.`;
    findings.add({ kind: 'older_copy', chain, number, to, ...(at !== undefined && { at }), message });
    return;
  }
  const other = isKnownInside ? '' : ', or an older copy of the database was put in its place';
  const message = `${sentence(rows)} are missing at its end, though they were there${when}: they were cut off${other}.`;
  findings.add({ kind: 'tail_cut', chain, number, to, ...(at !== undefined && { at }), message });
}

async function hasCheckpoint(audit: StoredAudit, chain: string, count: number): Promise<boolean> {
  const [found] = await audit.checkpoints(chain, count - 1, 1);
  return found !== undefined;
}

/** No process may write to a chain that no process holds. */
async function reportAdded(
  { chain: { chain }, walked, folder, findings }: ChainEnd,
  kept: KeptCheckpoint,
): Promise<void> {
  const files = folder === undefined ? [] : await listCheckpointFiles(folder);
  const isStillIdle = files.some(
    (file) => file.chain === chain && file.state === 'idle' && file.kept?.count === kept.count,
  );
  if (!isStillIdle) return; // another process went on with it meanwhile
  const message = `${sentence(rowsFrom(kept.count + 1, walked.last))} of chain ${chain} were added after it was closed on ${timeText(kept.at)}.`;
  findings.add({ kind: 'row_added', chain, number: kept.count + 1, to: walked.last, message });
}

function noteUnsealed({ chain: { chain }, walked, findings }: ChainEnd): void {
  if (walked.last <= walked.sealed) return;
  findings.note(
    `${sentence(rowsFrom(walked.sealed + 1, walked.last))} of chain ${chain} are not sealed: the process ended without closing.`,
  );
}
