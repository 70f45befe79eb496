import { ToolcribError } from '../core/tool-error.ts';
import { type Engine, numberOf, sql } from './engine.ts';

/** The schema, step by step. Steps are only added: one that was released never changes, and nothing goes back. */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    'CREATE TABLE toolcrib_versions (name TEXT PRIMARY KEY, version BIGINT NOT NULL)',
    `CREATE TABLE toolcrib_specs (
      name TEXT PRIMARY KEY, spec TEXT NOT NULL, changed_by TEXT NOT NULL, changed_at BIGINT NOT NULL)`,
    `CREATE TABLE toolcrib_spec_history (
      version BIGINT PRIMARY KEY, name TEXT NOT NULL, what TEXT NOT NULL, spec TEXT NOT NULL,
      changed_by TEXT NOT NULL, changed_at BIGINT NOT NULL)`,
    'CREATE INDEX toolcrib_spec_history_of_name ON toolcrib_spec_history (name, version)',
    'CREATE TABLE toolcrib_lists (source TEXT PRIMARY KEY, hash TEXT NOT NULL, specs TEXT NOT NULL, listed_at BIGINT NOT NULL)',
    `CREATE TABLE toolcrib_active_sets (
      profile TEXT PRIMARY KEY, names TEXT NOT NULL, changed_by TEXT NOT NULL, changed_at BIGINT NOT NULL)`,
  ],
];

/** Brings the schema up to date, each step once however many processes start; refuses what a newer version wrote. */
export async function migrate(engine: Engine, steps = MIGRATIONS): Promise<void> {
  for (;;) {
    const version = await schemaVersion(engine);
    if (version > steps.length) throw tooNew(engine.location, version, steps.length);
    const next = steps[version];
    if (next === undefined) return;
    await applyStep(engine, version + 1, next);
  }
}

async function schemaVersion(engine: Engine): Promise<number> {
  const found = await engine.read(engine.dialect.tableNamed('toolcrib_migrations'));
  if (found.length === 0) return 0;
  const [row] = await engine.read(sql`SELECT coalesce(max(id), 0) AS version FROM toolcrib_migrations`);
  return row === undefined ? 0 : numberOf(row, 'version');
}

/** The primary key lets a step in once: whoever comes second is rolled back and finds it done. */
async function applyStep(engine: Engine, id: number, texts: readonly string[]): Promise<void> {
  try {
    await engine.write([
      ...engine.dialect.lockMigrations,
      sql`CREATE TABLE IF NOT EXISTS toolcrib_migrations (id BIGINT PRIMARY KEY)`,
      sql`INSERT INTO toolcrib_migrations (id) VALUES (${id})`,
      ...texts.map((text) => ({ sql: text, params: [] })),
    ]);
  } catch (error) {
    if ((await schemaVersion(engine)) < id) throw error;
  }
}

function tooNew(location: string, version: number, known: number): ToolcribError {
  const message = `The store ${location} was written by a newer version of Toolcrib (schema ${version}, this one knows ${known}); update Toolcrib or name another store under store.url.`;
  return new ToolcribError('store_too_new', message);
}
