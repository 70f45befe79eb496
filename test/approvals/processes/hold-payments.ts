import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createCrib } from '../../../src/index.ts';
import { bank, PAY } from '../payments.ts';

/**
 * Serves what was approved and makes a payment with a key. Each payment is written down before it is held; it ends when a
 * line says so.
 */
const [url = '', notes = '', folder = ''] = process.argv.slice(2);
const released = Promise.withResolvers<void>();
createInterface({ input: process.stdin }).on('line', () => released.resolve());
const held = bank(async (call) => {
  appendFileSync(notes, `${call.id}\n`);
  console.log(`paying ${call.id}`);
  await released.promise;
});
const FREE = { ...PAY, name: 'pay_free', effects: {}, policy: { approval: 'never' } } as const;
const crib = await createCrib({ configFile: folder, store: { url }, tools: [PAY, FREE], executors: [held] });
crib.runParked();
const chest = await crib.open(undefined, { id: 'alice' });
const keyed = chest.call('pay_free', { amount: 5 }, { id: 'keyed', idempotencyKey: 'order', timeoutMs: 600_000 });
console.log(JSON.stringify(await keyed));
