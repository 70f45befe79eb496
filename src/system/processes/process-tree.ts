import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { codeOf } from '../../core/tool-error.ts';

/** Identifies a child and everything it started. */
export interface Family {
  /** The process group that the child leads. */
  readonly groupId: number;
  /** An entry of the environment that only they have. */
  readonly mark: string;
}

/** One row of the process table. */
interface ProcessRow {
  readonly pid: number;
  readonly parentId: number;
  readonly groupId: number;
  /** Start time in ticks since boot; 0 if unknown. */
  readonly startedAt: number;
  /** True if the process has ended and waits for its parent. */
  readonly isZombie: boolean;
}

/** The ids of living members: the process group, and processes that left it for their own. */
export function livingMembers(family: Family): readonly number[] {
  return livingByFamily([family]).get(family) ?? [];
}

/** The living members of many families, by one scan of all processes. */
export function livingByFamily(families: readonly Family[]): ReadonlyMap<Family, readonly number[]> {
  const byGroup = new Map(families.map((family) => [family.groupId, family]));
  const byMark = new Map(families.map((family) => [family.mark, family]));
  // Processes older than this one were not started by it, so their marks need not be read.
  const sinceTicks = process.platform === 'linux' ? (readStat('self')?.startedAt ?? 0) : 0;
  return claimLiving(
    ({ pid, groupId, startedAt }) =>
      byGroup.get(groupId) ?? (startedAt < sinceTicks ? undefined : byMark.get(markOf(pid))),
  );
}

/** The ids of living processes with this mark prefix or in one of these groups, and of their descendants. */
export function livingGuarded(markPrefix: string, groupIds: ReadonlySet<number>): readonly number[] {
  const isGuarded = ({ pid, groupId }: ProcessRow) => groupIds.has(groupId) || markOf(pid).startsWith(markPrefix);
  return claimLiving((row) => (isGuarded(row) ? 'guarded' : undefined)).get('guarded') ?? [];
}

/** All claimed processes and their descendants, except this process. */
function claimLiving<Owner>(claim: (row: ProcessRow) => Owner | undefined): ReadonlyMap<Owner, readonly number[]> {
  const rows = process.platform === 'linux' ? readProc() : askPs();
  const alive = new Map(
    rows.filter(({ isZombie, pid }) => !isZombie && pid !== process.pid).map((row) => [row.pid, row]),
  );
  const owners = new Map<number, Owner | undefined>();
  const ownerOf = (row: ProcessRow): Owner | undefined => {
    if (owners.has(row.pid)) return owners.get(row.pid);
    owners.set(row.pid, undefined); // the table is not a snapshot: this ends a cycle in it
    const parent = alive.get(row.parentId);
    const owner = claim(row) ?? (parent === undefined ? undefined : ownerOf(parent));
    owners.set(row.pid, owner);
    return owner;
  };
  const claimed = new Map<Owner, number[]>();
  for (const row of alive.values()) {
    const owner = ownerOf(row);
    if (owner === undefined) continue;
    const pids = claimed.get(owner);
    if (pids === undefined) claimed.set(owner, [row.pid]);
    else pids.push(row.pid);
  }
  return claimed;
}

/** Sends a signal to each process; those that are gone are ignored. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone, or the id belongs to another user's process by now.
    }
  }
}

/** True if a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return codeOf(cause) !== 'ESRCH';
  }
}

function readProc(): readonly ProcessRow[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(name) ?? []);
}

function readStat(name: string): ProcessRow | undefined {
  const stat = read(`/proc/${name}/stat`);
  // The program name is in parentheses and may itself contain parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // from the third field on, see man 5 proc
  const [state, parentId, groupId] = fields;
  if (groupId === undefined) return undefined;
  const startedAt = Number(fields[19]);
  return {
    pid: Number(name),
    parentId: Number(parentId),
    groupId: Number(groupId),
    startedAt,
    isZombie: state === 'Z',
  };
}

/** The variable that marks our children and their descendants. */
export const MARK_NAME = 'TOOLCRIB_CHILD';
const MARK = new RegExp(`\\0(${MARK_NAME}=[^\\0]*)`);

/** The inherited mark of a process, even if it was detached. Only readable on Linux. */
function markOf(pid: number): string {
  if (process.platform !== 'linux') return UNMARKED;
  return MARK.exec(`\0${read(`/proc/${pid}/environ`)}`)?.[1] ?? UNMARKED;
}

const UNMARKED = '';

function askPs(): readonly ProcessRow[] {
  const { stdout = '' } = spawnSync('/bin/ps', ['-axo', 'pid=,ppid=,pgid=,stat='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [pid, parentId, groupId, state] = line.trim().split(/\s+/);
    if (state === undefined) return [];
    const isZombie = state.startsWith('Z');
    return [{ pid: Number(pid), parentId: Number(parentId), groupId: Number(groupId), startedAt: 0, isZombie }];
  });
}

/** Empty for a process that is gone or belongs to another user. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Ends any number of process families with few scans of all processes. */
export interface ProcessSweep {
  /** Sends SIGTERM to a family, SIGKILL after `graceMs`, and resolves when none is left. */
  end(family: Family, options: EndOptions): Promise<void>;
  /** Kills what is left of a family some time later, in the background. */
  later(family: Family): void;
  /** Runs the pending work of `later` now. */
  settle(): Promise<void>;
}

interface EndOptions {
  readonly graceMs: number;
  /** A process that only gets SIGKILL, because it ends with the others. */
  readonly spared?: number | undefined;
}

interface Ending extends EndOptions {
  readonly family: Family;
  readonly deadline: number;
  readonly asked: Set<number>;
  resolve(): void;
}

const LOOK_AGAIN_MS = 20;
const LATER_MS = 500;
/** Limits the share of time spent on scans, which take longer on a busy machine. */
const BUSY_SHARE = 4;
const IDLE_SHARE = 100;

/** Creates a sweep without families. */
export function createProcessSweep(): ProcessSweep {
  const endings = new Set<Ending>();
  let left: Family[] = [];
  let lookMs = 0;
  let timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;

  const look = (): void => {
    timer = undefined;
    const begin = performance.now();
    const swept = left;
    left = [];
    const living = livingByFamily([...swept, ...Array.from(endings, ({ family }) => family)]);
    for (const family of swept) signalAll(living.get(family) ?? [], 'SIGKILL');
    for (const ending of endings) {
      const members = living.get(ending.family) ?? [];
      if (members.length > 0) {
        press(ending, members);
        continue;
      }
      endings.delete(ending);
      ending.resolve();
    }
    lookMs = performance.now() - begin;
    plan();
  };

  const plan = (): void => {
    if (endings.size > 0) lookIn(Math.max(LOOK_AGAIN_MS, BUSY_SHARE * lookMs));
    else if (left.length > 0) lookIn(Math.max(LATER_MS, IDLE_SHARE * lookMs));
  };
  const lookIn = (delayMs: number): void => {
    const at = performance.now() + delayMs;
    if (timer !== undefined && timer.at <= at) return;
    clearTimeout(timer?.handle);
    timer = { at, handle: setTimeout(look, delayMs) };
    if (endings.size === 0) timer.handle.unref(); // if this process ends first, its guard does this
  };

  const end: ProcessSweep['end'] = (family, options) =>
    new Promise((resolve) => {
      endings.add({ ...options, family, deadline: performance.now() + options.graceMs, asked: new Set(), resolve });
      lookIn(0); // families ended at this moment share one scan
    });
  return {
    end,
    later(family) {
      left.push(family);
      plan();
    },
    async settle() {
      const rest = left;
      left = [];
      await Promise.all(rest.map((family) => end(family, { graceMs: 0 })));
    },
  };
}

/** Sends SIGTERM once to each process, and SIGKILL to all after the deadline. */
function press({ asked, deadline, spared }: Ending, members: readonly number[]): void {
  const isOver = performance.now() >= deadline;
  signalAll(
    isOver ? members : members.filter((pid) => pid !== spared && !asked.has(pid)),
    isOver ? 'SIGKILL' : 'SIGTERM',
  );
  for (const pid of members) asked.add(pid);
}
