import { failureError, storeUnavailable, toStoreError } from '../store-errors.ts';
import type { Engine } from './engine.ts';
import { commitGroups, createSession } from './group-commit.ts';
import { SQLITE_DIALECT } from './sqlite-engine.ts';

const LOCATION = 'in memory';

/** SQLite in memory: the same statements, and nothing to wait for. */
export async function openMemory(): Promise<Engine> {
  const { DatabaseSync } = await import('node:sqlite');
  const session = createSession(new DatabaseSync(':memory:'));
  const requireOpen = () => {
    if (!session.database.isOpen) throw storeUnavailable(LOCATION, 'is closed');
  };
  const read: Engine['read'] = async ({ sql, params }) => {
    requireOpen();
    try {
      return session.prepare(sql).run(params);
    } catch (error) {
      throw toStoreError(error, LOCATION);
    }
  };
  const write: Engine['write'] = async (statements) => {
    requireOpen();
    const [outcome] = commitGroups(session, [{ id: 0, statements }]);
    if (outcome === undefined) return [];
    if ('rows' in outcome) return outcome.rows;
    throw failureError(outcome.failure, LOCATION);
  };
  return {
    name: 'memory',
    location: LOCATION,
    dialect: SQLITE_DIALECT,
    read,
    scan: read, // what is in memory is small
    write,
    writeSlowly: write,
    close: async () => {
      if (session.database.isOpen) session.database.close();
    },
  };
}
