import { expect, it } from 'vitest';
import { createStartQueue, type LeavePlace } from '../../../src/system/processes/start-queue.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Enters a queue, and knows whether there was a place. */
function entering(queue: ReturnType<typeof createStartQueue>) {
  const closing = new AbortController();
  const urgent = Promise.withResolvers<void>();
  let leave: LeavePlace | undefined;
  const entered = queue.enter({ signal: closing.signal, isUrgent: urgent.promise }).then((next) => {
    leave = next;
  });
  entered.catch(() => {}); // the test awaits it elsewhere
  return {
    entered,
    hasPlace: () => leave !== undefined,
    leave: () => leave?.(),
    hurry: () => urgent.resolve(),
    abort: () => closing.abort(new Error('closed')),
  };
}

it('at least two start at once, the next when one of them ends, in their order', async () => {
  const queue = createStartQueue(2);
  const all = Array.from({ length: 5 }, () => entering(queue));
  const started = () => all.map(({ hasPlace }) => hasPlace());
  await settle();
  expect(started()).toEqual([true, true, false, false, false]);
  all[1]?.leave();
  all[1]?.leave(); // twice is once
  await settle();
  expect(started()).toEqual([true, true, true, false, false]);
  all[0]?.leave();
  all[2]?.leave();
  await settle();
  expect(started()).toEqual([true, true, true, true, true]);
});

it('there are as many places as cores, and never fewer than two', async () => {
  const queue = createStartQueue();
  const all = Array.from({ length: 2 }, () => entering(queue));
  await settle();
  expect(all.every(({ hasPlace }) => hasPlace())).toBe(true);
});

it('one that a caller waits for starts at once, and counts', async () => {
  const queue = createStartQueue(1);
  const [first, second, third] = [entering(queue), entering(queue), entering(queue)];
  third.hurry();
  await settle();
  expect([second.hasPlace(), third.hasPlace()]).toEqual([false, true]);
  first.leave();
  await settle();
  expect(second.hasPlace()).toBe(false);
  third.leave();
  await settle();
  expect(second.hasPlace()).toBe(true);
});

it('a cancelled one leaves the queue', async () => {
  const queue = createStartQueue(1);
  const [first, second, third] = [entering(queue), entering(queue), entering(queue)];
  second.abort();
  await expect(second.entered).rejects.toThrow('closed');
  first.leave();
  await settle();
  expect([second.hasPlace(), third.hasPlace()]).toEqual([false, true]);
});
