import { hash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { CribContext } from '../core/ports/crib-context.ts';
import { realpathOf, stateFolders } from '../store/state-folder.ts';
import { isAlive } from '../system/processes/process-tree.ts';

/** The address of a server. */
interface Place {
  readonly address: string;
  readonly port: number;
}

interface Note {
  readonly pid: number;
  readonly url: string;
}

/** Timeout of the health check of a running server. */
const ANSWER_WITHIN_MS = 2000;

/** Writes a note for other processes with the same configuration, and returns a function that removes it. Write errors are ignored. */
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
      if (readFileSync(file, 'utf8') === text) rmSync(file); // otherwise another server has replaced the note
    } catch {
      // The note is gone already.
    }
  };
}

/** The URL of a running server with the same configuration; undefined if there is none. */
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
    return undefined; // missing or incomplete
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

/** Replaces a wildcard address, which cannot be called, with localhost. */
function toUrl({ address, port }: Place): string {
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}
