import { stat } from 'node:fs/promises';
import { isRecord } from '../../../core/json.ts';

/** How files and folders were, by path: enough to notice that one is another by now. */
export type PathStates = Readonly<Record<string, string>>;

/** How these are now; what is not there is the empty text. */
export async function statesOf(paths: Iterable<string>): Promise<PathStates> {
  const states = [...new Set(paths)].map(async (path) => [path, await stateOf(path)] as const);
  return Object.fromEntries(await Promise.all(states));
}

/** True if these paths, and all others that were known, are as they were. */
export async function areUnchanged(before: PathStates, paths: readonly string[]): Promise<boolean> {
  if (paths.some((path) => before[path] === undefined)) return false;
  const now = await statesOf(Object.keys(before));
  return Object.entries(before).every(([path, state]) => now[path] === state);
}

/** States that were kept; undefined for anything else. */
export function readStates(value: unknown): PathStates | undefined {
  if (!isRecord(value) || !Object.values(value).every((state) => typeof state === 'string')) return undefined;
  return value as PathStates; // seen to be one
}

async function stateOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (found === undefined) return '';
  return found.isDirectory() ? String(found.mtimeNs) : `${found.mtimeNs}:${found.size}`;
}
