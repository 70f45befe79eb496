import { deepEqual, ok } from 'node:assert/strict';
import { isRecord, type MaybePromise } from '../core/json.ts';
import type { LiveSource, Source, SourceContext } from '../core/source.ts';
import { messageOf } from '../core/tool-error.ts';
import { isToolName, RUN } from '../core/tool-spec.ts';
import type { ContractTest } from './executor-contract.ts';
import { within } from './one-call.ts';

/** The contract of sources: valid tools, change notifications, and a clean end. */
export function sourceContract(subject: SourceSubject): readonly ContractTest[] {
  const { names, createBroken, createStuck, isGone } = subject;
  const law = (name: string, test: (live: LiveSource) => MaybePromise<void>): ContractTest => ({
    name,
    run: () => withLive(subject, test),
  });
  return [
    law('it lists valid tools', (live) => {
      for (const tool of live.specs()) requireTool(tool);
      requireNames(live, names);
    }),
    law('it is ready after its start', (live) => requireReady(live)),
    law('it returns the same tools when it is asked again', (live) => {
      const [first, second] = [live.specs(), live.specs()];
      ok(
        first.length === second.length && first.every((tool, index) => tool === second[index]),
        'Unchanged tools must be the same objects; the crib would validate new objects again.',
      );
    }),
    law('a refresh loses no tools', async (live) => {
      await within(Promise.resolve(live.refresh?.()), 'refresh() does not end.');
      requireNames(live, names);
    }),
    law('it can be started twice; closing one does not close the other', (live) =>
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
      name: 'it reports a change and lists the changed tools',
      run: changed(async (live) => {
        const told = new Promise<void>((resolve) => live.onChange(resolve));
        await changes.change();
        await within(told, 'The source does not report the change.');
        requireNames(live, changes.names);
      }),
    },
    {
      name: 'a removed listener is not called',
      run: changed(async (live) => {
        let isTold = false;
        const stop = live.onChange(() => {
          isTold = true;
        });
        const told = new Promise<void>((resolve) => live.onChange(resolve));
        stop();
        await changes.change();
        await within(told, 'The source does not report the change.');
        ok(!isTold, 'The source called a listener that was removed.');
      }),
    },
  ];
}

function goneLaw(subject: SourceSubject, isGone: () => MaybePromise<boolean>): ContractTest {
  return {
    name: 'it leaves nothing behind after it is closed',
    run: async () => {
      await withLive(subject, () => {});
      ok(await within(Promise.resolve(isGone()), 'isGone() does not return.'), 'The source left something behind.');
    },
  };
}

function brokenLaw(create: NonNullable<SourceSubject['createBroken']>): ContractTest {
  return {
    name: 'a source with a missing origin explains the problem',
    run: async () => {
      const source = await create();
      const live = await within(startOf(source).started, 'start() does not end.').catch((cause) => {
        ok(cause instanceof Error && messageOf(cause, '') !== '', 'start() failed without a message.');
      });
      if (live === undefined) return;
      const { state, reason = '' } = live.status();
      await live.close();
      ok(reason !== '', `The source is ${state} without a reason.`);
    },
  };
}

function stuckLaw(create: NonNullable<SourceSubject['createStuck']>): ContractTest {
  return {
    name: 'an aborted start ends',
    run: async () => {
      const { started, abort } = startOf(await create());
      abort();
      const ended = started.then(
        (live) => live.close(),
        () => {}, // a rejection is also an end
      );
      await within(ended, 'start() does not end although its signal was aborted.');
    },
  };
}

function requireTool(tool: unknown): void {
  ok(isRecord(tool), 'specs() contains something that is not a tool.');
  const { name, description } = tool;
  ok(isToolName(name), `${JSON.stringify(name)} is not a tool name that every vendor accepts.`);
  ok(description === undefined || typeof description === 'string', `The description of "${name}" is not a text.`);
  const run = (tool as { readonly [RUN]?: unknown })[RUN] ?? tool.run ?? tool.execute; // a spec, or its input
  const isRun = typeof run === 'function' || (isRecord(run) && typeof run.kind === 'string');
  ok(isRun, `"${name}" must have a function or a run with a kind.`);
}

function requireNames(live: LiveSource, names: readonly string[]): void {
  const listed = live.specs().map(({ name }) => name);
  deepEqual(listed.toSorted(), names.toSorted());
}

function requireReady(live: LiveSource): void {
  const { state, reason } = live.status();
  ok(state === 'ready', `The source is ${state}: ${reason ?? 'no reason given'}.`);
}

/** Runs a test with a started source, and always closes it. */
async function withLive(subject: SourceSubject, test: (live: LiveSource) => MaybePromise<void>): Promise<void> {
  const source = await subject.create();
  ok(typeof source?.name === 'string' && typeof source.start === 'function', 'A source must have a name and start().');
  const { started, abort } = startOf(source);
  const live = await within(started, 'start() does not end.');
  try {
    await test(live);
  } finally {
    abort();
    await within(live.close(), 'close() does not end.');
  }
}

/** A starting source. */
interface StartedSource {
  readonly started: Promise<LiveSource>;
  /** Aborts the start, as a closing crib does. */
  abort(): void;
}

/** Starts a source like a crib. */
function startOf(source: Source): StartedSource {
  const closing = new AbortController();
  const context: SourceContext = { clock: CLOCK, services: {}, signal: closing.signal, warn: () => {} };
  const started = (async () => source.start(context))(); // turns a throw into a rejection
  return { started, abort: () => closing.abort() };
}

const CLOCK: SourceContext['clock'] = {
  now: () => performance.timeOrigin + performance.now(),
  setTimer(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The source under test and its cases. Tests without a case are skipped. */
export interface SourceSubject {
  /** Creates a new source for each test. It must do nothing before its start. */
  create(): MaybePromise<Source>;
  /** The names of the listed tools, in any order. */
  readonly names: readonly string[];
  /** A change of the listed tools at run time. */
  readonly changes?: {
    /** Changes the origin of the tools. */
    change(): MaybePromise<void>;
    /** The names of the tools after the change. */
    readonly names: readonly string[];
    /** Reverts the change for the next test. */
    restore(): MaybePromise<void>;
  };
  /** Creates a source whose origin does not exist. */
  createBroken?(): MaybePromise<Source>;
  /** Creates a source whose origin never answers. */
  createStuck?(): MaybePromise<Source>;
  /** True if the closed source left nothing behind: no process, no socket, no watched file. It may wait for the cleanup. */
  isGone?(): MaybePromise<boolean>;
}
