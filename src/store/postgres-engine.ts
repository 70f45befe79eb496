import type { Pool, PoolClient } from 'pg';
import { type Dialect, type Engine, type Statement, sql } from './engine.ts';
import { readPostgresUrl, toPostgresError } from './postgres-url.ts';
import { storeUnavailable } from './store-errors.ts';

const MIGRATION_LOCK = 2_742_001;
const LOCKS = { approvals: 2_742_002, repeats: 2_742_003 } as const;
const BIGINT_OID = 20;
const MAX_CONNECTIONS = 8;
const MAX_CONNECT_MS = 10_000;
const MAX_QUERY_MS = 30_000;

const POSTGRES_DIALECT: Dialect = {
  lockMigrations: [sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`],
  lock: (what) => [sql`SELECT pg_advisory_xact_lock(${LOCKS[what]})`],
  tableNamed: (name) =>
    sql`SELECT name FROM (SELECT to_regclass(${name})::text AS name) AS found WHERE name IS NOT NULL`,
};

/** PostgreSQL: any number of processes and machines share it. */
export async function openPostgres(url: string, lockTimeoutMs: number): Promise<Engine> {
  const place = readPostgresUrl(url);
  const pool = await createPool(url);
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;
  const attempt = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    if (closed !== undefined) throw storeUnavailable(place.location, 'is closed');
    const run = withClient(pool, work);
    running.add(run);
    try {
      return await run;
    } catch (error) {
      throw toPostgresError(error, place);
    } finally {
      running.delete(run);
    }
  };
  const close = async () => {
    await Promise.allSettled(running); // a pool that ends forgets who waits for a connection
    await pool.end();
  };
  return {
    name: 'postgres',
    location: place.location,
    dialect: POSTGRES_DIALECT,
    read: (statement) => attempt(async (client) => (await client.query(toQuery(statement))).rows),
    write: (statements) =>
      attempt(async (client) => {
        // Each statement sees what was committed before it, also what a transaction did that held its lock.
        await client.query(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = ${lockTimeoutMs}`);
        const rows = [];
        for (const statement of statements) rows.push((await client.query(toQuery(statement))).rows);
        await client.query('COMMIT');
        return rows;
      }),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

async function createPool(connectionString: string): Promise<Pool> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: MAX_CONNECT_MS,
    max: MAX_CONNECTIONS,
    query_timeout: MAX_QUERY_MS,
    application_name: 'toolcrib',
    keepAlive: true,
    allowExitOnIdle: true,
    types: {
      getTypeParser: (oid, format) => (oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format)), // ours stay under 2^53
    },
  });
  // A connection that breaks says so twice: to whoever uses it, and as an event that would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', () => undefined);
  return pool;
}

/** A connection on which something failed is not used again: its transaction ends with it. */
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

function toQuery({ sql: text, params }: Statement): { text: string; values: unknown[] } {
  let count = 0;
  return { text: text.replaceAll('?', () => `$${++count}`), values: [...params] };
}
