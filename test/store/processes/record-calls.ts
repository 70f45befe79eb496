import { once } from 'node:events';
import { createCrib, defineTool } from '../../../src/index.ts';

/** Makes calls in a crib of a folder, says how many are on record, and ends: closed, or waiting to be killed. `go-on` waits for a word, and then makes calls until it is killed. */
const [folder = '', count = '0', end = 'close'] = process.argv.slice(2);
const hold = setInterval(() => {}, 1000);
const tools = [
  defineTool({ name: 'add', description: '', input: {}, run: () => 1 }),
  defineTool({
    name: 'pay',
    description: '',
    input: {},
    run: () => {
      console.log('paying');
      return new Promise<never>(() => {});
    },
  }),
];
const crib = await createCrib({ tools, configFile: folder, watch: false });
const chest = await crib.open(undefined, { id: `process ${process.pid}` });
for (let index = 0; index < Number(count); index++) {
  await chest.call('add', { index });
  if (index % 50 === 49) await crib.calls.list({ limit: 1 }); // waits for what was recorded
}
await crib.calls.list({ limit: 1 });
console.log('recorded');
if (end === 'pay') void chest.call('pay', {}, { id: 'the-payment' });
if (end === 'go-on') {
  await once(process.stdin, 'data');
  for (let round = 0; ; round++) {
    await Promise.all(Array.from({ length: 20 }, () => chest.call('add', {})));
    if (round === 0) console.log('goes on');
  }
}
if (end === 'close') {
  await crib.close();
  clearInterval(hold);
}
