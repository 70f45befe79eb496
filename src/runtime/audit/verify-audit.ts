import type { AuditReport, ChainReport } from '../../core/audit-report.ts';
import type { Store } from '../../core/store.ts';
import type { StoredAudit, StoredChain } from '../../core/stored-audit.ts';
import { auditFolder } from './audit-place.ts';
import { judgeEnd } from './chain-ends.ts';
import { type CheckpointFile, listCheckpointFiles, newestOf } from './checkpoint-files.ts';
import { aboutEntry, createFindings, type Findings } from './findings.ts';
import { createOpenIntents, type OpenIntents } from './open-intents.ts';
import { isSignedCheckpoint, isSignedHeader } from './proof.ts';
import { readSigningKey } from './signing-key.ts';
import { walkChain } from './walk-chain.ts';

/** What the audit is verified with. */
export interface VerifyOptions {
  readonly store: Store;
  privateFolder(): string | undefined;
}

interface Verification {
  readonly audit: StoredAudit;
  /** What the place of the rows is called. */
  readonly location: string;
  /** Where key and checkpoints lie; absent if there is no such place. */
  readonly folder: string | undefined;
  readonly ownKey: string | undefined;
  readonly files: readonly CheckpointFile[];
  readonly findings: Findings;
  readonly intents: OpenIntents;
}

/** Looks at all rows of all chains: changed, removed, moved, cut off, put back, forged, left open. */
export async function verifyAudit({ store, privateFolder }: VerifyOptions): Promise<AuditReport> {
  const { audit } = store;
  const { engine, location } = await store.status();
  const state = engine === 'memory' ? undefined : privateFolder();
  const folder = state === undefined ? undefined : auditFolder(state);
  // Before the rows: what a checkpoint vouches for was written before it.
  const files = folder === undefined ? [] : await listCheckpointFiles(folder);
  const ownKey = folder === undefined ? undefined : (await readSigningKey(folder))?.publicKey;
  const findings = createFindings();
  const verification = { audit, location, folder, ownKey, files, findings, intents: createOpenIntents() };
  const stored = await audit.chains();
  const chains: ChainReport[] = [];
  for (const chain of stored) chains.push(await verifyChain(verification, chain));
  reportAbsent(verification, new Set(stored.map(({ chain }) => chain)));
  reportIntents(verification, chains);
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
  const { audit, ownKey, findings, intents, folder } = verification;
  const files = verification.files.filter((file) => file.chain === chain.chain);
  const kept = newestOf(files);
  const isOwn = chain.key === ownKey;
  if (!isSignedHeader(chain) || (kept !== undefined && ownKey !== undefined && !isOwn)) {
    const message = `The head of chain ${chain.chain} was changed or forged: the key of this place did not sign it.`;
    findings.add({ kind: 'forged', chain: chain.chain, message });
  }
  const trusts = (key: string) => !isOwn || key === ownKey;
  const outside = kept === undefined ? [] : [kept];
  const walked = await walkChain({ audit, chain, outside, trusts, findings, intents });
  const state = isOwn ? stateOf(files) : 'elsewhere';
  await judgeEnd({ audit, chain, walked, kept, state, folder, findings });
  const { rows, removed, sealed } = walked;
  return { chain: chain.chain, rows, removed, sealed, state };
}

function stateOf(files: readonly CheckpointFile[]): ChainReport['state'] {
  if (files.some(({ state }) => state === 'held')) return 'open';
  return files.some(({ state }) => state === 'idle') ? 'closed' : 'ended';
}

/** Chains that are known outside the database. */
function reportAbsent({ files, ownKey, location, findings }: Verification, stored: ReadonlySet<string>): void {
  for (const { name, chain, kept } of files) {
    if (kept === undefined || (ownKey !== undefined && !isSignedCheckpoint(kept, ownKey))) {
      const message = `The checkpoint file ${name} was changed or damaged: it is not what the key beside it signed.`;
      findings.add({ kind: 'forged', chain, message });
    } else if (stored.has(chain) || kept.count === 0)
      continue; // one that was begun has no rows yet
    else if (kept.store !== location) findings.note(`Chain ${chain} is kept in another store, ${kept.store}.`);
    else {
      const message = `Chain ${chain} with its ${kept.count} rows is missing: it was removed, or an older copy of the database was put in its place.`;
      findings.add({ kind: 'chain_removed', chain, number: 1, to: kept.count, at: kept.at, message });
    }
  }
}

/** A call that was about to run may still be running as long as somebody writes to its chain. */
function reportIntents({ intents, findings }: Verification, chains: readonly ChainReport[]): void {
  const open = new Set(chains.filter(({ state }) => state === 'open').map(({ chain }) => chain));
  for (const { chain, entry } of intents.list()) {
    const { number, at, tool, callId } = entry;
    const call = `The call ${JSON.stringify(callId)}, announced by row ${number} of chain ${chain}${aboutEntry(entry)},`;
    if (open.has(chain)) findings.note(`${call} is running.`);
    else {
      const message = `${call} has no outcome: its process ended while it ran, so look whether it was done.`;
      findings.add({ kind: 'intent_open', chain, number, at, tool, message });
    }
  }
}

function noteElsewhere(findings: Findings, chains: readonly ChainReport[]): void {
  const names = chains.filter(({ state }) => state === 'elsewhere').map(({ chain }) => chain);
  if (names.length === 0) return;
  const listed = names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
  findings.note(
    `Signed by a key that is not here: ${listed}. Whether their end was cut off, or all of them rewritten, can only be seen where that key lies.`,
  );
}
