import { describe, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openStore, type StoreOptions } from '../../src/store/open-store.ts';
import { missingPackage, sharedPostgres } from './postgres-server.ts';
import { tasksContract } from './tasks-contract.ts';

const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(`tasks on ${title}`, { timeout: 30_000 }, () => {
  const server = sharedPostgres();
  const place = () => server.createStore();
  const opened = async (options: Partial<StoreOptions> = {}): Promise<Store> => {
    const store = await openStore({ url: await place(), env: {}, ...options });
    onTestFinished(() => store.close());
    return store;
  };

  tasksContract(opened, place);
});
