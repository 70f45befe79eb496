import { deepEqual, ok } from 'node:assert/strict';
import { isRecord, type MaybePromise } from '../core/json.ts';
import type { LiveSource, Source, SourceContext } from '../core/source.ts';
import { messageOf } from '../core/tool-error.ts';
import { isToolName, RUN } from '../core/tool-spec.ts';
import type { ContractTest } from './executor-contract.ts';
import { within } from './one-call.ts';

/** What every source keeps to: what it lists, how it tells of changes, and that it ends. */
export function sourceContract(subject: SourceSubject): readonly ContractTest[] {
  const { names, createBroken, createStuck, isGone } = subject;
  const law = (name: string, test: (live: LiveSource) => MaybePromise<void>): ContractTest => ({
    name,
    run: () => withLive(subject, test),
  });
  return [
    law('it lists tools that a crib can take', (live) => {
      for (const tool of live.specs()) requireTool(tool);
      requireNames(live, names);
    }),
    law('it is ready once it has started', (live) => requireReady(live)),
    law('it says the same when it is asked again', (live) => {
      const [first, second] = [live.specs(), live.specs()];
      ok(
        first.length === second.length && first.every((tool, index) => tool === second[index]),
        'Tools that did not change are new objects: each would be judged anew.',
      );
    }),
    law('reading everything again loses nothing', async (live) => {
      await within(Promise.resolve(live.refresh?.()), 'refresh() does not end.');
      requireNames(live, names);
    }),
    law('it can be started twice, and one does not end with the other', (live) =>
      withLive(subject, async (other) => {
        await live.close();
        requireNames(other, names);
      }),
    ),
    law('it can be closed twice', async (live) => {
      await live.close();
      await live.close();
    }),
    ...(isGone === undefined ? [] : [goneLaw(subject, isGone)]),
    ...changeLaws(subject),
    ...(createBroken === undefined ? [] : [brokenLaw(createBroken)]),
    ...(createStuck === undefined ? [] : [stuckLaw(createStuck)]),
  ];
}

function changeLaws(subject: SourceSubject): readonly ContractTest[] {
  const { changes } = subject;
  if (changes === undefined) return [];
  const changed = (test: (live: LiveSource) => Promise<void>) => () =>
    withLive(subject, test).finally(() => changes.restore());
  return [
    {
      name: 'it tells of a change, and lists it',
      run: changed(async (live) => {
        const told = new Promise<void>((resolve) => live.onChange(resolve));
        await changes.change();
        await within(told, 'Nobody is told of the change.');
        requireNames(live, changes.names);
      }),
    },
    {
      name: 'who stopped listening is not told',
      run: changed(async (live) => {
        let isTold = false;
        const stop = live.onChange(() => {
          isTold = true;
        });
        const told = new Promise<void>((resolve) => live.onChange(resolve));
        stop();
        await changes.change();
        await within(told, 'Nobody is told of the change.');
        ok(!isTold, 'It tells somebody who stopped listening.');
      }),
    },
  ];
}

function goneLaw(subject: SourceSubject, isGone: () => MaybePromise<boolean>): ContractTest {
  return {
    name: 'nothing of it is left when it is closed',
    run: async () => {
      await withLive(subject, () => {});
      ok(await within(Promise.resolve(isGone()), 'isGone() does not answer.'), 'Something of it is left.');
    },
  };
}

function brokenLaw(create: NonNullable<SourceSubject['createBroken']>): ContractTest {
  return {
    name: 'one whose origin is not there says so, in words',
    run: async () => {
      const source = await create();
      const live = await within(startOf(source).started, 'start() does not end.').catch((cause) => {
        ok(cause instanceof Error && messageOf(cause, '') !== '', 'It fails without a message.');
      });
      if (live === undefined) return;
      const { state, reason = '' } = live.status();
      await live.close();
      ok(reason !== '', `It is ${state} and does not say what is wrong.`);
    },
  };
}

function stuckLaw(create: NonNullable<SourceSubject['createStuck']>): ContractTest {
  return {
    name: 'a start that is called off ends',
    run: async () => {
      const { started, abort } = startOf(await create());
      abort();
      const ended = started.then(
        (live) => live.close(),
        () => {}, // an end as well
      );
      await within(ended, 'start() does not end when the crib closes.');
    },
  };
}

function requireTool(tool: unknown): void {
  ok(isRecord(tool), 'What it lists is no tool.');
  const { name, description } = tool;
  ok(isToolName(name), `${JSON.stringify(name)} is no name that every vendor takes.`);
  ok(description === undefined || typeof description === 'string', `The description of "${name}" is no text.`);
  const run = (tool as { readonly [RUN]?: unknown })[RUN] ?? tool.run ?? tool.execute; // a spec, or what becomes one
  const isRun = typeof run === 'function' || (isRecord(run) && typeof run.kind === 'string');
  ok(isRun, `"${name}" does not say how it runs: a function, or data with a kind.`);
}

function requireNames(live: LiveSource, names: readonly string[]): void {
  const listed = live.specs().map(({ name }) => name);
  deepEqual(listed.toSorted(), names.toSorted());
}

function requireReady(live: LiveSource): void {
  const { state, reason } = live.status();
  ok(state === 'ready', `It is ${state}: ${reason ?? 'it does not say why'}.`);
}

/** Runs a test with a source that was started for it, and is closed whatever becomes of it. */
async function withLive(subject: SourceSubject, test: (live: LiveSource) => MaybePromise<void>): Promise<void> {
  const source = await subject.create();
  ok(typeof source?.name === 'string' && typeof source.start === 'function', 'A source has a name and start().');
  const { started, abort } = startOf(source);
  const live = await within(started, 'start() does not end.');
  try {
    await test(live);
  } finally {
    abort();
    await within(live.close(), 'close() does not end.');
  }
}

/** A source on its way. */
interface StartedSource {
  readonly started: Promise<LiveSource>;
  /** As when the crib closes. */
  abort(): void;
}

/** Starts a source as a crib would. */
function startOf(source: Source): StartedSource {
  const closing = new AbortController();
  const context: SourceContext = { clock: CLOCK, services: {}, signal: closing.signal, warn: () => {} };
  const started = (async () => source.start(context))(); // a throw is a rejection, too
  return { started, abort: () => closing.abort() };
}

const CLOCK: SourceContext['clock'] = {
  now: () => performance.timeOrigin + performance.now(),
  setTimer(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};

/** A source to be tested, and what it can be tested with. Laws for which there is no case are left out. */
export interface SourceSubject {
  /** Makes one of its own for each test. Nothing happens before it is started. */
  create(): MaybePromise<Source>;
  /** The names of the tools that it lists, in any order. */
  readonly names: readonly string[];
  /** How what it lists changes while it runs. */
  readonly changes?: {
    /** Changes it where it comes from. */
    change(): MaybePromise<void>;
    /** What is listed then. */
    readonly names: readonly string[];
    /** Puts it back for the next test. */
    restore(): MaybePromise<void>;
  };
  /** Makes one whose origin is not there. */
  createBroken?(): MaybePromise<Source>;
  /** Makes one whose origin never answers. */
  createStuck?(): MaybePromise<Source>;
  /** True if nothing of it is left after it was closed: no process, no socket, no file that is watched. It may wait for what others have to notice. */
  isGone?(): MaybePromise<boolean>;
}
