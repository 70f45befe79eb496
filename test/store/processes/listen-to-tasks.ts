import { openStore } from '../../../src/store/open-store.ts';

const [url = ''] = process.argv.slice(2);
const store = await openStore({ url, env: {} });
store.tasks.onChange(() => undefined);
await store.tasks.counts();
