import { copyJson, type JsonObject } from '../core/json.ts';
import type { SpecChange, StoredSpec, StoredSpecs } from '../core/ports/store.ts';
import { isToolName, requireToolName } from '../core/tool-spec.ts';
import { jsonOf, numberOf, type Row, type SqlEngine, type Statement, sql, textOf } from './engines/sql-engine.ts';

/** The first statement of every change: it increments the version and locks out other writers. */
const NEXT_VERSION = sql`
  INSERT INTO toolcrib_versions (name, version) VALUES ('specs', 1)
  ON CONFLICT (name) DO UPDATE SET version = toolcrib_versions.version + 1`;

/** Specs and their history, in an engine. */
export function specs(engine: SqlEngine, now: () => number): StoredSpecs {
  return {
    list: async () => {
      const rows = await engine.read(sql`SELECT name, spec, changed_by, changed_at FROM toolcrib_specs`);
      return rows.map(toStoredSpec).sort((a, b) => (a.name < b.name ? -1 : 1)); // engines collate differently
    },
    put: async (spec, by) => (await putSpecs(engine, [spec], { by, at: now() }))[0] ?? 'unchanged',
    putAll: async (list, by) => (list.length === 0 ? [] : putSpecs(engine, list, { by, at: now() })),
    // Other names cannot be stored, and PostgreSQL cannot even query some of them.
    remove: async (name, by) => isToolName(name) && removeSpec(engine, name, { by, at: now() }),
    history: async (name) => {
      if (!isToolName(name)) return [];
      const rows = await engine.read(sql`
        SELECT what, spec, changed_by, changed_at FROM toolcrib_spec_history WHERE name = ${name} ORDER BY version`);
      return rows.map(toSpecChange);
    },
    version: async () => {
      const [row] = await engine.read(sql`SELECT version FROM toolcrib_versions WHERE name = 'specs'`);
      return row === undefined ? '0' : String(numberOf(row, 'version'));
    },
  };
}

interface Signature {
  readonly by: string;
  readonly at: number;
}

type Change = 'added' | 'changed' | 'unchanged';

async function putSpecs(engine: SqlEngine, specs: readonly JsonObject[], signature: Signature): Promise<Change[]> {
  const groups = specs.map((spec) => putStatements(spec, signature));
  const rows = await engine.write(groups.flat());
  return groups.map((group, index) => changeIn(rows[index * group.length + 1]?.[0]));
}

function putStatements(spec: JsonObject, { by, at }: Signature): readonly Statement[] {
  const { name } = spec;
  requireToolName(name);
  const text = JSON.stringify(copyJson(spec));
  return [
    NEXT_VERSION,
    sql`
      INSERT INTO toolcrib_spec_history (version, name, what, spec, changed_by, changed_at)
      SELECT version, ${name},
        CASE WHEN EXISTS (SELECT 1 FROM toolcrib_specs WHERE name = ${name}) THEN 'changed' ELSE 'added' END,
        ${text}, ${by}, ${at}
      FROM toolcrib_versions
      WHERE name = 'specs' AND NOT EXISTS (SELECT 1 FROM toolcrib_specs WHERE name = ${name} AND spec = ${text})
      RETURNING what`,
    sql`
      INSERT INTO toolcrib_specs (name, spec, changed_by, changed_at) VALUES (${name}, ${text}, ${by}, ${at})
      ON CONFLICT (name) DO UPDATE
      SET spec = excluded.spec, changed_by = excluded.changed_by, changed_at = excluded.changed_at
      WHERE toolcrib_specs.spec <> excluded.spec`,
  ];
}

function changeIn(history: Row | undefined): Change {
  if (history === undefined) return 'unchanged';
  return textOf(history, 'what') === 'added' ? 'added' : 'changed';
}

async function removeSpec(engine: SqlEngine, name: string, { by, at }: Signature): Promise<boolean> {
  const [, , removed] = await engine.write([
    NEXT_VERSION,
    sql`
      INSERT INTO toolcrib_spec_history (version, name, what, spec, changed_by, changed_at)
      SELECT toolcrib_versions.version, toolcrib_specs.name, 'removed', toolcrib_specs.spec, ${by}, ${at}
      FROM toolcrib_versions, toolcrib_specs
      WHERE toolcrib_versions.name = 'specs' AND toolcrib_specs.name = ${name}`,
    sql`DELETE FROM toolcrib_specs WHERE name = ${name} RETURNING name`,
  ]);
  return removed?.length === 1;
}

function toStoredSpec(row: Row): StoredSpec {
  return {
    name: textOf(row, 'name'),
    spec: specOf(row),
    by: textOf(row, 'changed_by'),
    at: numberOf(row, 'changed_at'),
  };
}

function toSpecChange(row: Row): SpecChange {
  const what = textOf(row, 'what') as SpecChange['what']; // only these three values are written
  return { what, spec: specOf(row), by: textOf(row, 'changed_by'), at: numberOf(row, 'changed_at') };
}

function specOf(row: Row): JsonObject {
  return jsonOf(row, 'spec') as JsonObject; // only objects are written
}
