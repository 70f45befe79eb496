import type { Pool, PoolClient } from 'pg';
import { createListening, type PostgresNotices } from './postgres-listener.ts';
import { readPostgresUrl, toPostgresError } from './postgres-url.ts';
import {
  noteUncertain,
  type Row,
  type SqlDialect,
  type SqlEngine,
  type Statement,
  sql,
  storeUnavailable,
} from './sql-engine.ts';

const MIGRATION_LOCK = 2_742_001;
const LOCKS = { approvals: 2_742_002, repeats: 2_742_003 } as const;
const BIGINT_OID = 20;
const MAX_CONNECTIONS = 8;
/** Time limit for a call, from requesting a connection to the last row. */
const ANSWER_MS = 5000;
/** Statement timeout on the server. It is shorter than ours, so that a statement that times out is known to have no effect. */
const STATEMENT_MS = 4500;
/** Time limit for reads of many rows. */
const SCAN_MS = 60_000;
/** Time limit for schema changes. */
const MIGRATION_MS = 600_000;
/** For this long after a timeout, further calls have less time (`SHORT_MS`), so that one call does not time out twice. */
const SILENT_MS = 1000;
/** Enough for a server that is back. */
const SHORT_MS = 500;

/** Settings for plans that follow indexes. */
const BY_INDEX = ['sort', 'bitmapscan', 'seqscan', 'hashjoin'].map((way) => `; SET LOCAL enable_${way} = off`).join('');

const POSTGRES_DIALECT: SqlDialect = {
  lockMigrations: [sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`],
  lock: (what) => [sql`SELECT pg_advisory_xact_lock(${LOCKS[what]})`],
  skipLocked: 'FOR UPDATE SKIP LOCKED',
  nowMs: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)',
  tableNamed: (name) =>
    sql`SELECT name FROM (SELECT to_regclass(${name})::text AS name) AS found WHERE name IS NOT NULL`,
};

/** PostgreSQL, shared by any number of processes and machines. */
export async function openPostgres(url: string, lockTimeoutMs: number): Promise<SqlEngine> {
  const place = readPostgresUrl(url);
  const { pool, listening } = await createConnections(url);
  const running = new Set<Promise<unknown>>();
  const silence = createSilence();
  let closed: Promise<void> | undefined;
  const attempt = async <T>(limitMs: number, work: Work<T>, isCommitting = () => false): Promise<T> => {
    if (closed !== undefined) throw storeUnavailable(place.location, 'is closed');
    const run = withinTime(limitMs, { pool, work, silence });
    running.add(run);
    try {
      return await run;
    } catch (error) {
      const told = toPostgresError(error, place);
      if (isCommitting()) noteUncertain(told);
      throw told;
    } finally {
      running.delete(run);
    }
  };
  const read = (limitMs: number, statement: Statement) =>
    attempt(limitMs, async (query) => {
      if (limitMs > ANSWER_MS) await query({ text: `BEGIN; SET LOCAL statement_timeout = ${limitMs}` });
      const rows = await query(toQuery(statement));
      if (limitMs > ANSWER_MS) await query({ text: 'COMMIT' });
      return rows;
    });
  const write = (limitMs: number, statements: readonly Statement[]) => {
    let isCommitting = false;
    const work: Work<readonly (readonly Row[])[]> = async (query) => {
      const lockMs = limitMs > ANSWER_MS ? limitMs : Math.min(lockTimeoutMs, STATEMENT_MS);
      await query({ text: beginText(statements, limitMs, lockMs) });
      const rows = [];
      for (const statement of statements) rows.push(await query(toQuery(statement)));
      isCommitting = true;
      await query({ text: 'COMMIT' });
      return rows;
    };
    return attempt(limitMs, work, () => isCommitting);
  };
  // A pool that ends drops waiting requests.
  const close = () => Promise.allSettled([listening.close(), ...running]).then(() => pool.end());
  return {
    name: 'postgres',
    location: place.location,
    dialect: POSTGRES_DIALECT,
    read: (statement) => read(ANSWER_MS, statement),
    scan: (statement) => read(SCAN_MS, statement),
    write: (statements) => write(ANSWER_MS, statements),
    writeSlowly: (statements) => write(MIGRATION_MS, statements),
    listen: listening.listen,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** Begins a transaction. Each statement sees what was committed before it, including by the transaction that held its lock. */
function beginText(statements: readonly Statement[], limitMs: number, lockMs: number): string {
  const longer = limitMs > ANSWER_MS ? `; SET LOCAL statement_timeout = ${limitMs}` : '';
  const plans = statements.some(({ byIndex }) => byIndex) ? BY_INDEX : '';
  return `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${lockMs}${longer}${plans}`;
}

/** The connections for statements, and those for notifications. */
interface Connections {
  readonly pool: Pool;
  readonly listening: PostgresNotices;
}

async function createConnections(connectionString: string): Promise<Connections> {
  const { default: pg } = await import('pg');
  const options = {
    connectionString,
    connectionTimeoutMillis: ANSWER_MS,
    application_name: 'toolcrib',
    keepAlive: true,
  };
  const pool = new pg.Pool({
    ...options,
    max: MAX_CONNECTIONS,
    allowExitOnIdle: true,
    types: {
      getTypeParser: (oid, format) => (oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format)), // our numbers stay below 2^53
    },
  });
  pool.on('connect', (client) => {
    // A broken connection rejects its query and also emits an event, which would end the process.
    client.on('error', () => undefined);
    // Not as a connection parameter, because connection poolers refuse it.
    client.query(`SET statement_timeout = ${STATEMENT_MS}`).catch(() => undefined); // the next query reports the failure
  });
  pool.on('error', () => undefined);
  return { pool, listening: createListening(() => new pg.Client({ ...options, query_timeout: ANSWER_MS })) };
}

interface Query {
  readonly text: string;
  readonly values?: unknown[];
}

type Work<T> = (query: (query: Query) => Promise<readonly Row[]>) => Promise<T>;

interface Attempt<T> {
  readonly pool: Pool;
  readonly work: Work<T>;
  readonly silence: Silence;
}

/** Runs work with a time limit. Late queries are not sent, so that nothing is committed after the caller gave up. */
async function withinTime<T>(usualMs: number, { pool, work, silence }: Attempt<T>): Promise<T> {
  const limitMs = silence.isNow() ? SHORT_MS : usualMs;
  const begun = performance.now();
  const leftMs = () => Math.max(1, begun + limitMs - performance.now());
  const late = Promise.withResolvers<never>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    silence.note(begun);
    late.reject(timedOut());
  }, limitMs);
  const run = withClient(pool, (client) =>
    work(async (query) => {
      if (isLate) throw timedOut();
      const { rows } = await client.query({ ...query, query_timeout: leftMs() } as Query); // the types lack query_timeout for one query
      silence.heard();
      return rows;
    }),
  );
  try {
    return await Promise.race([run, late.promise]);
  } finally {
    clearTimeout(timer);
    run.catch(() => undefined); // already reported by the race, or too late
  }
}

function timedOut(): Error {
  return Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' });
}

/** Tracks whether the server has timed out and not answered since. */
interface Silence {
  isNow(): boolean;
  heard(): void;
  /** Records a timeout of something that began at this time. */
  note(begun: number): void;
}

function createSilence(): Silence {
  let heardAt = Number.NEGATIVE_INFINITY;
  let silentUntil = Number.NEGATIVE_INFINITY;
  return {
    isNow: () => performance.now() < silentUntil,
    heard() {
      heardAt = performance.now();
      silentUntil = heardAt;
    },
    note(begun) {
      if (heardAt < begun && silentUntil < begun) silentUntil = performance.now() + SILENT_MS;
    },
  };
}

/** A connection on which a query failed is closed, which ends its transaction. */
async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failed = true;
  try {
    const result = await work(client);
    failed = false;
    return result;
  } finally {
    client.release(failed);
  }
}

function toQuery({ sql: text, params }: Statement): Query {
  let count = 0;
  return { text: text.replaceAll('?', () => `$${++count}`), values: [...params] };
}
