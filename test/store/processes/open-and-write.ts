import { openStore } from '../../../src/store/open-store.ts';

/** Opens a store, writes, and prints what came of it as JSON. */
const [url, configFolder, home] = process.argv.slice(2);
try {
  const store = await openStore({ url: url === '' ? undefined : url, configFolder, env: { HOME: home } });
  await store.activeSets.put('assistant', ['files'], 'alice');
  console.log(JSON.stringify(await store.status()));
  await store.close();
} catch (error) {
  console.log(JSON.stringify({ ...Object(error), message: String(error) }));
}
