import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

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
  /** Over, and only waiting to be noticed by its parent. */
  readonly isZombie: boolean;
}

/** The ids of those who are alive: the group, and whoever left it for a group of its own. */
export function livingMembers(family: Family): readonly number[] {
  const rows = process.platform === 'linux' ? readProc() : askPs();
  const alive = rows.filter(({ isZombie, pid }) => !isZombie && pid !== process.pid);
  const isDescendant = descendantsOf(family.groupId, alive);
  return alive
    .filter(({ pid, groupId }) => groupId === family.groupId || isDescendant.has(pid) || isMarked(pid, family.mark))
    .map(({ pid }) => pid);
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

function descendantsOf(ancestor: number, rows: readonly ProcessRow[]): ReadonlySet<number> {
  const found = new Set([ancestor]);
  let size = 0;
  while (size !== found.size) {
    size = found.size;
    for (const { pid, parentId } of rows) if (found.has(parentId)) found.add(pid);
  }
  return found;
}

function readProc(): readonly ProcessRow[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = read(`/proc/${name}/stat`);
      // The name of the program stands in parentheses and may hold anything, parentheses too.
      const [state, parentId, groupId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (groupId === undefined) return [];
      return [{ pid: Number(name), parentId: Number(parentId), groupId: Number(groupId), isZombie: state === 'Z' }];
    });
}

/** True for one that inherited the mark, however it was detached. Elsewhere than on Linux nobody can be asked. */
function isMarked(pid: number, mark: string): boolean {
  return process.platform === 'linux' && `\0${read(`/proc/${pid}/environ`)}`.includes(`\0${mark}\0`);
}

function askPs(): readonly ProcessRow[] {
  const { stdout = '' } = spawnSync('/bin/ps', ['-axo', 'pid=,ppid=,pgid=,stat='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [pid, parentId, groupId, state] = line.trim().split(/\s+/);
    if (state === undefined) return [];
    return [
      { pid: Number(pid), parentId: Number(parentId), groupId: Number(groupId), isZombie: state.startsWith('Z') },
    ];
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
