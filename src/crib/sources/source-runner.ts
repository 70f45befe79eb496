import type { Clock } from '../../core/ports/crib-context.ts';
import type { LiveSource, Source, SourceContext, SourceStatus } from '../../core/source.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { waitAtMost } from '../../system/clock.ts';

/** A started or starting connection of a source. */
export interface Runner {
  /** The source that started it. The current settings may be those of a newer one. */
  readonly source: Source;
  live: LiveSource | undefined;
  /** The reason why the start failed. */
  failure: string | undefined;
  isStarting: boolean;
  /** Increases whenever its list may have changed. */
  version: number;
  /** Resolves when it has started or failed, or when the others stop waiting for it. */
  started: Promise<void>;
  /** Resolves when it has its first list or has failed to get one. */
  listed: Promise<void>;
  /** Resolves like `listed`, or when the others stop waiting for it. */
  listedSoon: Promise<void>;
  /** Reads its list again; starts it again if the start had failed. */
  retry(): Promise<void>;
  /** Closes it, even while it is starting. */
  close(): Promise<void>;
}

/** Options for starting a source. */
export interface SourceRunnerOptions {
  readonly context: SourceContext;
  readonly clock: Clock;
  /** Called when its list may have changed. */
  onChange(runner: Runner): void;
  /** Called once, when it has its first list or has failed to get one. */
  onListed(runner: Runner): void;
}

const START_TIMEOUT_MS = 60_000;
/** Time that the others wait for a starting source: slightly longer than the 10 s after which a source itself continues in the background. */
const OTHERS_WAIT_MS = 11_000;

/** Starts a source. The others wait for it a limited time. After the timeout it counts as failed, until it succeeds later. */
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
    await runner.live?.listed?.catch(() => {}); // its status has the reason
    options.onListed(runner);
  });
  runner.listedSoon = waitAtMost(OTHERS_WAIT_MS, runner.listed, options.clock);
  return runner;
}

/** A start in progress. */
interface BegunStart {
  /** Resolves when the source has started, has failed, or took too long. */
  readonly settled: Promise<void>;
  /** Resolves like `settled`, or when the others stop waiting. */
  readonly waited: Promise<void>;
}

/** Runs starts one after another, never two at once. */
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
    const starting = (async () => source.start(context))(); // turns a synchronous throw into a rejection
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

/** Closes all runners. Failures are warnings. */
export async function closeRunners(ending: readonly Runner[], warn: (message: string) => void): Promise<void> {
  const closed = await Promise.allSettled(ending.map((runner) => runner.close()));
  for (const [index, result] of closed.entries()) {
    if (result.status === 'rejected') warn(`Closing ${ending[index]?.source.name} failed: ${messageOf(result.reason)}`);
  }
}

/** The current status of a runner. */
export function statusOf({ live, failure, isStarting }: Runner): SourceStatus {
  if (failure !== undefined) return { state: 'failed', reason: failure };
  if (live === undefined) return { state: isStarting ? 'starting' : 'failed' };
  try {
    return live.status();
  } catch (cause) {
    return { state: 'down', reason: `its status() failed: ${messageOf(cause)}` };
  }
}

/** Throws for an object that is not a live source. */
function requireLive(live: LiveSource): void {
  const missing = (['specs', 'onChange', 'status', 'close'] as const).find(
    (name) => typeof live?.[name] !== 'function',
  );
  if (missing !== undefined) throw new ToolcribError('not_a_source', `the result of its start() has no ${missing}()`);
}
