import type {
  Journal,
  JournalEntry,
  JournalStart,
  ScriptWait,
  StoredJournals,
} from '../../core/ports/stored-journals.ts';
import type { ParkedScript } from '../../core/ports/stored-tasks.ts';
import { sealStatement } from '../approval-statements.ts';
import { jsonOf, numberOf, type SqlEngine, type Statement, sql } from '../engines/sql-engine.ts';
import { isOwn, type OwnTask } from './task-moves.ts';
import { LISTED_COLUMNS, taskKey, toListedTask } from './task-rows.ts';

/** Creates the tables of journals. A journal has the id of its task. */
export const CREATE_JOURNALS: readonly string[] = [
  `CREATE TABLE toolcrib_journals (
    id TEXT PRIMARY KEY, binding TEXT, is_handed_over BIGINT NOT NULL DEFAULT 0, is_dropped BIGINT NOT NULL DEFAULT 0,
    line_count BIGINT NOT NULL, wait_count BIGINT NOT NULL, begun TEXT NOT NULL)`,
  'CREATE INDEX toolcrib_journals_of_binding ON toolcrib_journals (binding) WHERE is_handed_over = 0',
  `CREATE TABLE toolcrib_journal_entries (
    id TEXT NOT NULL, place BIGINT NOT NULL, entry TEXT NOT NULL, PRIMARY KEY (id, place))`,
  'ALTER TABLE toolcrib_tasks ADD COLUMN batch TEXT',
];

/** Journals in an engine. `ownOf` is the claim of this process on a task; only its holder writes to the journal. */
export function journals(engine: SqlEngine, ownOf: (id: string) => OwnTask): StoredJournals {
  const isHeld = (id: string): Statement => heldBy(ownOf(id));
  const write = async (statements: readonly Statement[]): Promise<boolean> => {
    const [first] = await engine.write(statements, 'power loss');
    return first?.length === 1;
  };
  return {
    async get(id) {
      const [row] = await engine.read(sql`SELECT * FROM toolcrib_journals WHERE id = ${taskKey(id)}`);
      if (row === undefined) return undefined;
      const entries = await engine.read(sql`
        SELECT entry FROM toolcrib_journal_entries WHERE id = ${taskKey(id)} ORDER BY place`);
      const state = { lines: numberOf(row, 'line_count'), waits: numberOf(row, 'wait_count') };
      return {
        ...(jsonOf(row, 'begun') as JournalStart), // written by addJournal
        ...state,
        entries: entries.map((entry) => jsonOf(entry, 'entry') as JournalEntry), // written by putEntry
        ...(row.is_dropped === 1 && { isDropped: true as const }),
      };
    },
    begin: (id, start) =>
      write([addJournal(taskKey(id), { start, state: { lines: 0, waits: 0 }, binding: null }, isHeld(id))]),
    put(id, { entries, state }) {
      const key = taskKey(id);
      const held = isHeld(id);
      return write([setState(key, state, held), ...entries.map((entry) => putEntry(key, entry, held))]);
    },
    drop(id) {
      const { sql: held, params } = isHeld(id);
      const given = [taskKey(id), ...params];
      return write([
        { sql: `UPDATE toolcrib_journals SET is_dropped = 1 WHERE id = ? AND ${held} RETURNING id`, params: given },
        { sql: `DELETE FROM toolcrib_journal_entries WHERE id = ? AND ${held}`, params: given },
      ]);
    },
    async find(binding) {
      const [row] = await engine.read({
        sql: `SELECT ${LISTED_COLUMNS} FROM toolcrib_tasks
          WHERE id IN (SELECT id FROM toolcrib_journals WHERE binding = ? AND is_handed_over = 0)
          ORDER BY created_at DESC, id DESC LIMIT 1`,
        params: [binding],
      });
      return row && toListedTask(row).id;
    },
    async handOver(id) {
      await engine.write([
        sql`
        UPDATE toolcrib_journals SET is_handed_over = 1 WHERE id = ${taskKey(id)} AND is_handed_over = 0`,
      ]);
    },
  };
}

/** SQL condition: this process runs the task. */
function heldBy(own: OwnTask): Statement {
  const { sql: mine, params } = isOwn(own);
  return { sql: `EXISTS (SELECT 1 FROM toolcrib_tasks WHERE ${mine} AND state = 'running')`, params };
}

/** A journal right after its begin. */
interface NewJournal {
  readonly start: JournalStart;
  readonly state: Pick<Journal, 'lines' | 'waits'>;
  readonly binding: string | null;
}

function addJournal(key: string, { start, state, binding }: NewJournal, condition: Statement): Statement {
  return {
    sql: `INSERT INTO toolcrib_journals (id, binding, line_count, wait_count, begun)
      SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT) WHERE ${condition.sql}
      ON CONFLICT (id) DO UPDATE SET begun = excluded.begun RETURNING id`,
    params: [key, binding, state.lines, state.waits, JSON.stringify(start), ...condition.params],
  };
}

function putEntry(key: string, entry: JournalEntry, condition: Statement): Statement {
  return {
    sql: `INSERT INTO toolcrib_journal_entries (id, place, entry)
      SELECT CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS TEXT) WHERE ${condition.sql}
      ON CONFLICT (id, place) DO UPDATE SET entry = excluded.entry`,
    params: [key, entry.index, JSON.stringify(entry), ...condition.params],
  };
}

function setState(key: string, { lines, waits }: NewJournal['state'], condition: Statement): Statement {
  return {
    sql: `UPDATE toolcrib_journals SET line_count = ?, wait_count = ? WHERE id = ? AND ${condition.sql} RETURNING id`,
    params: [lines, waits, key, ...condition.params],
  };
}

/** SQL condition: the task waits, or has waited, for this batch. */
function waitsFor({ id }: Pick<OwnTask, 'id'>, batch: string): Statement {
  return sql`EXISTS (SELECT 1 FROM toolcrib_tasks WHERE id = ${taskKey(id)} AND batch = ${batch})`;
}

/** Adds the whole journal of a script that has become a task. */
export function wholeJournal(id: string, { journal, binding, batch }: ParkedScript): readonly Statement[] {
  const { entries, lines, waits, ...start } = journal;
  const key = taskKey(id);
  const condition = waitsFor({ id }, batch);
  return [
    addJournal(key, { start, state: { lines, waits }, binding }, condition),
    ...entries.map((entry) => putEntry(key, entry, condition)),
  ];
}

/** Notes that a script waits. */
export function waitJournal(own: OwnTask, { state, batch }: Pick<ScriptWait, 'batch' | 'state'>): Statement {
  return setState(taskKey(own.id), state, waitsFor(own, batch));
}

/** Seals the batch that a task waits for. */
export function sealOf(task: Pick<OwnTask, 'id'>, batch: string, at: number): Statement {
  const seal = sealStatement(batch, at);
  const waits = waitsFor(task, batch);
  return { sql: `${seal.sql} AND ${waits.sql}`, params: [...seal.params, ...waits.params] };
}

/** Removes the journals of tasks that were removed. */
export const PURGE_JOURNALS: readonly Statement[] = [
  sql`
    DELETE FROM toolcrib_journal_entries WHERE id IN (
      SELECT id FROM toolcrib_journals AS old WHERE NOT EXISTS (
        SELECT 1 FROM toolcrib_tasks AS kept WHERE kept.id = old.id))`,
  sql`DELETE FROM toolcrib_journals WHERE NOT EXISTS (
      SELECT 1 FROM toolcrib_tasks WHERE toolcrib_tasks.id = toolcrib_journals.id)`,
];
