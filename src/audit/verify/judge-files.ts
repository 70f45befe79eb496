import type { StoredChain } from '../../core/ports/stored-audit.ts';
import { type KnownKeys, listKeys } from '../audit-keys.ts';
import { originOf, readOrigin } from '../chain-origin.ts';
import { type CheckpointFile, listCheckpointFiles } from '../checkpoint-files.ts';
import { createTurns, SIGNATURES_PER_TURN } from '../event-loop-turns.ts';
import { isSignedCheckpoint, isSignedKept, isSignedOrigin, type KeptCheckpoint } from '../proof.ts';
import type { Findings } from './findings.ts';

/** What lies in the audit folder, as far as it is genuine. */
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

/** The files of an audit folder that is not judged yet. */
export interface FoundFiles {
  readonly files: readonly CheckpointFile[];
  readonly origin: Awaited<ReturnType<typeof readOrigin>>;
}

/** Reads what lies in the audit folder. */
export async function readAuditFolder(folder: string | undefined): Promise<FoundFiles> {
  if (folder === undefined) return { files: [], origin: undefined };
  return { files: await listCheckpointFiles(folder), origin: await readOrigin(folder) };
}

/** Judges the files of an audit folder by the keys that are known, and reports what none of them signed. */
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
    const message = 'The file origin.json of the audit folder was changed: no key of this audit has signed it.';
    findings.add({ kind: 'forged', chain: newer ?? '', message });
  } else if (origin === undefined && newer !== undefined) {
    const message = 'The file origin.json of the audit folder was removed. It tells which chains were begun there.';
    findings.add({ kind: 'forged', chain: newer, message });
  }
  // Once there is an origin, all checkpoints were signed anew: the earlier form could be made of checkpoints in the database.
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
    findings.note(`${name} was kept by an earlier version; the next process that records a call signs it anew.`);
    return { ...file, genuine: { kept, key: earlier } };
  }
  const message = `The checkpoint file ${name} was changed or damaged: it is not what a key of this audit signed.`;
  findings.add({ kind: 'forged', chain, message });
  return file;
}

/** The newest checkpoint of several files of one chain. */
export function newestOf(files: readonly JudgedFile[]): JudgedFile['genuine'] {
  return files.flatMap(({ genuine }) => genuine ?? []).toSorted((a, b) => b.kept.count - a.kept.count)[0];
}
