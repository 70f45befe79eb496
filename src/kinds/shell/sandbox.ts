import { execFile } from 'node:child_process';
import { existsSync, readlinkSync, statSync } from 'node:fs';
import { sandboxArguments } from './sandbox-arguments.ts';
import { findProgram } from './surroundings.ts';

/** An available sandbox. */
export interface Sandbox {
  /** The path of bubblewrap. */
  readonly bubblewrap: string;
  /** The system folders that exist. */
  readonly system: readonly string[];
  /** True if bubblewrap can limit the size of in-memory files; older versions cannot. */
  readonly hasSizes: boolean;
}

/** A sandbox, or the reason there is none and whether that may be temporary. */
export type FoundSandbox =
  | { readonly ok: true; readonly sandbox: Sandbox }
  | { readonly ok: false; readonly reason: string; readonly mayPass: boolean };

/** Folders that every program may read: programs, libraries and their settings. */
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
/** Folders with the DNS configuration on systems that keep it in memory. */
const NAMES_OF_HOSTS = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager'];

const PROBE_MS = 10_000;

/** Finds bubblewrap on a PATH and probes it: one that cannot create a sandbox, or only pretends to, does not count. */
export async function findSandbox(path: string | undefined): Promise<FoundSandbox> {
  if (process.platform !== 'linux') return none('bubblewrap runs on Linux only');
  const bubblewrap = findProgram('bwrap', { path, cwd: '/' });
  if (bubblewrap === undefined) return none('bubblewrap (bwrap) is not installed');
  const program = findProgram('readlink', { path: `${path}:/usr/bin:/bin`, cwd: '/' });
  if (program === undefined) return none('program "readlink" not found, which is needed to test bubblewrap');
  const system = [...SYSTEM, ...NAMES_OF_HOSTS].filter((folder) => existsSync(folder));
  let reason = '';
  for (const hasSizes of [true, false]) {
    const sandbox = { bubblewrap, system, hasSizes };
    const inside = { roots: [], masks: [], extra: [program], network: false, cwd: '/' };
    const problem = await tryOut(bubblewrap, [...sandboxArguments(sandbox, inside), program, MOUNTS]);
    if (problem === undefined) return { ok: true, sandbox };
    reason = problem;
  }
  return none(`bubblewrap cannot create a sandbox here: ${reason}`, BUSY.test(reason));
}

/** Differs in every mount namespace: if it is the same inside and outside, the sandbox does not isolate. */
const MOUNTS = '/proc/self/ns/mnt';

/** Changes when PATH leads to another bubblewrap, or to none. */
export function bubblewrapMark(path: string | undefined): string {
  const file = findProgram('bwrap', { path, cwd: '/' });
  const status = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return [path, file, status?.dev, status?.ino, status?.size, status?.mtimeMs, status?.ctimeMs].join('\n');
}

const DOES_NOT_END = 'it does not end';
/** Messages of a machine that is temporarily out of resources. */
const BUSY = new RegExp(
  `${DOES_NOT_END}|EAGAIN|EMFILE|ENFILE|ENOMEM|Resource temporarily unavailable|Cannot allocate memory|Too many open files`,
);

function none(reason: string, mayPass = false): FoundSandbox {
  return { ok: false, reason, mayPass };
}

/** Runs the probe; resolves with the problem, or undefined if it works. */
function tryOut(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((settle) => {
    execFile(program, args, { timeout: PROBE_MS, killSignal: 'SIGKILL', env: {} }, (error, stdout, stderr) => {
      if (error === null)
        return settle(isElsewhere(stdout.trim()) ? undefined : 'the program that it starts is not isolated');
      const [said = ''] = stderr.trim().split('\n');
      settle(said.slice(0, 300) || (error.killed === true ? DOES_NOT_END : `it exited with ${String(error.code)}`));
    });
  });
}

function isElsewhere(mounts: string): boolean {
  return /^mnt:\[\d+\]$/.test(mounts) && mounts !== readlinkSync(MOUNTS);
}
