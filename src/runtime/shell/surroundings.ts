import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { listOf } from '../../core/bundle.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { type AllowedFolders, isInside, type Root } from './allowed-folders.ts';
import { findProgram } from './find-program.ts';
import type { Mask } from './sandbox-arguments.ts';
import type { ShellSettings } from './shell-ports.ts';
import type { SandboxMode, ShellLimits, ShellRun } from './shell-run.ts';

/** Whether a command runs in a sandbox: whoever says that it must is right; else the tool speaks before the configuration. */
export function modeOf({ sandbox }: ShellRun, settings: ShellSettings): SandboxMode {
  const said = [sandbox?.mode, settings.sandbox];
  return said.includes('required') ? 'required' : (said.find((mode) => mode !== undefined) ?? 'preferred');
}

/** The folders of a command: what its sandbox names, else those of the configuration, else where that lies. */
export function rootsOf({ sandbox = {} }: ShellRun, settings: ShellSettings, folder: string): readonly Root[] {
  const toRoots = (paths: string | readonly string[] | undefined, isWritable: boolean): readonly Root[] =>
    listOf(paths).map((path) => ({ path: resolve(folder, path), isWritable }));
  const own = [...toRoots(sandbox.write, true), ...toRoots(sandbox.read, false)];
  if (sandbox.read !== undefined || sandbox.write !== undefined) return own;
  const configured = toRoots(settings.roots, true);
  return configured.length > 0 ? configured : toRoots(folder, true);
}

/**
 * What must be covered. What is not there yet is made where a command could make it: whoever makes it first would
 * otherwise say what keys there are, and only what is there can be covered while others fill it.
 */
export function findMasks({ roots, hidden }: AllowedFolders): readonly Mask[] {
  const isWritable = (path: string) => roots.some((root) => root.isWritable && isInside(path, root.path));
  for (const path of hidden.folders.filter(isWritable)) make(() => mkdirSync(path, PRIVATE_FOLDER));
  for (const path of hidden.files.filter(isWritable)) {
    make(() => mkdirSync(dirname(path), PRIVATE_FOLDER));
    make(() => closeSync(openSync(path, 'wx', 0o600)));
  }
  const masks = [
    ...hidden.readOnly.map((path) => ({ path, kind: 'readOnly' }) as const),
    ...hidden.folders.map((path) => ({ path, kind: 'folder' }) as const), // what is hidden stays so
    ...hidden.files.map((path) => ({ path, kind: 'file' }) as const),
  ];
  return masks.filter(({ path }) => existsSync(path));
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
