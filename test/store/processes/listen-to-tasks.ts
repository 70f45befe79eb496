import { openStore } from '../../../src/store/open-store.ts';

/** Listens to tasks and does nothing else; with `close`, it closes the store, otherwise it just ends. */
const [url = '', how] = process.argv.slice(2);
const store = await openStore({ url, env: {} });
store.tasks.onChange(() => undefined);
await store.tasks.counts();
if (how === 'close') await store.close();
process.stdout.write('ended\n');
