import { join } from 'node:path';
import { describe, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openStore, type StoreOptions } from '../../src/store/open-store.ts';
import { lostTasksContract } from './lost-tasks-contract.ts';
import { tasksContract } from './tasks-contract.ts';
import { temporaryFolder } from './temporary-folder.ts';

const places = {
  memory: async () => 'memory:',
  sqlite: async () => `sqlite:${join(temporaryFolder(), 'crib.db')}`,
};

for (const [name, place] of Object.entries(places)) {
  const opened = async (options: Partial<StoreOptions> = {}): Promise<Store> => {
    const store = await openStore({ url: await place(), env: {}, ...options });
    onTestFinished(() => store.close());
    return store;
  };
  describe(`tasks on ${name}`, { timeout: 30_000 }, () => {
    tasksContract(opened, place);
    if (name === 'sqlite') describe('of a process that is gone', () => lostTasksContract(opened, place));
  });
}
