import { hash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
export function noteServer(context: NoteContext, place: Place): () => void {
  const note: Note = { pid: process.pid, url: toUrl(place) };
  return writeNote(context, nameOf, JSON.stringify(note));
}

/** Writes a note that this process runs background calls, and returns a function that removes it. */
export function noteTaskRunner(context: NoteContext): () => void {
  return writeNote(context, (configuration) => `${runnersOf(configuration)}${process.pid}.json`, '{}');
}

type NoteContext = Pick<CribContext, 'configuration' | 'stateFolder'>;

function writeNote(context: NoteContext, toName: (configuration: string) => string, text: string): () => void {
  const { configuration } = context;
  const folder = configuration === undefined ? undefined : context.stateFolder();
  if (configuration === undefined || folder === undefined) return () => {};
  const file = join(folder, toName(configuration));
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    return () => {};
  }
  return () => {
    try {
      if (readFileSync(file, 'utf8') === text) rmSync(file); // otherwise another process has replaced the note
    } catch {
      // The note is gone already.
    }
  };
}

/** The URL of a running server with the same configuration; undefined if there is none. */
export async function findServer(configuration: string): Promise<string | undefined> {
  for (const folder of foldersOf(configuration)) {
    const note = await readNote(join(folder, nameOf(configuration)));
    if (note !== undefined && isAlive(note.pid) && (await isAnswering(note.url))) return note.url;
  }
  return undefined;
}

/** True if a process on this machine runs the background calls of this configuration. Removes notes of processes that are gone. */
export function hasTaskRunner(configuration: string): boolean {
  const begin = runnersOf(configuration);
  const notes = foldersOf(configuration).flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.startsWith(begin))
      .map((name) => ({ file: join(folder, name), pid: Number.parseInt(name.slice(begin.length), 10) })),
  );
  for (const { file, pid } of notes) {
    if (isAlive(pid)) return true;
    rmSync(file, { force: true });
  }
  return false;
}

function foldersOf(configuration: string): readonly string[] {
  const path = resolve(configuration);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const { beside, users } = stateFolders(isFolder ? path : dirname(path), process.env);
  return [beside, users];
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it does not exist
  }
}

function nameOf(configuration: string): string {
  return `server-${hashOf(configuration)}.json`;
}

function runnersOf(configuration: string): string {
  return `tasks-${hashOf(configuration)}-`;
}

function hashOf(configuration: string): string {
  return hash('sha256', realpathOf(resolve(configuration))).slice(0, 16);
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
