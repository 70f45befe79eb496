import { openStore } from '../../../src/store/open-store.ts';

/** Writes twice and ends without closing: once waited for, once not. */
const [url = ''] = process.argv.slice(2);
const store = await openStore({ url, env: {} });
await store.specs.put({ name: 'waited_for' }, 'alice');
void store.specs.put({ name: 'not_waited_for' }, 'alice');
