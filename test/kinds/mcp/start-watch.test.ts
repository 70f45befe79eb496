import { describe, expect, it } from 'vitest';
import { describeStart, type StartPhase, watchStart } from '../../../src/kinds/mcp/start-watch.ts';
import { manualClock } from '../../crib/manual-clock.ts';

const MINUTE_MS = 60_000;

/** A start in a time that stands still, of a program that does what it is told. */
function starting(timeoutMs = MINUTE_MS) {
  const clock = manualClock();
  const phases: StartPhase[] = [];
  const over: string[] = [];
  let printed = '';
  let onOutput = () => {};
  let onWork = () => {};
  let watched = 0;
  const watch = watchStart({
    timeoutMs,
    clock,
    progress: {
      watch(_family, onProgress) {
        watched++;
        onWork = onProgress;
        return () => void watched--;
      },
    },
    onPhase: (phase) => void phases.push(phase),
    onOver: (reason) => void over.push(reason),
  });
  watch.follow({
    command: 'npx',
    family: () => ({ groupId: 1, mark: 'A=1' }),
    onOutput(listener) {
      onOutput = listener;
      return () => {
        onOutput = () => {};
      };
    },
    said: () => printed,
    networkHint: () => '',
  });
  return {
    clock,
    phases,
    over,
    watch,
    watched: () => watched,
    /** Lets the time pass, second by second. */
    wait(ms: number, meanwhile: () => void = () => {}) {
      for (let passed = 0; passed < ms; passed += 1000) {
        clock.advance(1000);
        meanwhile();
      }
    },
    work: () => onWork(),
    print(text: string) {
      printed += text;
      onOutput();
    },
  };
}

describe('a start', () => {
  it('without progress ends with its timeout', () => {
    const { wait, over, clock, watched } = starting();
    wait(59_000);
    expect(over).toEqual([]);
    wait(1000);
    expect(over).toEqual(['it did not answer within 60000 ms']);
    expect([clock.count(), watched()]).toEqual([0, 0]);
  });

  it.each([
    ['works', ({ work }: ReturnType<typeof starting>) => work],
    [
      'prints',
      ({ print }: ReturnType<typeof starting>) =>
        () =>
          print('.\n'),
    ],
  ])('that %s continues for ten minutes, and not longer', (_what, doing) => {
    const start = starting();
    start.wait(599_000, doing(start));
    expect(start.over).toEqual([]);
    expect(start.phases).toEqual([]);
    start.wait(1000);
    expect(start.over).toEqual(['it did not answer within 600000 ms']);
  });

  it('that stops working after its timeout has ten seconds more', () => {
    const start = starting();
    start.wait(100_000, start.work);
    start.wait(9000);
    expect(start.over).toEqual([]);
    start.wait(1000);
    expect(start.over).toEqual(['it did not answer within 60000 ms']);
  });

  it('has the full timeout if it is longer than ten minutes', () => {
    const start = starting(20 * MINUTE_MS);
    start.wait(20 * MINUTE_MS - 1000, start.work);
    expect(start.over).toEqual([]);
    start.wait(1000);
    expect(start.over).toEqual(['it did not answer within 1200000 ms']);
  });

  it('with a short timeout has no ten seconds more', () => {
    const start = starting(700);
    start.clock.advance(699);
    start.work();
    start.print('almost\n');
    start.clock.advance(1);
    expect(start.over).toEqual([]);
    start.clock.advance(700);
    expect(start.over).toEqual(['it did not answer within 700 ms']);
  });

  it('that is idle for ten seconds is silent until it continues', () => {
    const { wait, phases, print, over } = starting();
    wait(9000);
    expect(phases).toEqual([]);
    wait(20_000);
    expect(phases).toEqual(['silent']);
    print('installed\n');
    expect(phases).toEqual(['silent', 'working']);
    wait(10_000);
    expect(phases).toEqual(['silent', 'working', 'silent']);
    expect(over).toEqual([]);
  });

  it('that has ended is no longer watched', () => {
    const { clock, watch, wait, watched, over } = starting();
    wait(2000);
    expect(watched()).toBe(1);
    watch.stop();
    expect([clock.count(), watched(), over]).toEqual([0, 0, []]);
  });
});

describe('a program that asks', () => {
  it('fails as soon as it waits for an answer, with the question and the remedy', () => {
    const { wait, print, work, over } = starting();
    print('Need to install the following packages:\ncowsay@1.6.0\nOk to proceed? (y) ');
    wait(1000);
    work();
    wait(1000);
    expect(over).toEqual([]); // it still does something
    wait(2000);
    expect(over).toEqual([
      'it waits for an answer to a question: "Need to install the following packages: cowsay@1.6.0 Ok to proceed? (y)". Servers run without a terminal; put "-y" first in its args',
    ]);
  });

  it.each([
    'Continue? [y/N]\n',
    'Do you accept the terms (yes/no): ',
    'Enter your API key: ',
    'Password for alice:\n',
    'Press ENTER to continue\n',
    '\x1b[1m? \x1b[0mWhich account do you want?\x1b[0m ',
  ])('is recognized by %j', (text) => {
    const { wait, print, over } = starting();
    print(text);
    wait(3000);
    expect(over).toHaveLength(1);
  });

  it.each([
    'Need help? See https://example.com/help\n',
    'Ready?\n',
    'Starting:\n',
    '{"jsonrpc":"2.0","id":',
    'Loading 50%',
    'Installed (yes, really)\n',
    '',
  ])('is not confused with one that prints %j', (text) => {
    const { wait, print, over } = starting();
    print(text);
    wait(30_000);
    expect(over).toEqual([]);
  });
});

it('the operator sees what a start waits for, and its last three lines of output', () => {
  const report = (phase: StartPhase, said: string) => describeStart({ phase, said: () => said });
  expect(report('waiting', '')).toBe('queued: other servers are starting');
  expect(report('working', '')).toBeUndefined();
  expect(report('working', 'a\nb\n\nc\nfetching 10%\rfetching 20%\r\n')).toBe('its last output: b | c | fetching 20%');
  expect(report('silent', 'x\n')).toBe('it is starting, but was idle for 10 s; its last output: x');
});
