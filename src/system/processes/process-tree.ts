import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { codeOf } from '../../core/tool-error.ts';

/** What tells the processes that a child started, and those that they started, from all others. */
export interface Family {
  /** The group that the child leads. */
  readonly groupId: number;
  /** An entry of the environment that only they have. */
  readonly mark: string;
}

/** One row of the process table. */
interface ProcessRow {
  readonly pid: number;
  readonly parentId: number;
  readonly groupId: number;
  /** When it began, in ticks since the machine did; 0 where that cannot be told. */
  readonly startedAt: number;
  /** Over, and only waiting to be noticed by its parent. */
  readonly isZombie: boolean;
}

/** The ids of those who are alive: the group, and whoever left it for a group of its own. */
export function livingMembers(family: Family): readonly number[] {
  return livingByFamily([family]).get(family) ?? [];
}

/** The living of many families, found by one look at all processes. */
export function livingByFamily(families: readonly Family[]): ReadonlyMap<Family, readonly number[]> {
  const byGroup = new Map(families.map((family) => [family.groupId, family]));
  const byMark = new Map(families.map((family) => [family.mark, family]));
  // Who is older than we are was not started by us: most need not be asked for their mark.
  const sinceTicks = process.platform === 'linux' ? (readStat('self')?.startedAt ?? 0) : 0;
  return claimLiving(
    ({ pid, groupId, startedAt }) =>
      byGroup.get(groupId) ?? (startedAt < sinceTicks ? undefined : byMark.get(markOf(pid))),
  );
}

/** The ids of those who are alive and whose mark begins so, or who are in one of these groups, and of all below them. */
export function livingGuarded(markPrefix: string, groupIds: ReadonlySet<number>): readonly number[] {
  const isGuarded = ({ pid, groupId }: ProcessRow) => groupIds.has(groupId) || markOf(pid).startsWith(markPrefix);
  return claimLiving((row) => (isGuarded(row) ? 'guarded' : undefined)).get('guarded') ?? [];
}

/** Everybody who is claimed, or stands below somebody who is; all but this process. */
function claimLiving<Owner>(claim: (row: ProcessRow) => Owner | undefined): ReadonlyMap<Owner, readonly number[]> {
  const rows = process.platform === 'linux' ? readProc() : askPs();
  const alive = new Map(
    rows.filter(({ isZombie, pid }) => !isZombie && pid !== process.pid).map((row) => [row.pid, row]),
  );
  const owners = new Map<number, Owner | undefined>();
  const ownerOf = (row: ProcessRow): Owner | undefined => {
    if (owners.has(row.pid)) return owners.get(row.pid);
    owners.set(row.pid, undefined); // the table was not read in one moment: a circle in it ends here
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

/** Sends a signal to each; one who is gone already is what was wanted. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // Gone, or by now somebody whom we may not end.
    }
  }
}

/** True for a process that is there, ours or somebody else's. */
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
  // The name of the program stands in parentheses and may hold anything, parentheses too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // from the third on, see man 5 proc
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

/** The variable by which those whom we started, and all below them, are known. */
export const MARK_NAME = 'TOOLCRIB_CHILD';
const MARK = new RegExp(`\\0(${MARK_NAME}=[^\\0]*)`);

/** What a process inherited, however it was detached. Elsewhere than on Linux nobody can be asked. */
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

/** Nothing for a process that is gone by now, or somebody else's. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Ends families of processes, however many, by few looks at all processes. */
export interface ProcessSweep {
  /** Asks all of a family to end, forces them after `graceMs`, and resolves when nobody is left. */
  end(family: Family, options: EndOptions): Promise<void>;
  /** Some time later, forces whoever of a family is left; nobody waits for it. */
  later(family: Family): void;
  /** Does now what was left for later. */
  settle(): Promise<void>;
}

interface EndOptions {
  readonly graceMs: number;
  /** One who ends with the others and only by force, if there is such. */
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
/** A look takes longer the more runs on the machine: what it costs must not grow with that. */
const BUSY_SHARE = 4;
const IDLE_SHARE = 100;

/** Nothing is to be ended yet. */
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
    if (endings.size === 0) timer.handle.unref(); // should this process end first, its guard does it
  };

  const end: ProcessSweep['end'] = (family, options) =>
    new Promise((resolve) => {
      endings.add({ ...options, family, deadline: performance.now() + options.graceMs, asked: new Set(), resolve });
      lookIn(0); // all who are ended in this moment are looked for together
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

/** Each is asked once, and all are forced when the time is over. */
function press({ asked, deadline, spared }: Ending, members: readonly number[]): void {
  const isOver = performance.now() >= deadline;
  signalAll(
    isOver ? members : members.filter((pid) => pid !== spared && !asked.has(pid)),
    isOver ? 'SIGKILL' : 'SIGTERM',
  );
  for (const pid of members) asked.add(pid);
}
