import { OPENINGS } from '../call-contenders.ts';
import { microsecondsOf } from '../measure.ts';

/** CPU time of the process for the first call and for each of the first hundred, of the contender that is named. */
const opening = OPENINGS.find(({ name }) => name === process.argv[2]);
if (opening === undefined) throw new Error(`no contender is named "${process.argv[2]}"`);
const CALLS = 100;

const run = await opening.open();
const before = process.cpuUsage();
await run();
const first = microsecondsOf(process.cpuUsage(before));
for (let index = 1; index < CALLS; index++) await run();
console.log(JSON.stringify({ first, hundred: microsecondsOf(process.cpuUsage(before)) / CALLS }));
process.exit();
