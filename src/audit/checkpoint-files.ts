import { hash } from 'node:crypto';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../core/tool-error.ts';
import { createFolder } from '../system/create-folder.ts';
import { isAlive } from '../system/processes/process-tree.ts';
import type { KeptCheckpoint } from './proof.ts';

/** A file with the newest checkpoint of one chain. */
export interface CheckpointFile {
  readonly name: string;
  readonly chain: string;
  /** `idle`: any process may continue the chain. `held`: a process writes to it. `ended`: its process ended without closing it. `left`: no process continues it. */
  readonly state: 'idle' | 'held' | 'ended' | 'left';
  /** Absent if the file cannot be read. */
  readonly kept?: KeptCheckpoint;
}

const IDLE = 'idle';
const LEFT = 'left';
const FILE = /^([0-9a-f]{24}|[0-9a-f]{16})\.([0-9a-z-]+)\.json$/; // shorter names are from earlier versions

const MAX_LISTINGS = 5;

/** All checkpoint files, by name. */
export async function listCheckpointFiles(folder: string): Promise<readonly CheckpointFile[]> {
  for (let listing = 1; ; listing++) {
    const names = await readdir(folder).catch((cause) => {
      if (codeOf(cause) === 'ENOENT') return [];
      throw cause;
    });
    const found = await Promise.all(names.toSorted().map((name) => readNamed(folder, name)));
    const isWhole = !found.includes('gone'); // a file that was claimed or released meanwhile has a new name
    if (isWhole || listing === MAX_LISTINGS) return found.filter((file) => typeof file === 'object');
  }
}

async function readNamed(folder: string, name: string): Promise<CheckpointFile | 'gone' | undefined> {
  const [, chain = '', owner = ''] = FILE.exec(name) ?? [];
  if (chain === '') return undefined;
  const kept = await readKept(join(folder, name));
  if (kept === 'gone') return kept;
  return { name, chain, state: stateOf(owner), ...(kept !== undefined && { kept }) };
}

/** Claims a free chain by renaming its file. False if another process was faster. */
export async function claimFile(folder: string, { name, chain }: CheckpointFile): Promise<boolean> {
  try {
    await rename(join(folder, name), join(folder, ownName(chain)));
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return false;
    throw cause;
  }
}

/** The checkpoint of a held chain. */
export async function readHeld(folder: string, chain: string): Promise<KeptCheckpoint | undefined> {
  const kept = await readKept(join(folder, ownName(chain)));
  return kept === 'gone' ? undefined : kept;
}

/** Replaces the checkpoint of a held chain. */
export async function keepCheckpoint(folder: string, kept: KeptCheckpoint): Promise<void> {
  await replaceCheckpoint(folder, ownName(kept.chain), kept);
}

/** Replaces a file atomically. */
export async function replaceCheckpoint(folder: string, name: string, kept: KeptCheckpoint): Promise<void> {
  const path = join(folder, name);
  // The first checkpoint proves that the chain exists, so it must survive a power failure.
  const options = { mode: 0o600, flush: kept.count === 0 };
  const write = () => writeFile(`${path}.tmp`, `${JSON.stringify(kept)}\n`, options);
  await write().catch(async (cause) => {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    createFolder(folder); // only the first time, or after the folder was removed
    await write();
  });
  await rename(`${path}.tmp`, path);
}

/** Releases a held chain for other processes, or marks it as left. */
export async function releaseFile(folder: string, chain: string, state: 'idle' | 'left'): Promise<void> {
  await rename(join(folder, ownName(chain)), join(folder, `${chain}.${state}.json`));
}

/** Includes the host, because process ids are local, and the start time, because they are reused. */
function ownName(chain: string): string {
  return `${chain}.${hostMark()}-${process.pid}-${startMark()}.json`;
}

function startMark(): string {
  return Math.round(performance.timeOrigin).toString(36);
}

function hostMark(): string {
  return hash('sha256', hostname()).slice(0, 8);
}

function stateOf(owner: string): CheckpointFile['state'] {
  if (owner === IDLE || owner === LEFT) return owner;
  const [host, pid, start] = owner.split('-');
  if (host !== hostMark()) return 'held'; // when in doubt, held
  const isGone = Number(pid) === process.pid ? start !== startMark() : !isAlive(Number(pid));
  return isGone ? 'ended' : 'held';
}

async function readKept(path: string): Promise<KeptCheckpoint | 'gone' | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isKept(value) ? { ...value, storeId: value.storeId ?? '' } : undefined;
  } catch (cause) {
    return codeOf(cause) === 'ENOENT' ? 'gone' : undefined;
  }
}

function isKept(value: unknown): value is Omit<KeptCheckpoint, 'storeId'> & { readonly storeId?: string } {
  if (typeof value !== 'object' || value === null) return false;
  const { chain, count, hash: last, at, signature, store, storeId = '', stored } = value as Record<string, unknown>; // read as unknown
  return (
    [chain, last, signature, store, storeId].every((text) => typeof text === 'string') &&
    [count, at, stored].every((number) => Number.isSafeInteger(number))
  );
}
