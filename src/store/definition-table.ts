import { hash as hashOf } from 'node:crypto';
import type { JsonObject } from '../core/json.ts';
import {
  MOST_DEFINITIONS,
  MOST_DEFINITIONS_IN_ALL,
  MOST_LABELS,
  MOST_OF_SOURCE,
  type SeenDefinition,
  type StoredDefinitions,
  type StoredLabel,
  type StoredLabels,
} from '../core/ports/stored-definitions.ts';
import { jsonOf, numberOf, type Row, type SqlEngine, type Statement, sql, textOf } from './engines/sql-engine.ts';

/** Definitions that were not seen for this time are removed. */
const KEPT_MS = 365 * 86_400_000;
/** Statements in one transaction. */
const AT_ONCE = 200;

/** The size of added definitions after which those of each source are measured again. A row counts as a thousand bytes at least. */
const MEASURED_EVERY = { bytes: 8_000_000, row: 1000 } as const;

/** Removes the oldest definitions of sources that have too many, or too large ones. */
const REMOVE_BEYOND_SOURCE = sql`
  DELETE FROM toolcrib_definitions WHERE (tool, hash) IN (
    SELECT tool, hash FROM (
      SELECT tool, hash, SUM(octet_length(definition)) OVER newest AS bytes, ROW_NUMBER() OVER newest AS place
      FROM toolcrib_definitions
      WINDOW newest AS (PARTITION BY source ORDER BY last_seen DESC, first_seen DESC, tool, hash)) AS measured
    WHERE bytes > ${MOST_OF_SOURCE.bytes} OR place > ${MOST_OF_SOURCE.definitions})`;

/** Statements that create the tables of definitions and labels. */
export const CREATE_DEFINITIONS = [
  `CREATE TABLE toolcrib_definitions (
    tool TEXT NOT NULL, hash TEXT NOT NULL, source TEXT NOT NULL, first_seen BIGINT NOT NULL, last_seen BIGINT NOT NULL,
    definition TEXT NOT NULL, PRIMARY KEY (tool, hash))`,
  'CREATE INDEX toolcrib_definitions_by_time ON toolcrib_definitions (last_seen)',
  `CREATE TABLE toolcrib_labels (
    id TEXT PRIMARY KEY, query TEXT NOT NULL, relevant TEXT NOT NULL, made_by TEXT NOT NULL, made_at BIGINT NOT NULL)`,
];

/** Definitions of tools, in an engine. */
export function definitions(engine: SqlEngine, now: () => number): StoredDefinitions {
  const writeAll = async (statements: readonly Statement[]): Promise<void> => {
    for (let start = 0; start < statements.length; start += AT_ONCE)
      await engine.write(statements.slice(start, start + AT_ONCE));
  };
  let unmeasured: number = MEASURED_EVERY.bytes; // the first addition of a process measures
  return {
    seen: async () => {
      const rows = await engine.scan(sql`SELECT tool, hash, last_seen FROM toolcrib_definitions`);
      return rows.map((row) => ({
        tool: textOf(row, 'tool'),
        hash: textOf(row, 'hash'),
        lastSeen: numberOf(row, 'last_seen'),
      }));
    },
    add: async (added) => {
      const at = now();
      const texts = added.map(({ definition }) => JSON.stringify(definition));
      const inserts = added.map(
        ({ tool, hash, source }, index) => sql`
          INSERT INTO toolcrib_definitions (tool, hash, source, first_seen, last_seen, definition)
          VALUES (${tool}, ${hash}, ${source}, ${at}, ${at}, ${texts[index] ?? ''})
          ON CONFLICT (tool, hash) DO UPDATE SET last_seen = excluded.last_seen`,
      );
      for (const { length } of texts) unmeasured += Math.max(length, MEASURED_EVERY.row);
      const measure = unmeasured > MEASURED_EVERY.bytes;
      const limits = [...new Set(added.map(({ tool }) => tool))].map(
        (tool) => sql`
          DELETE FROM toolcrib_definitions WHERE tool = ${tool} AND hash NOT IN (
            SELECT hash FROM toolcrib_definitions WHERE tool = ${tool}
            ORDER BY last_seen DESC, first_seen DESC, hash LIMIT ${MOST_DEFINITIONS})`,
      );
      await writeAll([
        ...inserts,
        ...limits,
        sql`DELETE FROM toolcrib_definitions WHERE last_seen < ${at - KEPT_MS}`,
        sql`
          DELETE FROM toolcrib_definitions WHERE last_seen < (
            SELECT last_seen FROM toolcrib_definitions ORDER BY last_seen DESC LIMIT 1 OFFSET ${MOST_DEFINITIONS_IN_ALL - 1})`,
        ...(measure ? [REMOVE_BEYOND_SOURCE] : []),
      ]);
      if (measure) unmeasured = 0;
    },
    touch: async (touched) => {
      const at = now();
      await writeAll(
        touched.map(
          ({ tool, hash }) => sql`
            UPDATE toolcrib_definitions SET last_seen = ${at}
            WHERE tool = ${tool} AND hash = ${hash} AND last_seen < ${at}`,
        ),
      );
    },
    of: async (tool) => {
      const rows = await engine.read(sql`SELECT * FROM toolcrib_definitions WHERE tool = ${tool}`);
      return rows.map(toSeen).sort((a, b) => b.lastSeen - a.lastSeen || b.firstSeen - a.firstSeen);
    },
  };
}

function toSeen(row: Row): SeenDefinition {
  return {
    tool: textOf(row, 'tool'),
    hash: textOf(row, 'hash'),
    source: textOf(row, 'source'),
    definition: jsonOf(row, 'definition') as JsonObject, // only objects are written
    firstSeen: numberOf(row, 'first_seen'),
    lastSeen: numberOf(row, 'last_seen'),
  };
}

/** Labels for measuring search, in an engine. The id is a hash of the request, so each request has one label. */
export function labels(engine: SqlEngine, now: () => number): StoredLabels {
  return {
    list: async () => {
      const rows = await engine.read(sql`SELECT * FROM toolcrib_labels ORDER BY made_at DESC, id`);
      return rows.map(toLabel);
    },
    put: async ({ query, relevant, by }) => {
      const id = hashOf('sha256', query).slice(0, 16);
      const [rows] = await engine.write([
        sql`
          INSERT INTO toolcrib_labels (id, query, relevant, made_by, made_at)
          SELECT ${id}, ${query}, ${JSON.stringify(relevant)}, ${by}, ${now()}
          WHERE (SELECT count(*) FROM toolcrib_labels WHERE id <> ${id}) < ${MOST_LABELS}
          ON CONFLICT (id) DO UPDATE SET
            relevant = excluded.relevant, made_by = excluded.made_by, made_at = excluded.made_at
          RETURNING *`,
      ]);
      const row = rows?.[0];
      return row === undefined ? undefined : toLabel(row);
    },
    remove: async (id) => {
      const [rows] = await engine.write([sql`DELETE FROM toolcrib_labels WHERE id = ${id} RETURNING id`]);
      return rows?.length === 1;
    },
  };
}

function toLabel(row: Row): StoredLabel {
  return {
    id: textOf(row, 'id'),
    query: textOf(row, 'query'),
    relevant: jsonOf(row, 'relevant') as readonly string[], // only lists of texts are written
    by: textOf(row, 'made_by'),
    at: numberOf(row, 'made_at'),
  };
}
