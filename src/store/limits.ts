import {
  type BudgetCell,
  mostOf,
  periodEnd,
  refundOf,
  type StoredBudgets,
  type StoredRates,
} from '../core/ports/stored-results.ts';
import { numberOf, type SqlEngine, type SqlValue, type Statement, sql, textOf } from './engines/sql-engine.ts';

/** Rates in an engine shared by several processes: one PostgreSQL function checks and charges all cells at once. */
export function rates(engine: SqlEngine): StoredRates {
  return {
    charge: async (cells) => {
      const [row] = await engine.read(sql`SELECT toolcrib_charge(${JSON.stringify(cells)}) AS wait_ms`);
      return row === undefined ? 0 : numberOf(row, 'wait_ms');
    },
    waitMs: async (cells) => {
      const [row] = await engine.read(sql`
        SELECT max(greatest(coalesce(rate.full_until, 0), now_ms) - now_ms + cell."perMs" / cell.amount - cell."perMs") AS wait_ms
        FROM (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now_ms) AS clock
        CROSS JOIN json_to_recordset(CAST(${JSON.stringify(cells)} AS json))
          AS cell(name TEXT, amount DOUBLE PRECISION, "perMs" DOUBLE PRECISION)
        LEFT JOIN toolcrib_rates AS rate ON rate.name = cell.name`);
      const excess = row === undefined ? 0 : numberOf(row, 'wait_ms');
      return excess > EXACT_MS ? excess : 0;
    },
    async refund(given, elapsedMs) {
      await engine.write(
        inOneOrder(given).map(
          (cell) => sql`
            UPDATE toolcrib_rates SET full_until = full_until - ${refundOf(cell, elapsedMs)} WHERE name = ${cell.name}`,
        ),
      );
    },
  };
}

/** A wait up to this is a rounding error, as in `toolcrib_charge`. */
const EXACT_MS = 0.001;

/** Expired periods are removed after this many charges. */
const CHARGES_PER_PURGE = 1000;
const DAY_MS = 86_400_000;

/** Budgets in an engine. */
export function budgets(engine: SqlEngine, now: () => number): StoredBudgets {
  let charges = 0;
  return {
    async charge(given, price) {
      const cells = inOneOrder(given);
      const at = now();
      charges += 1;
      if (charges % CHARGES_PER_PURGE === 0) purge(engine, at);
      const answers = await engine.write([
        ...cells.map((cell) => beginPeriod(cell, at)),
        addToAll(cells, price),
        spentOf(cells),
      ]);
      if (answers.at(-2)?.length === cells.length) return { ok: true };
      const rows = new Map((answers.at(-1) ?? []).map((row) => [textOf(row, 'name'), row]));
      const spentBy = ({ name }: BudgetCell) => {
        const row = rows.get(name);
        return row === undefined ? 0 : numberOf(row, 'spent');
      };
      const spent = cells.find((cell) => spentBy(cell) + price > mostOf(cell));
      if (spent === undefined) throw new Error('no budget is spent, and yet nothing was charged');
      return { ok: false, spent, resetsInMs: periodEnd(spent.perMs, at) - at };
    },
    async spent(cells) {
      const known = { sql: `${spentOf(cells).sql} AND ends_at > ?`, params: [...namesOf(cells), now()] };
      const rows = new Map((await engine.read(known)).map((row) => [textOf(row, 'name'), numberOf(row, 'spent')]));
      return cells.map(({ name }) => rows.get(name) ?? 0);
    },
    async refund(given, price) {
      await engine.write(
        inOneOrder(given).map(
          ({ name }) => sql`
            UPDATE toolcrib_budgets SET spent = CASE WHEN spent > ${price} THEN spent - ${price} ELSE 0 END
            WHERE name = ${name} AND ends_at > ${now()}`,
        ),
      );
    },
  };
}

/** Sorts the cells, because processes that lock rows in different orders would deadlock. */
function inOneOrder(cells: readonly BudgetCell[]): readonly BudgetCell[] {
  const byName = new Map(cells.map((cell) => [cell.name, cell]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Locks the row, and begins a new period if the last one is over. */
function beginPeriod({ name, perMs }: BudgetCell, now: number): Statement {
  return sql`
    INSERT INTO toolcrib_budgets (name, spent, ends_at) VALUES (${name}, 0, ${periodEnd(perMs, now)})
    ON CONFLICT (name) DO UPDATE SET
      spent = CASE WHEN toolcrib_budgets.ends_at <= ${now} THEN 0 ELSE toolcrib_budgets.spent END,
      ends_at = CASE WHEN toolcrib_budgets.ends_at <= ${now} THEN excluded.ends_at ELSE toolcrib_budgets.ends_at END`;
}

/** Charges all cells, or none if one would exceed its budget. */
function addToAll(cells: readonly BudgetCell[], price: number): Statement {
  const isSpent = cells.map(() => '(name = ? AND spent + ? > ?)').join(' OR ');
  return {
    sql: `UPDATE toolcrib_budgets SET spent = spent + ? WHERE name IN (${marksFor(cells)})
      AND NOT EXISTS (SELECT 1 FROM toolcrib_budgets WHERE ${isSpent}) RETURNING name`,
    params: [price, ...namesOf(cells), ...cells.flatMap((cell) => [cell.name, price, mostOf(cell)])],
  };
}

function spentOf(cells: readonly BudgetCell[]): Statement {
  return {
    sql: `SELECT name, spent FROM toolcrib_budgets WHERE name IN (${marksFor(cells)})`,
    params: namesOf(cells),
  };
}

/** Removes only rows that are long unused, not one that is being renewed. */
function purge(engine: SqlEngine, now: number): void {
  engine.write([sql`DELETE FROM toolcrib_budgets WHERE ends_at <= ${now - DAY_MS}`]).catch(() => undefined); // best effort
}

function marksFor(cells: readonly BudgetCell[]): string {
  return cells.map(() => '?').join(', ');
}

function namesOf(cells: readonly BudgetCell[]): readonly SqlValue[] {
  return cells.map(({ name }) => name);
}
