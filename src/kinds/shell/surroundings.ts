import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { REMOTE } from '../../core/tool-spec.ts';
import { listOf } from '../../core/visible-text.ts';
import type { Root } from './allowed-folders.ts';
import type { ShellSettings } from './shell-kind.ts';
import type { SandboxMode, ShellLimits, ShellRun } from './shell-run.ts';

/**
 * Whether a command runs in a sandbox. Whoever says that it must is right. A local spec speaks for itself. A spec that
 * declares a sandbox, and every spec of a remote list, does without one only where the owner wrote `preferred`.
 */
export function modeOf(run: ShellRun, { sandbox, source }: ShellSettings): SandboxMode {
  const own = run.sandbox?.mode;
  const owners = [source, sandbox];
  if (own === 'required' || owners.includes('required')) return 'required';
  const isRemote = run[REMOTE] === true;
  if (own !== undefined && !isRemote) return own;
  if (run.sandbox !== undefined || isRemote) return owners.includes('preferred') ? 'preferred' : 'required';
  return source ?? sandbox ?? 'preferred';
}

/** What helps on every machine. */
export const REPAIR = 'install or repair bubblewrap';

/** What the owner can do where a command must have a sandbox and this machine has none. */
export function cureOf(run: ShellRun, settings: ShellSettings): string {
  const isForOwner =
    settings.sandbox !== 'required' && modeOf(run, { ...settings, sandbox: 'preferred' }) === 'preferred';
  return isForOwner ? `${REPAIR}, or write executors.shell.sandbox: preferred to run it without one` : REPAIR;
}

/** The folders of a command: what its sandbox names, else those of the configuration, else where that lies, to be read only. */
export function rootsOf({ sandbox = {} }: ShellRun, settings: ShellSettings, folder: string): readonly Root[] {
  const toRoots = (paths: string | readonly string[] | undefined, isWritable: boolean): readonly Root[] =>
    listOf(paths).map((path) => ({ path: resolve(folder, path), isWritable }));
  const own = [...toRoots(sandbox.write, true), ...toRoots(sandbox.read, false)];
  if (namesFolders(sandbox)) return own;
  const configured = toRoots(settings.roots, true);
  return configured.length > 0 ? configured : toRoots(folder, false);
}

/** The key that names the folders of a command. */
export function rootsKeyOf({ sandbox = {} }: ShellRun): string {
  return namesFolders(sandbox) ? 'sandbox.read or sandbox.write of the tool' : 'executors.shell.roots';
}

function namesFolders({ read, write }: NonNullable<ShellRun['sandbox']>): boolean {
  return read !== undefined || write !== undefined;
}

/** How many processes a sandbox may hold where nothing is said. */
const MAX_PROCESSES = 1024;

/** The limits of a command. Outside of a sandbox the processes of everybody else would count. */
export function limitsOf({ sandbox }: ShellRun, isSandboxed: boolean): ShellLimits {
  return { ...(isSandboxed && { processes: MAX_PROCESSES }), ...sandbox?.limits };
}

const OPTIONS: Readonly<Record<keyof ShellLimits, string>> = {
  cpuSeconds: '--cpu',
  memoryBytes: '--as',
  processes: '--nproc',
  fileBytes: '--fsize',
};

/** What stands before a program to limit it; undefined where nothing can. */
export function limiterOf(limits: ShellLimits, path: string | undefined): readonly string[] | undefined {
  const options = Object.entries(limits).map(
    ([name, value]) => `${OPTIONS[name as keyof ShellLimits]}=${value}`, // keys of the schema
  );
  if (options.length === 0) return [];
  const prlimit = process.platform === 'linux' ? findProgram('prlimit', { path, cwd: '/' }) : undefined;
  return prlimit === undefined ? undefined : [prlimit, ...options];
}

/** Where a program is looked for. */
export interface ProgramPlace {
  /** The variable PATH of whoever runs it. */
  readonly path: string | undefined;
  readonly cwd: string;
}

/** The file that a system would run under this name; undefined if there is none. */
export function findProgram(name: string, { path = '', cwd }: ProgramPlace): string | undefined {
  if (name.includes('/')) return [resolve(cwd, name)].find(isProgram);
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    // Most names are in one of many folders: asking so throws for none of the others.
    if (!(statSync(file, { throwIfNoEntry: false })?.isFile() ?? false)) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // not for us, or in a folder that is not
  }
}
