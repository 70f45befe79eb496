import { deepEqual } from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import type { Executor } from '../../src/core/executor.ts';
import type { MaybePromise } from '../../src/core/json.ts';
import type { ToolCall } from '../../src/core/tool-call.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { done, failed, type ToolResult } from '../../src/core/tool-result.ts';
import { type ExecutorSubject, executorContract, testCall } from '../../src/testing/index.ts';

/** An executor that answers with what it is given, in ways that a test may spoil. */
function echoExecutor(spoiled: Partial<Executor> = {}): Executor & { readonly running: Set<ToolCall> } {
  const running = new Set<ToolCall>();
  const stops = new Set<() => void>();
  return {
    kind: 'echo',
    running,
    runSchema: { type: 'object', required: ['say'], properties: { say: { type: 'string' } } },
    check: ({ say }) => (String(say).includes('{nobody}') ? ['say names what is no argument'] : []),
    async execute(call, { say }) {
      if (call.signal.aborted) return failed(toolError('cancelled', 'It was cancelled.'));
      if (say === 'a failure to hide') throw new Error('It could not be said.');
      if (say === 'a flood') return failed(toolError('too_large', 'There was too much of it.'));
      if (say === 'nothing, ever') return hang(call);
      return done(`${say} ${JSON.stringify(call.input)}`, { said: String(say), input: call.input });
    },
    async close() {
      for (const stop of stops) stop();
    },
    ...spoiled,
  };

  function hang(call: ToolCall): Promise<ToolResult> {
    return new Promise((resolve) => {
      running.add(call);
      const stop = () => {
        running.delete(call);
        resolve(failed(toolError('cancelled', 'It was cancelled.')));
      };
      stops.add(stop);
      call.onAbort(stop);
    });
  }
}

function subjectOf(spoiled: Partial<Executor> = {}): ExecutorSubject {
  let executor = echoExecutor();
  const says = (say: string, input = {}) => ({
    run: { kind: 'echo', say },
    input,
    expect: ({ data }: { data?: unknown }) => deepEqual(data, { said: say, input }),
  });
  return {
    create() {
      executor = echoExecutor(spoiled);
      return executor;
    },
    works: [says('hello', { n: 1 }), says('good bye', { n: [2] })],
    fails: [{ run: { kind: 'echo', say: 'a failure to hide' } }],
    hangs: {
      run: { kind: 'echo', say: 'nothing, ever' },
      begun: async () => {},
      isGone: () => executor.running.size === 0,
    },
    floods: { run: { kind: 'echo', say: 'a flood' } },
    badRuns: [
      { what: 'nothing to say', run: { kind: 'echo' } },
      { what: 'an unknown argument', run: { kind: 'echo', say: '{nobody}' } },
    ],
    unspeakable: ['hunter2hunter2'],
  };
}

/** Runs the laws whose names begin so. */
async function runLaws(subject: ExecutorSubject, begin: string): Promise<void> {
  const laws = executorContract(subject).filter(({ name }) => name.startsWith(begin));
  expect(laws).not.toEqual([]);
  for (const { run } of laws) await run();
}

describe('an executor that keeps the contract', () => {
  for (const { name, run } of executorContract(subjectOf())) it(name, run);
});

const sound = echoExecutor();
const unless =
  (say: string, answer: () => ToolResult): Executor['execute'] =>
  (call, run) =>
    run.say === say ? answer() : sound.execute(call, run);
const FAILURE = 'a failure to hide';

function firstAnswerForAll(): Executor['execute'] {
  let first: MaybePromise<ToolResult> | undefined;
  return (call, run) => {
    first ??= sound.execute(call, run);
    return first;
  };
}

describe('an executor that breaks the contract is reported', () => {
  it.each<readonly [what: string, spoiled: Partial<Executor>, law: string, why: string]>([
    ['an invalid schema', { runSchema: { type: 'object', properties: 5 } }, 'it has a kind', 'not a valid JSON Schema'],
    [
      'no check of its runs',
      { check: () => [] },
      'it refuses an invalid run before a call: an unknown argument',
      'Neither',
    ],
    ['a check that refuses everything', { check: () => ['no'] }, 'it accepts valid runs', 'refuses a valid run: no'],
    ['data that is not JSON', { execute: () => done('', new Date() as never) }, 'it returns a result', 'not JSON'],
    ['no result at all', { execute: () => 'hello' as never }, 'it returns a result', 'not a ToolResult'],
    [
      'arguments that it changes',
      { execute: ({ input }) => done('', Object.assign(input, { more: 1 })) },
      'it changes neither',
      'more',
    ],
    ['answers of other calls', { execute: firstAnswerForAll() }, 'concurrent calls', 'deep'],
    [
      'something thrown that is not an Error',
      {
        execute: unless(FAILURE, () => {
          throw 'a text'; // as careless authors do
        }),
      },
      'its errors reveal neither',
      'not an Error',
    ],
    [
      'its run in a message',
      { execute: unless(FAILURE, () => failed(toolError('tool_error', `"${FAILURE}" failed`))) },
      'its errors reveal neither',
      'how the tool runs',
    ],
    [
      'a secret in a message',
      { execute: unless(FAILURE, () => failed(toolError('tool_error', 'not hunter2hunter2'))) },
      'its errors reveal neither',
      'a secret',
    ],
    [
      'a flood that it swallows',
      { execute: unless('a flood', () => done('all')) },
      'an endless result',
      'did not fail',
    ],
    [
      'an aborted call that runs',
      { execute: () => done('x') },
      'a call that is aborted before',
      'aborted call succeeded',
    ],
    ['a close that fails', { close: () => Promise.reject(new Error('no')) }, 'it can be closed twice', 'no'],
    [
      'work that ends by itself',
      { execute: () => failed(toolError('cancelled', 'x')) },
      'closing it ends',
      'has ended: failed',
    ],
  ])('%s', async (_what, spoiled, law, why) => {
    const subject = subjectOf(spoiled);
    const waiting = { ...subject.hangs, begun: () => new Promise(() => {}) };
    await expect(runLaws({ ...subject, hangs: waiting as never }, law)).rejects.toThrow(why); // the same case
  });

  it.each(['an aborted call ends', 'aborting one call', 'closing it ends'])('unfinished work: %s', async (law) => {
    const { hangs, ...subject } = subjectOf();
    if (hangs === undefined) throw new Error('there is one');
    await expect(runLaws({ ...subject, hangs: { ...hangs, isGone: () => false } }, law)).rejects.toThrow(
      'left something',
    );
  });

  it('tests without a case are skipped', () => {
    const { create, works } = subjectOf();
    const names = executorContract({ create, works, badRuns: [] }).map(({ name }) => name);
    expect(names.some((name) => /aborted call ends|endless|reveal/.test(name))).toBe(false);
    expect(names.length).toBeGreaterThan(6);
  });
});

describe('a call for tests', () => {
  it('can be aborted, once, with a reason, and tells late listeners, too', async () => {
    const call = testCall({ input: { a: 1 } });
    const heard: string[] = [];
    call.onAbort(({ message }) => heard.push(`early ${message}`));
    const stop = call.onAbort(() => heard.push('never'));
    stop();
    call.abort(toolError('timeout', 'first'));
    call.abort(toolError('timeout', 'second'));
    call.onAbort(({ message }) => heard.push(`late ${message}`));
    expect(heard).toEqual(['early first']);
    await Promise.resolve();
    expect(heard).toEqual(['early first', 'late first']);
    expect(call.signal.aborted).toBe(true);
  });

  it('a fork ends with its call, and not the other way round', () => {
    const call = testCall();
    const fork = call.fork();
    const other = call.fork();
    fork.abort(toolError('timeout', 'its own'));
    expect([fork.call.signal.aborted, call.signal.aborted, other.call.signal.aborted]).toEqual([true, false, false]);
    call.abort();
    expect(other.call.signal.aborted).toBe(true);
  });

  it('has the given values, and records what was reported', async () => {
    const call = testCall({ call: { profile: 'assistant', settings: { a: 1 } }, spec: { name: 'mine' } });
    call.report({ step: 1 });
    expect(call).toMatchObject({ profile: 'assistant', settings: { a: 1 }, spec: { name: 'mine' } });
    expect(call.reported).toEqual([{ step: 1 }]);
    expect(call.with({ more: 1 }).context).toEqual({ more: 1 });
    expect(await call.tools.call('x', {})).toMatchObject({ ok: false, error: { code: 'unknown_tool' } });
  });
});
