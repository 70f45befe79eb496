import type { NewApproval } from '../../../src/core/ports/stored-approvals.ts';
import { DEFAULT_KEEP_BOUNDS } from '../../../src/core/ports/stored-results.ts';
import { openStore } from '../../../src/store/open-store.ts';

/** Parks calls of one caller and takes idempotency keys, as many at once as it is told, and says how many of each were let in. */
const [url = '', name = '', count = '0', most = '0'] = process.argv.slice(2);
const bounds = { ...DEFAULT_KEEP_BOUNDS, maxPerCaller: Number(most) };
const store = await openStore({ url, env: {}, lockTimeoutMs: 30_000 });
const names = Array.from({ length: Number(count) }, (_, index) => `${name} ${index}`);
const payment = (argumentsHash: string): NewApproval => ({
  callerId: 'alice',
  callerHash: 'caller',
  profile: 'desk',
  tool: 'pay',
  definitionHash: 'definition',
  argumentsHash,
  reason: 'it is destructive',
  ground: 'destructive',
  description: 'Pays',
  arguments: { amount: 3 },
  caller: { id: 'alice' },
  door: 'cli',
  approvers: [],
  isParked: true,
  lifetimeMs: 300_000,
  unlisted: { caller: { id: 'alice' } },
});
const parked = await Promise.all(names.map((hash) => store.approvals.add(payment(hash), bounds)));
const keeping = { owner: 'alice', bounds };
const taken = await Promise.all(
  names.map((key) => store.repeats.begin(key, { id: key, argumentsHash: '', keepMs: 60_000, keeping })),
);
console.log(parked.filter(({ ok }) => ok).length, taken.filter(({ state }) => state === 'new').length);
await store.close();
