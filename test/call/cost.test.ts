import { expect, it, onTestFinished } from 'vitest';
import { createCrib } from '../../src/index.ts';

/** Long rounds: on a busy machine the system advances the CPU time of a thread by milliseconds. */
const CALLS = 4000;
const ROUNDS = 12;
const WARM_UP_ROUNDS = 4;
const numbers = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const;

/** A known piece of work: JSON there and back, a few closures, a few promises. */
async function referenceWork(): Promise<unknown> {
  let value: unknown = { a: 1, texts: ['one', 'two', 'three'] };
  for (let round = 0; round < 4; round++) value = await Promise.resolve(JSON.parse(JSON.stringify(value)));
  return value;
}

/** CPU time of this thread for the work, in microseconds. Other programs and threads do not count. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  for (let call = 0; call < CALLS; call++) await work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

/** How much CPU one call takes, as a multiple of the reference. Both take turns, so that a noisy moment hits both. */
async function ratioOf(work: () => Promise<unknown>): Promise<number> {
  const sums = { work: 0, reference: 0 };
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const times = { work: await cpuOf(work), reference: await cpuOf(referenceWork) };
    if (round < 0) continue;
    sums.work += times.work;
    sums.reference += times.reference;
  }
  return sums.work / sums.reference;
}

// `npm run bench -- call` has the figures. These bounds are three times what was measured, so that no busy machine fails
// them: only what multiplies the cost does, such as a copy of the tools or a search among them in every call.
it.each([
  ['as a crib comes', {}, 1, 3],
  [
    'under guards',
    {
      effects: { readOnly: true },
      policy: {
        rates: [{ scope: 'caller', amount: 1e12, perMs: 1000 }],
        concurrency: [{ scope: 'tool', amount: 100 }],
      },
    },
    1,
    4.5,
  ],
  ['among 10,000 tools', {}, 10_000, 3],
] as const)('the CPU time of a call %s stays within its bound', async (_, guards, count, bound) => {
  const run = async ({ a }: { a: number }) => a;
  const tools = Array.from({ length: count }, (_, index) => ({
    ...guards,
    name: `tool_${index}`,
    description: 'Returns a number',
    input: numbers,
    run,
  }));
  const crib = await createCrib({ tools });
  onTestFinished(() => crib.close());
  const chest = await crib.open(undefined, { id: 'alice' });
  const ratio = await ratioOf(() => chest.call('tool_0', { a: 1 }));
  expect(ratio).toBeLessThan(bound);
});
