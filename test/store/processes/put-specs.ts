import { openStore } from '../../../src/store/open-store.ts';

/** Puts specs one after the other into a store and says the name of each that is confirmed. */
const [url = '', prefix = '', count = '0'] = process.argv.slice(2);
const store = await openStore({ url, env: {}, lockTimeoutMs: 30_000 });
for (let index = 0; index < Number(count); index++) {
  const name = `${prefix}_${index}`;
  await store.specs.put({ name, description: 'x'.repeat(500) }, prefix);
  console.log(name);
}
await store.close();
