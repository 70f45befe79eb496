import { existsSync, type FSWatcher, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, messageOf } from '../core/tool-error.ts';

/** Listens to a changing set of folders, each without those below it. Keeps no process alive. */
export interface FolderWatch {
  /** Listens to a folder from now on. Say it before reading the folder, so that nothing falls in between. */
  listen(folder: string): void;
  /** Stops listening to all others. */
  keepOnly(folders: ReadonlySet<string>): void;
  close(): void;
}

export interface FolderWatchOptions {
  /** Something changed in one of the folders; changes that come together are told once. */
  onChange(): void;
  warn(message: string): void;
}

/** Editors write a file in several steps: a change is told when nothing more has come for `QUIET_MS`, or after `LONGEST_MS`. */
const QUIET_MS = 15;
const LONGEST_MS = 60;

/** How often to look where the system cannot tell. */
const POLL_MS = 2000;

interface Listening {
  readonly watcher: FSWatcher;
  readonly identity: string;
}

/** Starts listening to nothing; which folders, `listen` says. */
export function createFolderWatch({ onChange, warn }: FolderWatchOptions): FolderWatch {
  const listening = new Map<string, Listening>();
  const polled = new Set<string>();
  const burst = createBurst(onChange);
  let poll: NodeJS.Timeout | undefined;
  let isClosed = false;

  const stop = (folder: string): void => {
    listening.get(folder)?.watcher.close();
    listening.delete(folder);
  };
  const start = (folder: string): void => {
    const watcher = watch(folder, { persistent: false }, burst.add);
    watcher.on('error', () => {
      stop(folder);
      burst.add();
    });
    listening.set(folder, { watcher, identity: identityOf(folder) });
    polled.delete(folder);
  };
  const pollInstead = (folder: string, cause: unknown): void => {
    if (polled.has(folder)) return;
    polled.add(folder);
    warn(`${folder} cannot be watched, so it is looked at every ${POLL_MS} ms: ${messageOf(cause)}.`);
    poll ??= setInterval(() => polled.size > 0 && onChange(), POLL_MS).unref();
  };

  return {
    listen(folder) {
      try {
        if (isClosed || listening.get(folder)?.identity === identityOf(folder)) return;
        stop(folder);
        start(folder);
      } catch (cause) {
        if (!isGone(cause)) pollInstead(folder, cause);
      }
    },
    keepOnly(folders) {
      for (const folder of [...listening.keys()]) if (!folders.has(folder)) stop(folder);
      for (const folder of polled) if (!folders.has(folder)) polled.delete(folder);
    },
    close() {
      isClosed = true;
      burst.stop();
      clearInterval(poll);
      for (const folder of [...listening.keys()]) stop(folder);
    },
  };
}

function createBurst(onEnd: () => void): { add(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let begin = 0;
  const end = () => {
    timer = undefined;
    onEnd();
  };
  return {
    add() {
      const now = performance.now();
      if (timer === undefined) begin = now;
      clearTimeout(timer);
      timer = setTimeout(end, Math.max(0, Math.min(QUIET_MS, begin + LONGEST_MS - now))).unref();
    },
    stop: () => clearTimeout(timer),
  };
}

/** Tells a folder from another one that took its place, to which its watcher is deaf; the number alone is given again soon. */
function identityOf(folder: string): string {
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.birthtimeMs}`;
}

function isGone(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(String(codeOf(cause)));
}

/** Scans a place and listens to the folders that the scan names, and to no others; where there is nothing, to the nearest folder, to see it come. */
export async function scanAndListen<Found>(
  path: string,
  watching: FolderWatch | undefined,
  scan: (onFolder: (folder: string) => void) => Promise<Found>,
): Promise<Found> {
  const folders = new Set<string>();
  const onFolder = (folder: string): void => {
    folders.add(folder);
    watching?.listen(folder);
  };
  try {
    return await scan(onFolder);
  } catch (cause) {
    onFolder(nearestFolder(path));
    throw cause;
  } finally {
    watching?.keepOnly(folders);
  }
}

function nearestFolder(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) || parent === path ? parent : nearestFolder(parent);
}

/** Another text after an edit of the file, or after another file took its place. */
export function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs].join();
  } catch (cause) {
    return messageOf(cause);
  }
}
