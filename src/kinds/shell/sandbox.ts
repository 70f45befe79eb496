import { execFile } from 'node:child_process';
import { existsSync, readlinkSync, statSync } from 'node:fs';
import { sandboxArguments } from './sandbox-arguments.ts';
import { findProgram } from './surroundings.ts';

/** What can hold a program in. */
export interface Sandbox {
  /** The file of bubblewrap. */
  readonly bubblewrap: string;
  /** The folders of the system that are there. */
  readonly system: readonly string[];
  /** Whether what is kept in memory can be bounded; older ones cannot. */
  readonly hasSizes: boolean;
}

/** A sandbox, or why there is none, and whether there may be one in a moment. */
export type FoundSandbox =
  | { readonly ok: true; readonly sandbox: Sandbox }
  | { readonly ok: false; readonly reason: string; readonly mayPass: boolean };

/** What every program may read: programs, libraries and their settings. */
const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix/store',
  '/gnu/store',
];
/** Where names of hosts are looked up on systems that keep that in memory. */
const NAMES_OF_HOSTS = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager'];

const PROBE_MS = 10_000;

/** Looks for bubblewrap on a PATH and tries it: one that cannot make a sandbox here, or only claims to, is none. */
export async function findSandbox(path: string | undefined): Promise<FoundSandbox> {
  if (process.platform !== 'linux') return none('bubblewrap runs on Linux only');
  const bubblewrap = findProgram('bwrap', { path, cwd: '/' });
  if (bubblewrap === undefined) return none('bubblewrap (bwrap) is not installed');
  const program = findProgram('readlink', { path: `${path}:/usr/bin:/bin`, cwd: '/' });
  if (program === undefined) return none('there is no program "readlink" to try bubblewrap with');
  const system = [...SYSTEM, ...NAMES_OF_HOSTS].filter((folder) => existsSync(folder));
  let reason = '';
  for (const hasSizes of [true, false]) {
    const sandbox = { bubblewrap, system, hasSizes };
    const inside = { roots: [], masks: [], extra: [program], network: false, cwd: '/' };
    const problem = await tryOut(bubblewrap, [...sandboxArguments(sandbox, inside), program, MOUNTS]);
    if (problem === undefined) return { ok: true, sandbox };
    reason = problem;
  }
  return none(`bubblewrap cannot make a sandbox here: ${reason}`, BUSY.test(reason));
}

/** Another text in every namespace of mounts: what says the same inside as outside holds nothing in. */
const MOUNTS = '/proc/self/ns/mnt';

/** Another text once a PATH leads to another bubblewrap, or to none. */
export function bubblewrapMark(path: string | undefined): string {
  const file = findProgram('bwrap', { path, cwd: '/' });
  const status = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return [path, file, status?.dev, status?.ino, status?.size, status?.mtimeMs, status?.ctimeMs].join('\n');
}

const DOES_NOT_END = 'it does not end';
/** What is said where the machine has no room just now. */
const BUSY = new RegExp(
  `${DOES_NOT_END}|EAGAIN|EMFILE|ENFILE|ENOMEM|Resource temporarily unavailable|Cannot allocate memory|Too many open files`,
);

function none(reason: string, mayPass = false): FoundSandbox {
  return { ok: false, reason, mayPass };
}

/** What it says against it, if it fails. */
function tryOut(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((settle) => {
    execFile(program, args, { timeout: PROBE_MS, killSignal: 'SIGKILL', env: {} }, (error, stdout, stderr) => {
      if (error === null) return settle(isElsewhere(stdout.trim()) ? undefined : 'what it starts is not in a sandbox');
      const [said = ''] = stderr.trim().split('\n');
      settle(said.slice(0, 300) || (error.killed === true ? DOES_NOT_END : `it ended with ${String(error.code)}`));
    });
  });
}

function isElsewhere(mounts: string): boolean {
  return /^mnt:\[\d+\]$/.test(mounts) && mounts !== readlinkSync(MOUNTS);
}
