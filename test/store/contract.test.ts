import { join } from 'node:path';
import { describe } from 'vitest';
import { engineContract } from './engine-contract.ts';
import { storeContract } from './store-contract.ts';
import { temporaryFolder } from './temporary-folder.ts';

const places = {
  memory: async () => 'memory:',
  sqlite: async () => `sqlite:${join(temporaryFolder(), 'crib.db')}`,
};

for (const [name, place] of Object.entries(places)) {
  describe(`the store on ${name}`, () => storeContract(place));
  describe(`the engine ${name}`, () => engineContract(place));
}
