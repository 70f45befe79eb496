import { sep } from 'node:path';
import type { FolderWatch } from '../system/watch.ts';
import { readSpecFile, type SpecFile, type SpecFileOptions } from './spec-file.ts';
import { scanSpecFiles, type Unreadable } from './spec-files.ts';
import { describeProblems } from './spec-list.ts';

/** The spec files under some paths, in their order, and what could not be looked into. */
export interface SpecFolders {
  readonly files: ReadonlyMap<string, SpecFile>;
  readonly unreadable: readonly Unreadable[];
}

export interface SpecFoldersOptions extends SpecFileOptions {
  readonly roots: readonly string[];
  readonly watch: FolderWatch;
}

/** Reads what changed under the roots since `before`. What cannot be looked into any more is as it was. */
export async function readSpecFolders(before: SpecFolders, options: SpecFoldersOptions): Promise<SpecFolders> {
  const { roots, watch } = options;
  const folders = new Set<string>();
  const listen = (folder: string) => {
    folders.add(folder);
    watch.listen(folder);
  };
  const scans = await Promise.all(roots.map((root) => scanSpecFiles(root, listen)));
  watch.keepOnly(folders);
  const unreadable = scans.flatMap((scan) => scan.unreadable);
  const files = new Map<string, SpecFile>();
  for (const found of scans.flatMap((scan) => scan.files))
    files.set(found.path, await readSpecFile(found, before.files.get(found.path), options));
  for (const [path, file] of before.files) if (!files.has(path) && isHidden(path, unreadable)) files.set(path, file);
  return { files, unreadable };
}

function isHidden(path: string, unreadable: readonly Unreadable[]): boolean {
  return unreadable.some((place) => path === place.path || path.startsWith(`${place.path}${sep}`));
}

/** What there is to say about spec files, by how bad it is. */
export interface FolderTroubles {
  /** Nothing of it could be read. */
  readonly failures: readonly string[];
  /** Entries that could not be read. */
  readonly leftOut: readonly string[];
  /** Files that lie among spec files and are something else. */
  readonly passedOver: readonly string[];
}

/** What is wrong now. A file that `roots` name is meant to hold specs; others may be something else. */
export function troublesOf({ files, unreadable }: SpecFolders, roots: readonly string[]): FolderTroubles {
  const failures = unreadable.map(({ path, reason }) => `${path}: ${reason}.`);
  const passedOver: string[] = [];
  for (const [path, { failure, foreign }] of files) {
    if (failure === undefined) continue;
    if (foreign === true && !roots.includes(path)) passedOver.push(failure);
    else failures.push(failure);
  }
  return { failures, passedOver, leftOut: [...files.values()].flatMap((file) => describeProblems(file.problems)) };
}
