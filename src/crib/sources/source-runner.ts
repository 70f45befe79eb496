import type { Clock } from '../../core/ports/crib-context.ts';
import type { LiveSource, Source, SourceContext, SourceStatus } from '../../core/source.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { waitAtMost } from '../../system/clock.ts';

/** What was started of a source, or is being started. */
export interface Runner {
  /** The source that started it. The settings in force may be those of a newer one. */
  readonly source: Source;
  live: LiveSource | undefined;
  /** Why it could not be started. */
  failure: string | undefined;
  isStarting: boolean;
  /** Counts the moments at which its list may have become another one. */
  version: number;
  /** Resolves when it has started or has failed, or when the others go on without it. */
  started: Promise<void>;
  /** Resolves when its first list is there or could not be had. */
  listed: Promise<void>;
  /** The same, or when the others go on without it. */
  listedSoon: Promise<void>;
  /** Asks for its list once more; one that could not be started is started again. */
  retry(): Promise<void>;
  /** Ends it, also if it is still being started. */
  close(): Promise<void>;
}

/** Options for starting a source. */
export interface SourceRunnerOptions {
  readonly context: SourceContext;
  readonly clock: Clock;
  /** Called when its list may be another one. */
  onChange(runner: Runner): void;
  /** Called once, when its first list is there or could not be had. */
  onListed(runner: Runner): void;
}

const START_TIMEOUT_MS = 60_000;
/** How long the others wait for a source that starts: a little longer than one that goes on by itself after 10 s, and then says how far it is. */
const OTHERS_WAIT_MS = 11_000;

/** Starts a source. The others wait for it only so long; one that takes too long counts as failed until it comes after all. */
export function startRunner(source: Source, options: SourceRunnerOptions): Runner {
  const closing = new AbortController();
  const signal = AbortSignal.any([options.context.signal, closing.signal]);
  const runner: Runner = {
    source,
    live: undefined,
    failure: undefined,
    isStarting: true,
    version: 0,
    started: Promise.resolve(),
    listed: Promise.resolve(),
    listedSoon: Promise.resolve(),
    async retry() {
      if (runner.live !== undefined) await runner.live.refresh?.();
      else if (!attempt.isUnderWay()) await attempt.begin().waited;
      runner.version++;
    },
    async close() {
      closing.abort();
      await runner.live?.close();
    },
  };
  const attempt = createAttempt(runner, { ...options, context: { ...options.context, signal } });
  const { waited, settled } = attempt.begin();
  runner.started = waited;
  runner.listed = settled.then(async () => {
    await runner.live?.listed?.catch(() => {}); // its status says why
    options.onListed(runner);
  });
  runner.listedSoon = waitAtMost(OTHERS_WAIT_MS, runner.listed, options.clock);
  return runner;
}

/** A start that is under way. */
interface BegunStart {
  /** Resolves when the source has started, has failed, or took too long. */
  readonly settled: Promise<void>;
  /** The same, or when the others have waited long enough. */
  readonly waited: Promise<void>;
}

/** One start after the other, never two at once. */
function createAttempt(runner: Runner, { context, clock, onChange }: SourceRunnerOptions) {
  const { source } = runner;
  const { startTimeoutMs = START_TIMEOUT_MS } = source;
  let isUnderWay = false;
  const adopt = async (live: LiveSource): Promise<void> => {
    requireLive(live);
    if (context.signal.aborted) return live.close();
    runner.live = live;
    runner.failure = undefined;
    live.onChange(() => {
      runner.version++;
      onChange(runner);
    });
  };
  const begin = (): BegunStart => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      runner.isStarting = false;
      runner.version++;
      onChange(runner);
      resolve();
    };
    const stopTimer = clock.setTimer(startTimeoutMs, () => {
      runner.failure = `it did not start within ${startTimeoutMs} ms`;
      end();
    });
    isUnderWay = true;
    const starting = (async () => source.start(context))(); // a throw is a rejection, too
    starting
      .then(adopt)
      .catch((cause: unknown) => {
        runner.failure = `it could not be started: ${messageOf(cause)}`;
      })
      .finally(() => {
        stopTimer();
        isUnderWay = false;
        end();
      });
    return { settled: promise, waited: waitAtMost(OTHERS_WAIT_MS, promise, clock) };
  };
  return { begin, isUnderWay: () => isUnderWay };
}

/** Ends them all; what goes wrong is told. */
export async function closeRunners(ending: readonly Runner[], warn: (message: string) => void): Promise<void> {
  const closed = await Promise.allSettled(ending.map((runner) => runner.close()));
  for (const [index, result] of closed.entries()) {
    if (result.status === 'rejected') warn(`Closing ${ending[index]?.source.name} failed: ${messageOf(result.reason)}`);
  }
}

/** How what runs is doing. */
export function statusOf({ live, failure, isStarting }: Runner): SourceStatus {
  if (failure !== undefined) return { state: 'failed', reason: failure };
  if (live === undefined) return { state: isStarting ? 'starting' : 'failed' };
  try {
    return live.status();
  } catch (cause) {
    return { state: 'down', reason: `it cannot say how it is: ${messageOf(cause)}` };
  }
}

/** Throws for something that cannot be asked what a live source is asked. */
function requireLive(live: LiveSource): void {
  const missing = (['specs', 'onChange', 'status', 'close'] as const).find(
    (name) => typeof live?.[name] !== 'function',
  );
  if (missing !== undefined) throw new ToolcribError('not_a_source', `what it started has no ${missing}()`);
}
