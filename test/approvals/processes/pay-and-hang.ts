import { createCrib } from '../../../src/index.ts';
import { bank, PAY } from '../payments.ts';

/** Takes up an approved payment, says so, and never ends. */
const [url = '', approvalId = ''] = process.argv.slice(2);
const hang = bank((call) => {
  console.log(`paying ${JSON.stringify(call.input)}`);
  return new Promise(() => setInterval(() => undefined, 1000));
});
const crib = await createCrib({ config: {}, store: { url }, tools: [PAY], executors: [hang] });
const chest = await crib.open(undefined, { id: 'alice', roles: ['dev'] });
console.log(JSON.stringify(await chest.call('pay', { amount: 3 }, { approvalId })));
