import { hash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { CribContext } from '../core/ports/crib-context.ts';
import { realpathOf, stateFolders } from '../store/state-folder.ts';
import { isAlive } from '../system/processes/process-tree.ts';

/** Where a server listens. */
interface Place {
  readonly address: string;
  readonly port: number;
}

interface Note {
  readonly pid: number;
  readonly url: string;
}

/** How long a server that is there may take to say so. */
const ANSWER_WITHIN_MS = 2000;

/** Leaves a note for others who come with the same configuration; returns how to take it away. One that cannot be written is not missed. */
export function noteServer(context: Pick<CribContext, 'configuration' | 'stateFolder'>, place: Place): () => void {
  const { configuration } = context;
  const folder = configuration === undefined ? undefined : context.stateFolder();
  if (configuration === undefined || folder === undefined) return () => {};
  const file = join(folder, nameOf(configuration));
  const note: Note = { pid: process.pid, url: toUrl(place) };
  const text = JSON.stringify(note);
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    return () => {};
  }
  return () => {
    try {
      if (readFileSync(file, 'utf8') === text) rmSync(file); // else it is the note of somebody else by now
    } catch {
      // It is gone, and nobody misses it.
    }
  };
}

/** The address of a server with the same configuration that is there and answers; undefined if there is none. */
export async function findServer(configuration: string): Promise<string | undefined> {
  const path = resolve(configuration);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const { beside, users } = stateFolders(isFolder ? path : dirname(path), process.env);
  for (const folder of [beside, users]) {
    const note = await readNote(join(folder, nameOf(path)));
    if (note !== undefined && isAlive(note.pid) && (await isAnswering(note.url))) return note.url;
  }
  return undefined;
}

function nameOf(configuration: string): string {
  return `server-${hash('sha256', realpathOf(configuration)).slice(0, 16)}.json`;
}

async function readNote(file: string): Promise<Note | undefined> {
  try {
    const note: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isNote(note) ? note : undefined;
  } catch {
    return undefined; // none, or not whole
  }
}

function isNote(note: unknown): note is Note {
  if (typeof note !== 'object' || note === null || !('pid' in note) || !('url' in note)) return false;
  return Number.isSafeInteger(note.pid) && typeof note.url === 'string' && /^http:\/\/[\w.:[\]-]+:\d+$/.test(note.url);
}

async function isAnswering(url: string): Promise<boolean> {
  const asked = fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  return asked.then(
    (response) => response.ok,
    () => false,
  );
}

/** An address that stands for every interface cannot be called. */
function toUrl({ address, port }: Place): string {
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
