import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, expect, it, vi } from 'vitest';
import { createDeadlines } from '../../src/system/deadlines.ts';

afterEach(() => vi.useRealTimers());

function fakeTime(): void {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
}

it('tasks run when they are due, in the order of their times', () => {
  fakeTime();
  const { setTimer } = createDeadlines();
  const ran: string[] = [];
  setTimer(100, () => ran.push('a at 100'));
  setTimer(40, () => ran.push('b at 40'));
  vi.advanceTimersByTime(60);
  expect(ran).toEqual(['b at 40']);
  setTimer(100, () => ran.push('c at 160'));
  setTimer(40, () => ran.push('d at 100'));
  vi.advanceTimersByTime(39);
  expect(ran).toEqual(['b at 40']);
  vi.advanceTimersByTime(1);
  expect(ran.toSorted()).toEqual(['a at 100', 'b at 40', 'd at 100']);
  vi.advanceTimersByTime(59);
  expect(ran).toHaveLength(3);
  vi.advanceTimersByTime(1);
  expect(ran.at(-1)).toBe('c at 160');
});

it('a timer of Node that fires early runs no task', () => {
  fakeTime();
  let fire = (): void => {};
  vi.stubGlobal('setTimeout', (task: () => void) => {
    fire = task;
    return { ref: () => {}, unref: () => {} }; // only these are used
  });
  const task = vi.fn();
  createDeadlines().setTimer(50, task);
  vi.unstubAllGlobals(); // before the real timers are back, or it would bring back the fake ones
  vi.advanceTimersByTime(49.5);
  fire();
  expect(task).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(task).toHaveBeenCalledOnce();
});

it('a stopped task does not run, and the others do', () => {
  fakeTime();
  const { setTimer } = createDeadlines();
  const ran: number[] = [];
  const stops = Array.from({ length: 5 }, (_, index) => setTimer(10, () => ran.push(index)));
  for (const index of [0, 2, 4]) stops[index]?.();
  stops[2]?.();
  vi.advanceTimersByTime(10);
  expect(ran).toEqual([1, 3]);
});

it('a task that throws does not keep the others from running', () => {
  fakeTime();
  const { setTimer } = createDeadlines();
  const task = vi.fn();
  setTimer(10, () => {
    throw new Error('broken');
  });
  setTimer(10, task);
  expect(() => vi.advanceTimersByTime(10)).toThrow('broken');
  vi.advanceTimersByTime(1);
  expect(task).toHaveBeenCalledOnce();
});

it('the process stays alive while a task waits, and no longer', () => {
  const { setTimer } = createDeadlines();
  const running = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = running();
  const stop = setTimer(60_000, () => {});
  expect(running()).toBe(before + 1);
  stop();
  expect(running()).toBe(before);
  const again = setTimer(60_000, () => {}); // the timer is there already
  expect(running()).toBe(before + 1);
  again();
  expect(running()).toBe(before);
});

it('a task never runs in the context of another one', async () => {
  const { setTimer } = createDeadlines();
  const context = new AsyncLocalStorage<string>();
  const seen = new Promise((resolve) => {
    context.run('alice', () => setTimer(5, () => {}));
    context.run('bob', () => setTimer(5, () => resolve(context.getStore())));
  });
  expect(await seen).toBeUndefined();
});

it('any number of delays keeps few timers', () => {
  fakeTime();
  const { setTimer } = createDeadlines();
  for (let delayMs = 1000; delayMs < 3000; delayMs++) setTimer(delayMs, () => {})();
  expect(vi.getTimerCount()).toBeLessThan(50);
});
