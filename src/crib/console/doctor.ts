import { execFile } from 'node:child_process';
import { messageOf } from '../../core/tool-error.ts';
import { findSandbox } from '../../kinds/shell/sandbox.ts';
import { packageVersion } from '../../system/package-version.ts';
import type { Crib } from '../crib.ts';

/** One finding about this machine. */
export interface DoctorCheck {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'problem';
  readonly says: string;
  /** The remedy; absent if everything is well. */
  readonly fix?: string;
}

/** The health of this machine and of the crib on it. */
export interface DoctorReport {
  /** True without problems. */
  readonly ok: boolean;
  readonly checks: readonly DoctorCheck[];
}

const PROBE_MS = 5000;
/** The time of the first release: a clock before it is wrong. */
const EARLIEST = Date.UTC(2025, 0, 1);

/** Examines store, clock, versions, sandbox, Python and sources. Changes nothing but a small entry of the store. */
export async function examine(
  crib: Pick<Crib, 'store' | 'readiness' | 'sources' | 'review' | 'server'>,
): Promise<DoctorReport> {
  const [store, ofMachine, tools] = await Promise.all([checkStore(crib), examineMachine(), checkExecutors(crib)]);
  return toReport([store, ...ofMachine, checkSources(crib), tools, checkFolder(crib)]);
}

/** Examines versions, clock, sandbox and Python, which need no crib. */
export async function examineMachine(): Promise<readonly DoctorCheck[]> {
  const versions = `Toolcrib ${packageVersion()}, Node ${process.versions.node}, ${process.platform} ${process.arch}.`;
  return Promise.all([
    { name: 'versions', state: 'ok', says: versions } as const,
    checkClock(Date.now()),
    checkSandbox(),
    checkPython(),
  ]);
}

/** The report with these findings. */
export function toReport(checks: readonly DoctorCheck[]): DoctorReport {
  return { ok: checks.every(({ state }) => state !== 'problem'), checks };
}

async function checkStore({ store, readiness }: Pick<Crib, 'store' | 'readiness'>): Promise<DoctorCheck> {
  const name = 'store';
  if (store === undefined)
    return {
      name,
      state: 'warning',
      says: 'No store: nothing outlives this process.',
      fix: 'Give createCrib a configuration or a store.',
    };
  const { engine, location, reachable, problem, warnings } = await store.status();
  if (!reachable)
    return {
      name,
      state: 'problem',
      says: problem ?? 'The store is not reachable.',
      fix: 'Start the database, or correct store.url.',
    };
  const ready = await readiness();
  if (!ready.ready && /store|audit/i.test(ready.reason))
    return { name, state: 'problem', says: ready.reason, fix: 'Check the disk and the permissions of the store.' };
  const [warning] = warnings;
  if (warning !== undefined) return { name, state: 'warning', says: warning };
  return { name, state: 'ok', says: `${engine}, ${location}.` };
}

function checkClock(now: number): DoctorCheck {
  const says = `This machine has ${new Date(now).toISOString()}.`;
  if (now > EARLIEST) return { name: 'clock', state: 'ok', says };
  return { name: 'clock', state: 'problem', says, fix: 'Set the clock: keys, tokens and approvals expire by it.' };
}

async function checkSandbox(): Promise<DoctorCheck> {
  const found = await findSandbox(process.env.PATH);
  if (found.ok) return { name: 'sandbox', state: 'ok', says: `bubblewrap at ${found.sandbox.bubblewrap}.` };
  const fix =
    'Install bubblewrap (bwrap). Without it, commands that declare a sandbox run only with sandbox: preferred.';
  return { name: 'sandbox', state: 'warning', says: `No sandbox: ${found.reason}.`, fix };
}

function checkPython(): Promise<DoctorCheck> {
  return new Promise((resolve) => {
    execFile('python3', ['--version'], { timeout: PROBE_MS }, (cause, stdout, stderr) => {
      if (cause === null) return resolve({ name: 'python', state: 'ok', says: `${`${stdout}${stderr}`.trim()}.` });
      const fix = 'Install Python 3, or name another with executors.python.interpreter. Only Python tools need it.';
      return resolve({ name: 'python', state: 'warning', says: `python3 cannot be run: ${messageOf(cause)}`, fix });
    });
  });
}

function checkSources({ sources }: Pick<Crib, 'sources'>): DoctorCheck {
  const all = sources();
  const failing = all.filter(({ state }) => state === 'failed' || state === 'down');
  if (failing.length === 0)
    return { name: 'sources', state: 'ok', says: all.length === 1 ? '1 source.' : `${all.length} sources.` };
  const says = failing
    .map(({ name, state, reason }) => {
      const what = `${name} ${state === 'failed' ? 'has failed' : 'is down'}`;
      return reason === undefined ? `${what}.` : `${what}: ${reason}`;
    })
    .join(' ');
  return {
    name: 'sources',
    state: 'problem',
    says,
    fix: 'Correct their entries, or start their servers; then reload them.',
  };
}

async function checkExecutors({ review }: Pick<Crib, 'review'>): Promise<DoctorCheck> {
  const { problems, notes } = await review();
  const [first, ...others] = problems;
  if (first !== undefined)
    return {
      name: 'tools',
      state: 'problem',
      says: others.length === 0 ? first : `${first} And ${others.length} more.`,
      fix: 'toolcrib check lists all of them.',
    };
  const [note] = notes;
  return note === undefined
    ? { name: 'tools', state: 'ok', says: 'All tools can run on this machine.' }
    : { name: 'tools', state: 'warning', says: note };
}

function checkFolder({ server }: Pick<Crib, 'server'>): DoctorCheck {
  const [warning] = server.stateWarnings();
  if (warning !== undefined) return { name: 'folder', state: 'warning', says: warning };
  return {
    name: 'folder',
    state: 'ok',
    says: 'The operator token and the audit key are readable by their owner only.',
  };
}
