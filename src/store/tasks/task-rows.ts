import { hash } from 'node:crypto';
import type { ListedTask, NewTask, StoredTask, TaskState } from '../../core/ports/stored-tasks.ts';
import type { Progress } from '../../core/tool-call.ts';
import type { ToolResult } from '../../core/tool-result.ts';
import { jsonOf, numberOf, type Row, type SqlValue, textOf } from '../engines/sql-engine.ts';
import { ownerKey } from '../repeats.ts';

/** Longer texts do not fit into an index of PostgreSQL. */
const LONGEST_KEY = 200;
/** The last moment that a Date can hold; delays beyond it mean never. */
const LAST_MOMENT = 8_640_000_000_000_000;
const HASHED = 'sha256:';

/** A text for an indexed column: itself, or its hash if it is long or has characters that PostgreSQL cannot store. */
export function taskKey(text: string): string {
  const isPlain = text.length <= LONGEST_KEY && text.isWellFormed() && !text.includes('\0') && !text.startsWith(HASHED);
  return isPlain ? text : `${HASHED}${hash('sha256', JSON.stringify(text))}`;
}

/** True for the hash of a text. */
export function isHashedKey(key: string): boolean {
  return key.startsWith(HASHED);
}

/** A new task as columns. */
export interface TaskColumns extends Readonly<Record<string, SqlValue>> {
  readonly id: string;
  readonly slot: string | null;
  readonly owner: string;
  readonly bytes: number;
}

/** Converts a task to columns. `task` has the parts that lists show; it may contain any text, escaped by JSON. */
export function toColumns(task: NewTask, at: number): TaskColumns {
  const { arguments: given, delayMs, lifetimeMs, keepMs, priority, isForWorkers, isRepeatable, ...listed } = task;
  const text = JSON.stringify(listed);
  const argumentsText = JSON.stringify(given);
  const runAt = momentAfter(at, Math.max(0, delayMs));
  return {
    id: taskKey(task.id),
    state: 'queued',
    is_ready: runAt <= at ? 1 : 0,
    priority: Math.round(priority),
    run_at: runAt,
    created_at: at,
    expires_at: momentAfter(runAt, lifetimeMs),
    keep_ms: Math.round(Math.min(keepMs, LAST_MOMENT)),
    tool: taskKey(task.tool),
    source: taskKey(task.source),
    profile: taskKey(task.profile),
    owner: ownerKey(task.caller.id ?? ''),
    is_for_workers: isForWorkers ? 1 : 0,
    is_repeatable: isRepeatable ? 1 : 0,
    slot: task.slot === undefined ? null : taskKey(task.slot),
    schedule: task.slot === undefined ? null : taskKey(task.slot.slice(0, task.slot.lastIndexOf('@') + 1)),
    bytes: Buffer.byteLength(text) + Buffer.byteLength(argumentsText),
    task: text,
    arguments: argumentsText,
  };
}

/** A moment as a whole number that every engine can store. */
export function momentAfter(at: number, ms: number): number {
  return Math.min(at + Math.ceil(ms), LAST_MOMENT);
}

/** The columns that lists need. */
export const LISTED_COLUMNS = `id, state, priority, run_at, created_at, expires_at, started_at, ended_at, attempts,
  is_for_workers, is_repeatable, approval_id, batch, cancelled_by, progress, outcome, task`;

/** Converts a row to a list item. It completes the parsed object without a copy, because there may be ten thousand. */
export function toListedTask(row: Row): ListedTask {
  const task = jsonOf(row, 'task') as { -readonly [Key in keyof ListedTask]: ListedTask[Key] }; // written by toColumns
  task.state = textOf(row, 'state') as TaskState; // only these values are written
  task.priority = numberOf(row, 'priority');
  task.isForWorkers = row.is_for_workers === 1;
  task.isRepeatable = row.is_repeatable === 1;
  task.createdAt = numberOf(row, 'created_at');
  task.runAt = numberOf(row, 'run_at');
  task.expiresAt = numberOf(row, 'expires_at');
  task.attempts = numberOf(row, 'attempts');
  if (row.started_at !== null) task.startedAt = numberOf(row, 'started_at');
  if (row.ended_at !== null) task.endedAt = numberOf(row, 'ended_at');
  if (row.approval_id !== null) task.approvalId = textOf(row, 'approval_id');
  if (row.batch !== null) task.batch = textOf(row, 'batch');
  if (row.cancelled_by !== null) task.cancelledBy = String(jsonOf(row, 'cancelled_by'));
  if (row.progress !== null) task.progress = jsonOf(row, 'progress') as Progress; // written by noteProgress
  if (row.outcome !== null) task.outcome = textOf(row, 'outcome');
  return task;
}

/** Converts a whole row to a task. */
export function toStoredTask(row: Row): StoredTask {
  return { ...toListedTask(row), arguments: jsonOf(row, 'arguments') as StoredTask['arguments'] }; // written by toColumns
}

/** The stored result of a task. */
export function taskResultOf(row: Row): ToolResult {
  return jsonOf(row, 'result') as ToolResult; // written by endColumns
}
