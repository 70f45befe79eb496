import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { startProcess } from './start-process.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The script that opens a store: URL or nothing, folder of the configuration, home. */
export const OPEN_AND_WRITE = new URL('./processes/open-and-write.ts', import.meta.url);
export const IS_ROOT = process.getuid?.() === 0;
/** Permissions do not hold root back, so that stores are opened by another user. */
export const USER = IS_ROOT ? 65_534 : undefined;

/** Where a configuration and its user are. */
export interface Setting {
  /** The folder of the configuration. */
  readonly project: string;
  readonly home: string;
}

/** What a process says about the store that it opened, or why it could not. */
export interface Opened {
  readonly location?: string;
  readonly warnings?: readonly string[];
  readonly code?: string;
  readonly message?: string;
}

/** A setting in which any user may write. */
export function setting(): Setting {
  const folder = temporaryFolder();
  const [project, home] = [join(folder, 'project'), join(folder, 'home')];
  for (const one of [project, home]) mkdirSync(one);
  for (const one of [folder, project, home]) chmodSync(one, 0o777);
  onTestFinished(() => void execFileSync('chmod', ['-R', 'u+rwX', folder]));
  return { project, home };
}

/** The state folder beside the configuration. */
export const beside = ({ project }: Setting): string => join(project, '.toolcrib');
/** The state directory of the user. */
export const states = ({ home }: Setting): string => join(home, '.local/state/toolcrib');

/** The databases in the state directory of the user, without those that are reached by a link. */
export function elsewhere(at: Setting): readonly string[] {
  if (!existsSync(states(at))) return [];
  const folders = readdirSync(states(at), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => join(states(at), name, 'crib.db')).filter((file) => existsSync(file));
}

/** Opens the store in a process of its own and writes to it. */
export async function open({ project, home }: Setting, user = USER, url = ''): Promise<Opened> {
  const { lines, ended } = startProcess(OPEN_AND_WRITE, [url, project, home], user);
  expect(await ended).toBe(0);
  return JSON.parse(lines[0] ?? '{}');
}

/** A setting whose store lies beside the configuration. */
export async function begunBeside(): Promise<Setting> {
  const at = setting();
  expect(await open(at)).toMatchObject({ location: join(beside(at), 'crib.db'), warnings: [] });
  return at;
}

/** A setting whose store was begun in the state directory, since the configuration could not be written. */
export async function begunElsewhere(): Promise<Setting> {
  const at = setting();
  chmodSync(at.project, 0o555);
  const { location, warnings } = await open(at);
  expect(elsewhere(at)).toEqual([location]);
  expect(warnings).toEqual([expect.stringContaining(`${beside(at)} is not writable, so state is kept in`)]);
  return at;
}

/** Puts a link where something was; returns how to undo that. */
export function replaceByLink(path: string, target: string): () => void {
  renameSync(path, `${path}.away`);
  symlinkSync(target, path);
  return () => {
    unlinkSync(path);
    renameSync(`${path}.away`, path);
  };
}
