import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../core/tool-error.ts';
import { isAlive } from '../system/processes/process-tree.ts';
import type { KeptCheckpoint } from './proof.ts';

/** A file with the newest checkpoint of one chain. */
export interface CheckpointFile {
  readonly name: string;
  readonly chain: string;
  /** `idle`: anybody may go on with the chain; `ended`: its process is gone without a word; `left`: nobody goes on with it. */
  readonly state: 'idle' | 'held' | 'ended' | 'left';
  /** Absent if the file cannot be read. */
  readonly kept?: KeptCheckpoint;
}

const IDLE = 'idle';
const LEFT = 'left';
const FILE = /^([0-9a-f]{24}|[0-9a-f]{16})\.([0-9a-z-]+)\.json$/; // the shorter names are those of earlier versions

const MAX_LISTINGS = 5;

/** All of them, by name. */
export async function listCheckpointFiles(folder: string): Promise<readonly CheckpointFile[]> {
  for (let listing = 1; ; listing++) {
    const names = await readdir(folder).catch((cause) => {
      if (codeOf(cause) === 'ENOENT') return [];
      throw cause;
    });
    const found = await Promise.all(names.toSorted().map((name) => readNamed(folder, name)));
    const isWhole = !found.includes('gone'); // one that was taken or let go meanwhile has another name by now
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

/** Takes a chain that nobody holds. False if somebody else was faster: of several that rename a file only one finds it. */
export async function claimFile(folder: string, { name, chain }: CheckpointFile): Promise<boolean> {
  try {
    await rename(join(folder, name), join(folder, ownName(chain)));
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return false;
    throw cause;
  }
}

/** The checkpoint of a chain that is held. */
export async function readHeld(folder: string, chain: string): Promise<KeptCheckpoint | undefined> {
  const kept = await readKept(join(folder, ownName(chain)));
  return kept === 'gone' ? undefined : kept;
}

/** Replaces the checkpoint of a chain that is held. */
export async function keepCheckpoint(folder: string, kept: KeptCheckpoint): Promise<void> {
  await replaceCheckpoint(folder, ownName(kept.chain), kept);
}

/** Replaces a file; readers see the old checkpoint or the new one, whole. */
export async function replaceCheckpoint(folder: string, name: string, kept: KeptCheckpoint): Promise<void> {
  const path = join(folder, name);
  // The first one says that there is a chain: it must be there after a power failure, too.
  const options = { mode: 0o600, flush: kept.count === 0 };
  const write = () => writeFile(`${path}.tmp`, `${JSON.stringify(kept)}\n`, options);
  await write().catch(async (cause) => {
    if (codeOf(cause) !== 'ENOENT') throw cause;
    await mkdir(folder, { recursive: true, mode: 0o700 }); // only the first time, and if somebody removed it
    await write();
  });
  await rename(`${path}.tmp`, path);
}

/** Lets others go on with a chain that is held, or says that nobody should. */
export async function releaseFile(folder: string, chain: string, state: 'idle' | 'left'): Promise<void> {
  await rename(join(folder, ownName(chain)), join(folder, `${chain}.${state}.json`));
}

/** With the host, because process numbers mean nothing elsewhere, and with the start, because they come again. */
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
  if (host !== hostMark()) return 'held'; // unsure means held
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
