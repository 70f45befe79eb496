import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { REMOTE } from '../../core/tool-spec.ts';
import { listOf } from '../../core/visible-text.ts';
import type { Root } from './allowed-folders.ts';
import type { ShellSettings } from './shell-kind.ts';
import type { SandboxMode, ShellLimits, ShellRun } from './shell-run.ts';

/**
 * The sandbox mode of a command. `required` always wins. A local spec decides for itself. A spec that declares a
 * sandbox, and every spec of a remote list, runs without one only if the operator configured `preferred`.
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

/** The cure that works on every machine. */
export const REPAIR = 'install or repair bubblewrap';

/** The cure for a command that requires a sandbox on a machine without one. */
export function cureOf(run: ShellRun, settings: ShellSettings): string {
  const isForOwner =
    settings.sandbox !== 'required' && modeOf(run, { ...settings, sandbox: 'preferred' }) === 'preferred';
  return isForOwner ? `${REPAIR}, or set executors.shell.sandbox: preferred to run it without one` : REPAIR;
}

/** The folders of a command: those of its sandbox, or the configured roots, or the configuration folder, read-only. */
export function rootsOf({ sandbox = {} }: ShellRun, settings: ShellSettings, folder: string): readonly Root[] {
  const toRoots = (paths: string | readonly string[] | undefined, isWritable: boolean): readonly Root[] =>
    listOf(paths).map((path) => ({ path: resolve(folder, path), isWritable }));
  const own = [...toRoots(sandbox.write, true), ...toRoots(sandbox.read, false)];
  if (namesFolders(sandbox)) return own;
  const configured = toRoots(settings.roots, true);
  return configured.length > 0 ? configured : toRoots(folder, false);
}

/** The setting that names the folders of a command. */
export function rootsKeyOf({ sandbox = {} }: ShellRun): string {
  return namesFolders(sandbox) ? 'sandbox.read or sandbox.write of the tool' : 'executors.shell.roots';
}

function namesFolders({ read, write }: NonNullable<ShellRun['sandbox']>): boolean {
  return read !== undefined || write !== undefined;
}

/** Default process limit of a sandbox. */
const MAX_PROCESSES = 1024;

/** The limits of a command. The process limit applies only in a sandbox: outside, it would count all processes of the user. */
export function limitsOf({ sandbox }: ShellRun, isSandboxed: boolean): ShellLimits {
  return { ...(isSandboxed && { processes: MAX_PROCESSES }), ...sandbox?.limits };
}

const OPTIONS: Readonly<Record<keyof ShellLimits, string>> = {
  cpuSeconds: '--cpu',
  memoryBytes: '--as',
  processes: '--nproc',
  fileBytes: '--fsize',
};

/** The limiter command in front of a program; undefined if limits cannot be set. */
export function limiterOf(limits: ShellLimits, path: string | undefined): readonly string[] | undefined {
  const options = Object.entries(limits).map(
    ([name, value]) => `${OPTIONS[name as keyof ShellLimits]}=${value}`, // keys checked by the schema
  );
  if (options.length === 0) return [];
  const prlimit = process.platform === 'linux' ? findProgram('prlimit', { path, cwd: '/' }) : undefined;
  return prlimit === undefined ? undefined : [prlimit, ...options];
}

/** Search path and working folder for finding a program. */
export interface ProgramPlace {
  /** The PATH to search. */
  readonly path: string | undefined;
  readonly cwd: string;
}

/** The file that the system would run under this name; undefined if not found. */
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
    // Most candidates do not exist; this check does not throw for them.
    if (!(statSync(file, { throwIfNoEntry: false })?.isFile() ?? false)) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // not accessible
  }
}
