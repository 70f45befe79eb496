import type { AuditFinding, ChainReport } from '../core/ports/audit-report.ts';
import type { AuditEntry, Checkpoint, StoredAudit, StoredChain } from '../core/ports/stored-audit.ts';
import { originOf, readOrigin } from './chain-origin.ts';
import { type CheckpointFile, listCheckpointFiles } from './checkpoint-files.ts';
import { createTurns, SIGNATURES_PER_TURN } from './event-loop-turns.ts';
import { isSignedCheckpoint, isSignedKept, isSignedOrigin, type KeptCheckpoint } from './proof.ts';
import { type KnownKeys, listKeys } from './signing-keys.ts';
import type { Walked } from './walk-chain.ts';

/** The findings of a verification. */
export interface Findings {
  add(finding: AuditFinding): void;
  note(sentence: string): void;
  list(): readonly AuditFinding[];
  more(): number;
  notes(): readonly string[];
}

/** Limit of listed findings: a replaced table would have as many findings as rows. */
const MAX_LISTED = 1000;

export function createFindings(): Findings {
  const listed: AuditFinding[] = [];
  const notes = new Set<string>();
  let more = 0;
  return {
    add(finding) {
      if (listed.length < MAX_LISTED) listed.push(finding);
      else more++;
    },
    note: (sentence) => void (notes.size < MAX_LISTED && notes.add(sentence)),
    list: () => listed,
    more: () => more,
    notes: () => [...notes],
  };
}

/** `row 3`, or `rows 3 to 5`. */
export function rowsFrom(number: number, to = number): string {
  return to > number ? `rows ${number} to ${to}` : `row ${number}`;
}

/** `, of 2026-01-31T12:00:00.000Z about "add"`, if the row can be read. */
export function aboutEntry(entry: AuditEntry | undefined): string {
  if (entry === undefined) return '';
  const tool = entry.tool === '' ? '' : ` about ${JSON.stringify(entry.tool)}`;
  return `, of ${timeText(entry.at)}${tool}`;
}

/** Formats a time; also for an invalid one. */
export function timeText(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString();
}

/** Capitalizes the first letter. */
export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** A verified chain and the evidence about its end. */
export interface ChainEnd {
  readonly audit: StoredAudit;
  readonly chain: StoredChain;
  readonly walked: Walked;
  readonly kept: KeptCheckpoint | undefined;
  readonly state: ChainReport['state'];
  readonly folder: string | undefined;
  readonly findings: Findings;
}

/** Compares the end of a chain with its checkpoints. */
export async function judgeEnd(end: ChainEnd): Promise<void> {
  const { walked, kept, state } = end;
  const inside = await newestBeyond(end);
  const sealedTo = Math.max(kept?.count ?? 0, inside ?? 0);
  if (sealedTo > walked.last) await reportMissing(end, sealedTo, inside !== undefined);
  else if (state === 'closed' && kept !== undefined && walked.last > kept.count) await reportAdded(end, kept);
  else if (state === 'ended') noteUnsealed(end);
}

/** The row number of the newest genuine checkpoint in the database after the last row. */
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
  // An older copy lacks everything later, including the checkpoint that was written with it.
  const isOlder =
    kept !== undefined && !isKnownInside && kept.stored > 0 && !(await hasCheckpoint(audit, chain, kept.stored));
  if (isOlder) {
    const message = `The database ends before ${rows}, written${when}: it was replaced by an older copy, or its end was cut off together with its checkpoints.`;
    findings.add({ kind: 'older_copy', chain, number, to, ...(at !== undefined && { at }), message });
    return;
  }
  const other = isKnownInside ? '' : ', or the database was replaced by an older copy';
  const message = `${sentence(rows)} are missing at its end, but existed${when}: they were cut off${other}.`;
  findings.add({ kind: 'tail_cut', chain, number, to, ...(at !== undefined && { at }), message });
}

async function hasCheckpoint(audit: StoredAudit, chain: string, count: number): Promise<boolean> {
  const [found] = await audit.checkpoints(chain, count - 1, 1);
  return found !== undefined;
}

/** Rows must not be added to a chain that no process holds. */
async function reportAdded(
  { chain: { chain }, walked, folder, findings }: ChainEnd,
  kept: KeptCheckpoint,
): Promise<void> {
  const files = folder === undefined ? [] : await listCheckpointFiles(folder);
  const isStillIdle = files.some(
    (file) => file.chain === chain && file.state === 'idle' && file.kept?.count === kept.count,
  );
  if (!isStillIdle) return; // another process continued the chain meanwhile
  const message = `${sentence(rowsFrom(kept.count + 1, walked.last))} of chain ${chain} were added after it was closed on ${timeText(kept.at)}.`;
  findings.add({ kind: 'row_added', chain, number: kept.count + 1, to: walked.last, message });
}

function noteUnsealed({ chain: { chain }, walked, findings }: ChainEnd): void {
  if (walked.last <= walked.sealed) return;
  findings.note(
    `${sentence(rowsFrom(walked.sealed + 1, walked.last))} of chain ${chain} are not sealed: the process ended without closing the chain.`,
  );
}

/** The genuine content of the audit folder. */
export interface JudgedFiles {
  readonly list: readonly JudgedFile[];
  /** The origins of the chains that were begun here. */
  readonly origins: ReadonlySet<string>;
}

/** A checkpoint file. */
export interface JudgedFile extends Omit<CheckpointFile, 'kept'> {
  /** The checkpoint and the key that signed it; absent if no known key did. */
  readonly genuine?: { readonly kept: KeptCheckpoint; readonly key: string };
}

/** The content of an audit folder before it is checked. */
export interface FoundFiles {
  readonly files: readonly CheckpointFile[];
  readonly origin: Awaited<ReturnType<typeof readOrigin>>;
}

/** Reads the audit folder. */
export async function readAuditFolder(folder: string | undefined): Promise<FoundFiles> {
  if (folder === undefined) return { files: [], origin: undefined };
  return { files: await listCheckpointFiles(folder), origin: await readOrigin(folder) };
}

/** Checks the files of an audit folder against the known keys and reports files that none of them signed. */
export async function judgeFiles(
  { files, origin }: FoundFiles,
  keys: KnownKeys,
  { stored, findings }: { readonly stored: readonly StoredChain[]; readonly findings: Findings },
): Promise<JudgedFiles> {
  const known = listKeys(keys);
  const isSigned = typeof origin === 'object' && known.some((key) => isSignedOrigin(origin, key));
  const begun = [...files, ...stored.filter(({ key }) => key === keys.local)].map(({ chain }) => chain);
  const newer = begun.find((chain) => originOf(chain) !== undefined);
  if (origin !== undefined && !isSigned) {
    const message =
      'The file origin.json of the audit folder was changed: it is not signed by a key of this audit log.';
    findings.add({ kind: 'forged', chain: newer ?? '', message });
  } else if (origin === undefined && newer !== undefined) {
    const message = 'The file origin.json of the audit folder was removed. Restore it from a backup.';
    findings.add({ kind: 'forged', chain: newer, message });
  }
  // With an origin, all checkpoints have the new form. The old form could be forged from checkpoints in the database.
  const isEarlier = origin === undefined && newer === undefined;
  const turn = createTurns(SIGNATURES_PER_TURN);
  const list: JudgedFile[] = [];
  for (const file of files) {
    list.push(judgeFile(file, known, { isEarlier, findings }));
    await turn();
  }
  return {
    list,
    origins: new Set([...(isSigned ? [origin.origin] : []), ...files.flatMap(({ chain }) => originOf(chain) ?? [])]),
  };
}

function judgeFile(
  { kept, ...file }: CheckpointFile,
  known: readonly string[],
  { isEarlier, findings }: { readonly isEarlier: boolean; readonly findings: Findings },
): JudgedFile {
  const { name, chain } = file;
  const key = kept === undefined ? undefined : known.find((one) => isSignedKept(kept, one));
  if (kept !== undefined && key !== undefined && kept.chain === chain) return { ...file, genuine: { kept, key } };
  const earlier = kept === undefined || !isEarlier ? undefined : known.find((one) => isSignedCheckpoint(kept, one));
  if (kept !== undefined && earlier !== undefined && kept.chain === chain) {
    findings.note(`${name} is from an earlier version. The next process that records a call signs it again.`);
    return { ...file, genuine: { kept, key: earlier } };
  }
  const message = `The checkpoint file ${name} was changed or damaged: it is not signed by a key of this audit log.`;
  findings.add({ kind: 'forged', chain, message });
  return file;
}

/** The newest checkpoint among the files of one chain. */
export function newestOf(files: readonly JudgedFile[]): JudgedFile['genuine'] {
  return files.flatMap(({ genuine }) => genuine ?? []).toSorted((a, b) => b.kept.count - a.kept.count)[0];
}
