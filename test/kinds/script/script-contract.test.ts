import { equal, match } from 'node:assert/strict';
import { describe, test } from 'vitest';
import { scriptExecutor } from '../../../src/kinds/script/script-executor.ts';
import { idleClock, systemClock } from '../../../src/system/clock.ts';
import { executorContract } from '../../../src/testing/index.ts';

const run = (fields: object) => ({ kind: 'script', ...fields });
let arrived = Promise.withResolvers<void>();
const input = { n: 2 };
/** A script is watched from the moment on at which its thread has it. */
const clock = {
  now: systemClock.now,
  setTimer(delayMs: number, task: () => void) {
    arrived.resolve();
    arrived = Promise.withResolvers();
    return systemClock.setTimer(delayMs, task);
  },
};

describe('the script executor', () => {
  const contract = executorContract({
    create: () => scriptExecutor({ folder: import.meta.dirname, clock, idleClock, options: () => ({ cpuMs: 5000 }) }),
    works: [
      { run: run({ code: 'return input.n * 2' }), input, expect: ({ data }) => equal(data, 4) },
      { run: run({ code: 'return [input.n]' }), input, expect: ({ data }) => equal(JSON.stringify(data), '[2]') },
    ],
    fails: [
      {
        run: run({ code: 'throw new Error("no")' }),
        expect: (result) => match(JSON.stringify(result), /tool_error.*no/),
      },
      { run: run({ file: './no-such-file.js' }), expect: (result) => match(JSON.stringify(result), /unavailable/) },
    ],
    hangs: {
      run: run({ code: 'for (;;);' }),
      begun: () => arrived.promise,
      isGone: () => true,
    },
    badRuns: [
      { what: 'neither code nor file', run: run({}) },
      { what: 'both', run: run({ code: 'return 1', file: './a.js' }) },
      { what: 'code that is not text', run: run({ code: ['return 1'] }) },
    ],
    unspeakable: [import.meta.dirname],
  });
  for (const { name, run: check } of contract) test(name, check);
});
