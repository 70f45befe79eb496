import { openStore } from '../../../src/store/open-store.ts';

/** Uses a remembered approval, as often at once as it is told, and says how often it could. */
const [url = '', id = '', count = '0'] = process.argv.slice(2);
const store = await openStore({ url, env: {}, lockTimeoutMs: 30_000 });
const used = await Promise.all(Array.from({ length: Number(count) }, () => store.approvals.useGrant(id)));
console.log(used.filter(Boolean).length);
await store.close();
