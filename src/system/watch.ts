import { existsSync, type FSWatcher, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, messageOf } from '../core/tool-error.ts';

/** Watches a changing set of folders, without their subfolders. Does not keep the process alive. */
export interface FolderWatch {
  /** Starts watching a folder. Call it before reading the folder, so that no change is missed. */
  listen(folder: string): void;
  /** Stops watching all other folders. */
  keepOnly(folders: ReadonlySet<string>): void;
  close(): void;
}

export interface FolderWatchOptions {
  /** Called when something changed in one of the folders; changes close together are reported once. */
  onChange(): void;
  warn(message: string): void;
}

/** Editors write a file in several steps: a change is reported after `QUIET_MS` without another, or after `LONGEST_MS`. */
const QUIET_MS = 15;
const LONGEST_MS = 60;

/** Poll interval for folders that cannot be watched. */
const POLL_MS = 2000;

interface Listening {
  readonly watcher: FSWatcher;
  readonly identity: string;
}

/** Creates a watch without folders; add them with `listen`. */
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
    warn(`${folder} cannot be watched (${messageOf(cause)}); it is polled every ${POLL_MS} ms instead.`);
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

/** Identifies a folder, to notice when it is replaced, which its watcher does not report. Inode numbers alone are reused. */
function identityOf(folder: string): string {
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}:${stats.birthtimeMs}`;
}

function isGone(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(String(codeOf(cause)));
}

/** Scans a path and watches exactly the folders that the scan reports. If the scan fails, watches the nearest folder, to notice when the path appears. */
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

/** A fingerprint that changes when the file is edited or replaced. */
export function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs].join();
  } catch (cause) {
    return messageOf(cause);
  }
}
