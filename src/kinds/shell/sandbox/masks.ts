import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { ToolcribError } from '../../../core/tool-error.ts';
import { holdPlace, isThere } from '../../../system/placeholders.ts';
import { type AllowedFolders, isInWritableRoot } from './allowed-folders.ts';
import type { Mask } from './sandbox-arguments.ts';
import { foldersAbove } from './trace-path.ts';

/** What is covered while a program runs. */
export interface Cover {
  readonly masks: readonly Mask[];
  /** Removes what was made only to be covered. */
  release(): void;
}

/** What must be covered. What is not there yet is made where a command could make it: only what is there can be covered. */
export function findCover(found: AllowedFolders, system: readonly string[]): Cover {
  const folders = withSystem(found, system);
  requireFixedLinks(folders);
  const { hidden } = folders;
  const isWritable = (path: string) => isInWritableRoot(path, folders);
  // Whoever makes these first would otherwise say what keys there are.
  for (const path of hidden.folders.filter(isWritable)) make(() => mkdirSync(path, PRIVATE_FOLDER));
  for (const path of hidden.files.filter(isWritable)) {
    make(() => mkdirSync(dirname(path), PRIVATE_FOLDER));
    make(() => closeSync(openSync(path, 'wx', 0o600)));
  }
  const fixed = hidden.readOnly.filter(isWritable);
  const held = holdMissing(fixed);
  const masks = [
    ...fixed.map((path) => ({ path, kind: 'readOnly' }) as const),
    ...held.paths.map((path) => ({ path, kind: 'folder' }) as const),
    ...hidden.folders.map((path) => ({ path, kind: 'folder' }) as const), // what is hidden stays so
    ...hidden.files.map((path) => ({ path, kind: 'file' }) as const),
  ];
  return { masks: masks.filter(({ path }) => existsSync(path)), release: held.release };
}

/** The folders of the system are read-only inside of a wider root; a root inside of them, or one of them, is what it says. */
export function withSystem(folders: AllowedFolders, system: readonly string[]): AllowedFolders {
  const fixed = system.map((path) => ({ path, isWritable: false }));
  return { ...folders, roots: [...fixed, ...folders.roots].toSorted((a, b) => a.path.length - b.path.length) };
}

/** A link cannot be covered: what may write its folder may put another one in its place. */
function requireFixedLinks(folders: AllowedFolders): void {
  const [loose] = looseLinks(folders);
  if (loose === undefined) return;
  throw new ToolcribError(
    'loose_link',
    `it may write the folder of ${loose}, a link by which the crib finds its files`,
  );
}

/** The links by which the crib finds its files, as far as a command could replace them. */
export function looseLinks(folders: AllowedFolders): readonly string[] {
  return folders.links.filter((link) => isInWritableRoot(link, folders) && !folders.fixed.covers(dirname(link)));
}

/** Keeps the names of what is not there yet: of several folders that are missing, the outermost. */
function holdMissing(paths: readonly string[]): { readonly paths: readonly string[]; release(): void } {
  const places = new Set(paths.filter((path) => isMissing(path)).map(firstMissing));
  const held = [...places].flatMap((path) => {
    const letGo = holdPlace(path);
    return letGo === undefined ? [] : [{ path, letGo }];
  });
  return {
    paths: held.map(({ path }) => path),
    release() {
      for (const { letGo } of held) letGo();
    },
  };
}

function firstMissing(path: string): string {
  return foldersAbove(path).findLast(isMissing) ?? path;
}

function isMissing(path: string): boolean {
  return !isThere(path);
}

const PRIVATE_FOLDER = { recursive: true, mode: 0o700 } as const;

/** What we may not make, a command that runs as we do may not either. */
function make(create: () => void): void {
  try {
    create();
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException; // of the file system
    if (['EEXIST', 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(code)) return;
    throw new ToolcribError('no_sandbox', 'what must be hidden from it cannot be hidden', { cause });
  }
}
