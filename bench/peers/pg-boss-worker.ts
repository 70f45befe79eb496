import { PgBoss } from 'pg-boss';

/** Runs the jobs of a queue, this many at once. */
const [url = '', queue = '', batchSize = ''] = process.argv.slice(2);
const boss = new PgBoss({ connectionString: url, useListenNotify: true, application_name: 'pg-boss' });
boss.on('error', (error) => console.error(error.message));
await boss.start();
// A full batch makes it fetch the next one at once; after another one it waits for a notification.
const options = {
  batchSize: Number(batchSize),
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5,
  notifyPollingIntervalSeconds: 0.5,
};
let count = 0;
await boss.work<{ number: number }>(queue, options, async (jobs) => {
  const began = process.hrtime.bigint();
  for (const { data } of jobs) process.send?.([data.number, ++count, began.toString()]);
});
process.send?.('ready');
process.on('disconnect', () => process.exit(0));
