import { basename, dirname, join } from 'node:path';
import type { AuditReport, ChainReport } from '../core/ports/audit-report.ts';
import type { Store } from '../core/ports/store.ts';
import type { AuditEntry, StoredAudit, StoredChain } from '../core/ports/stored-audit.ts';
import { auditFolder, originOf } from './chain-origin.ts';
import { type CheckpointFile, listCheckpointFiles } from './checkpoint-files.ts';
import { createTurns, ROWS_PER_TURN } from './event-loop-turns.ts';
import {
  aboutEntry,
  createFindings,
  type Findings,
  type JudgedFile,
  type JudgedFiles,
  judgeEnd,
  judgeFiles,
  newestOf,
  readAuditFolder,
} from './findings.ts';
import { isSignedHeader, isSignedKept } from './proof.ts';
import { type AuditKeySettings, judgeKey, type KnownKeys, listKeys, readKnownKeys } from './signing-keys.ts';
import { reportUnread, walkChain } from './walk-chain.ts';

/** Options for verifying the audit log. */
export interface VerifyOptions {
  readonly store: Store;
  /** The folder for keys and checkpoints; undefined if no folder is writable. */
  privateFolder(): string | undefined;
  /** Private folders of earlier ids of the configuration, with the file that contained the id. */
  formerFolders?(): readonly { readonly path: string; readonly idFile: string }[];
  readonly keySettings: AuditKeySettings;
  /** The public key of this process if its key cannot be stored. */
  readonly passingKey?: string | undefined;
}

interface Verification {
  readonly audit: StoredAudit;
  readonly store: { readonly location: string; readonly id: string; readonly isMemory: boolean };
  /** The folder of checkpoints; absent if there is none. */
  readonly folder: string | undefined;
  readonly keys: KnownKeys;
  readonly files: JudgedFiles;
  readonly findings: Findings;
  readonly intents: OpenIntents;
}

/** `own`: its checkpoint must be here. `known`: its checkpoint is on another machine whose key is trusted. */
type Role = 'own' | 'known' | 'unknown';

/** Checks all rows of all chains: changed, removed, moved, cut off, replaced by an older copy, forged, left open. */
export async function verifyAudit(options: VerifyOptions): Promise<AuditReport> {
  const { audit } = options.store;
  const { engine, location } = await options.store.status();
  const store = { location, id: await audit.storeId(), isMemory: engine === 'memory' };
  const privateFolder = store.isMemory ? undefined : options.privateFolder();
  const folder = privateFolder === undefined ? undefined : auditFolder(privateFolder);
  // Chains first: the checkpoint of a chain exists before its first row. Rows last: the rows of a checkpoint were written before it.
  const stored = await audit.chains();
  const found = await readAuditFolder(folder);
  const keys = await readKnownKeys(folder, options.keySettings, options.passingKey);
  const findings = createFindings();
  const files = await judgeFiles(found, keys, { stored, findings });
  const verification = { audit, store, folder, keys, files, findings, intents: createOpenIntents() };
  const chains: ChainReport[] = [];
  for (const chain of stored) chains.push(await verifyChain(verification, chain));
  const begunMeanwhile = await audit.chains();
  reportAbsent(verification, new Set([...stored, ...begunMeanwhile].map(({ chain }) => chain)));
  await reportHeadless(verification);
  await reportUnread(verification, chains);
  if (!store.isMemory) await reportFormer(verification, options.formerFolders?.() ?? []);
  await reportIntents(verification, chains);
  noteElsewhere(findings, chains);
  return {
    ok: findings.list().length === 0,
    rows: chains.reduce((sum, { rows }) => sum + rows, 0),
    chains,
    findings: findings.list(),
    moreFindings: findings.more(),
    notes: findings.notes(),
  };
}

async function verifyChain(verification: Verification, chain: StoredChain): Promise<ChainReport> {
  const { audit, keys, findings, intents, folder } = verification;
  const files = verification.files.list.filter((file) => file.chain === chain.chain);
  const newest = newestOf(files);
  const role = roleOf(verification, chain);
  const isOurs = isSignedHeader(chain) && (newest === undefined || newest.key === chain.key);
  if (!isOurs) {
    const message = `The header of chain ${chain.chain} was changed or forged: it is not signed by the key of this audit log.`;
    findings.add({ kind: 'forged', chain: chain.chain, message });
  }
  const kept = newest?.key === chain.key ? newest.kept : undefined;
  const known = listKeys(keys);
  const trusts = (key: string) => known.includes(key);
  const outside = kept === undefined ? [] : [kept];
  const walked = await walkChain({ audit, chain, outside, trusts, findings, intents });
  const { rows, removed, sealed } = walked;
  if (isOurs && role === 'unknown') reportUnknown(findings, chain, rows);
  if (role === 'own') reportMisplaced(verification, chain, files);
  const state = role === 'own' ? stateOf(files, chain.key === keys.passing) : 'elsewhere';
  await judgeEnd({ audit, chain, walked, kept, state, folder, findings });
  return { chain: chain.chain, rows, removed, sealed, state };
}

/** The role of a chain. Other replicas may share the configured key; then the chain name tells where the chain was begun. */
function roleOf({ keys, files }: Verification, { chain, key }: StoredChain): Role {
  const whose = judgeKey(keys, key);
  if (whose !== 'own') return whose === 'trusted' ? 'known' : 'unknown';
  const isShared = key === keys.named && key !== keys.local && !files.list.some((file) => file.chain === chain);
  return isShared && !files.origins.has(originOf(chain) ?? '') ? 'known' : 'own';
}

function stateOf(files: readonly JudgedFile[], isOfThisProcess: boolean): ChainReport['state'] {
  if (isOfThisProcess || files.some(({ state }) => state === 'held')) return 'open';
  return files.some(({ state }) => state === 'idle') ? 'closed' : 'ended';
}

function reportUnknown(findings: Findings, { chain, key }: StoredChain, rows: number): void {
  const message = `Chain ${chain} with its ${rows} rows is signed by a key that is neither of this machine nor trusted: ${key}. If it belongs to a machine of yours, list it in extensions.audit.trustedKeys; otherwise the rows were added by a person or program with access to the database.`;
  findings.add({ kind: 'unknown_key', chain, message });
}

/** Reports a missing checkpoint of an own chain, or one of another store. */
function reportMisplaced(
  { store, folder, findings }: Verification,
  { chain }: StoredChain,
  files: readonly JudgedFile[],
): void {
  if (store.isMemory) return;
  if (files.length === 0) {
    const where =
      folder === undefined ? 'no folder for checkpoints is writable' : `its checkpoint is missing in ${folder}`;
    const message = `The end of chain ${chain} cannot be verified: ${where}. A checkpoint is always written before the first row, so it was removed, or the folder was replaced.`;
    findings.add({ kind: 'no_checkpoint', chain, message });
  }
  const other = files.find(({ genuine }) => genuine !== undefined && !['', store.id].includes(genuine.kept.storeId));
  if (other?.genuine === undefined) return;
  const message = `Chain ${chain} was recorded in another store, ${other.genuine.kept.store}, and does not belong to this one.`;
  findings.add({ kind: 'other_store', chain, message });
}

/** Reports chains that have a checkpoint outside the database but are missing in it. */
function reportAbsent({ files, folder = '', store, findings }: Verification, stored: ReadonlySet<string>): void {
  for (const { name, chain, genuine } of files.list) {
    if (genuine === undefined || stored.has(chain) || genuine.kept.count === 0) continue; // already reported, or begun without rows
    const { kept } = genuine;
    if (kept.storeId !== store.id && kept.store !== store.location) {
      const message = `Chain ${chain} with its ${kept.count} rows is kept in another store, ${kept.store}. Verify it there. If you no longer use that store, remove ${join(folder, name)}.`;
      findings.add({ kind: 'other_store', chain, number: 1, to: kept.count, at: kept.at, message });
    } else {
      const message = `Chain ${chain} with its ${kept.count} rows is missing: it was removed, or the database was replaced by an older copy.`;
      findings.add({ kind: 'chain_removed', chain, number: 1, to: kept.count, at: kept.at, message });
    }
  }
}

/** Reports audit logs under earlier ids, unless this store has every row that was sealed there by a known key. */
async function reportFormer(
  { audit, keys, findings }: Verification,
  folders: readonly { readonly path: string; readonly idFile: string }[],
): Promise<void> {
  const chains = new Map((await audit.chains()).map((chain) => [chain.chain, chain]));
  for (const { path, idFile } of folders) {
    const files = await listCheckpointFiles(auditFolder(path)).catch(() => undefined);
    const lost: CheckpointFile[] = [];
    for (const file of files ?? []) if (!(await isRecorded(file))) lost.push(file);
    if (files !== undefined && lost.length === 0) continue;
    const rows = lost.reduce((sum, { kept }) => sum + (kept?.count ?? 0), 0);
    const message = `This configuration had an audit log under another id, and ${rows} sealed rows of it cannot be verified: ${idFile} was removed or changed, and the checkpoints are in ${path}. If this was not intended, write ${basename(path)} into ${idFile} and run audit verify again. If you created the configuration again, move ${path} out of ${dirname(path)}. If you moved the older configuration, open it once at its new location.`;
    findings.add({ kind: 'other_id', chain: '', message });
  }

  async function isRecorded({ chain, kept }: CheckpointFile): Promise<boolean> {
    if (kept?.count === 0) return true; // begun, without rows
    if (kept === undefined || !listKeys(keys).some((key) => isSignedKept(kept, key))) return false;
    if ((chains.get(chain)?.cut?.count ?? 0) >= kept.count) return true; // removed because of their age
    const [row] = await audit.rows(chain, kept.count - 1, 1);
    return row?.number === kept.count && row.hash === kept.hash;
  }
}

async function reportHeadless({ audit, findings }: Verification): Promise<void> {
  for (const { chain, rows } of await audit.headless()) {
    const message = `${rows} rows of chain ${JSON.stringify(chain)} have no key: the header of the chain is missing.`;
    findings.add({ kind: 'rows_without_key', chain, message });
  }
}

/** Reports announced calls without an end. While a process writes to the chain, the call may still be running. */
async function reportIntents({ intents, findings }: Verification, chains: readonly ChainReport[]): Promise<void> {
  const turn = createTurns(ROWS_PER_TURN);
  const open = new Set(chains.filter(({ state }) => state === 'open').map(({ chain }) => chain));
  for (const { chain, entry } of intents.list()) {
    const { number, at, tool, callId } = entry;
    const call = `The call ${JSON.stringify(callId)}, announced by row ${number} of chain ${chain}${aboutEntry(entry)},`;
    if (open.has(chain)) findings.note(`${call} is running.`);
    else {
      const message = `${call} has no outcome: its process ended during the call. Check whether the call took effect.`;
      findings.add({ kind: 'intent_open', chain, number, at, tool, message });
    }
    await turn();
  }
}

function noteElsewhere(findings: Findings, chains: readonly ChainReport[]): void {
  const names = chains.filter(({ state }) => state === 'elsewhere').map(({ chain }) => chain);
  if (names.length === 0) return;
  const listed = names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
  findings.note(
    `The checkpoints of these chains are kept by other machines: ${listed}. Rows cut off or added at their end can only be detected there.`,
  );
}

/** A call that was announced. */
interface OpenIntent {
  readonly chain: string;
  readonly entry: AuditEntry;
}

/** Calls that were announced, without a row for their end. */
export interface OpenIntents {
  see(chain: string, entry: AuditEntry): void;
  list(): readonly OpenIntent[];
}

/** Keeps only open calls in memory. */
function createOpenIntents(): OpenIntents {
  const open = new Map<string, { count: number; readonly first: OpenIntent }>();
  const count = (chain: string, entry: AuditEntry, change: number): void => {
    const known = open.get(entry.callId) ?? { count: 0, first: { chain, entry } };
    known.count += change;
    if (known.count === 0) open.delete(entry.callId);
    else open.set(entry.callId, known);
  };
  return {
    see(chain, entry) {
      if (entry.kind === 'intent') count(chain, entry, 1);
      else if (typeof entry.intents === 'number' && entry.intents > 0) count(chain, entry, -entry.intents);
    },
    // Below zero: the announcement was removed with old rows.
    list: () => [...open.values()].filter((intent) => intent.count > 0).map(({ first }) => first),
  };
}
