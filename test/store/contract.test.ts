import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openEngine } from '../../src/store/engines/open-engine.ts';
import { sql } from '../../src/store/engines/sql-engine.ts';
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

describe('after a power loss', () => {
  it('a durable write is kept; other writes do not wait for the disk', async () => {
    const { engine } = await openEngine({ url: await places.sqlite(), env: {} });
    onTestFinished(() => engine.close());
    const level = sql`SELECT synchronous FROM pragma_synchronous`;
    const FULL = 2;
    const levels = [
      await engine.write([level]),
      await engine.write([level], 'power loss'),
      await engine.write([level]),
    ];
    expect(levels.map(([rows]) => rows?.[0]?.synchronous)).toEqual([1, FULL, 1]);
  });
});
