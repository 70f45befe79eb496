import type { Bundle, ResolvedBundle, SetupContext, SetupResult } from '../core/bundle.ts';
import type { Extension } from '../core/extension.ts';
import type { MaybePromise } from '../core/json.ts';
import type { Clock } from '../core/ports.ts';
import { messageOf, toolError } from '../core/tool-error.ts';
import { failed, type ToolResult } from '../core/tool-result.ts';
import type { Generation } from './generation.ts';

/** The states of bundles: each is set up once for the whole crib, however many ask. */
export interface Setups {
  /** Resolves to why the bundle cannot be used, or to `undefined` when it is ready. An activation tries again what failed. */
  ensure(bundle: string, asker: 'activation' | 'call'): Promise<string | undefined>;
  stateFor(tool: string): unknown;
  /** The gate that sets a bundle up before the first call of its tools. */
  readonly extension: Extension;
  close(): Promise<void>;
}

export interface SetupsOptions {
  readonly generation: () => Generation;
  readonly clock: Clock;
  readonly services: () => Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  warn(message: string): void;
}

interface Setup {
  readonly definition: Bundle;
  phase: 'running' | 'ready' | 'failed';
  /** What the setup made; there before `ready` has run. */
  result: SetupResult;
  /** Why it failed. */
  reason: string;
  failedAt: number;
  outcome: Promise<string | undefined>;
}

const SETUP_TIMEOUT_MS = 60_000;
/** How long a failed setup is left alone by calls. */
const PAUSE_MS = 30_000;

export function createSetups(options: SetupsOptions): Setups {
  const { generation, clock } = options;
  const setups = new Map<string, Setup>();
  const closing = new AbortController();

  const ensure: Setups['ensure'] = async (name, asker) => {
    if (closing.signal.aborted) return 'the crib is closed';
    const bundle = generation().bundles.get(name);
    if (bundle === undefined) {
      const why = generation().leftOut.bundles.get(name);
      return why === undefined ? `bundle "${name}" does not exist` : `bundle "${name}" is not there: ${why}`;
    }
    for (const required of bundle.requires) {
      const reason = await ensure(required, asker);
      if (reason !== undefined) return `it requires "${required}": ${reason}`;
    }
    return setUpOnce(bundle, asker);
  };

  const setUpOnce = (bundle: ResolvedBundle, asker: 'activation' | 'call'): MaybePromise<string | undefined> => {
    const { definition, name } = bundle;
    if (definition.setup === undefined && definition.ready === undefined) return undefined;
    const known = setups.get(name);
    if (known !== undefined && isSameSetup(known.definition, definition)) {
      if (known.phase !== 'failed') return known.outcome;
      if (asker === 'call' && clock.now() < known.failedAt + PAUSE_MS) return known.reason;
    }
    const setup: Setup = {
      definition,
      phase: 'running',
      result: undefined,
      reason: '',
      failedAt: 0,
      outcome: Promise.resolve(undefined),
    };
    setups.set(name, setup);
    setup.outcome = setUp(bundle, setup, known);
    return setup.outcome;
  };

  const setUp = async (
    bundle: ResolvedBundle,
    setup: Setup,
    replaced: Setup | undefined,
  ): Promise<string | undefined> => {
    const { definition, name } = bundle;
    if (replaced?.phase === 'ready') await dispose(name, replaced.result);
    try {
      await withinTime(bundle, async (context) => {
        const made = await definition.setup?.(context);
        if (!isWanted(context, name, setup)) {
          await dispose(name, made);
          throw new Error('it was called off');
        }
        setup.result = made;
        await definition.ready?.(context);
        if (!isWanted(context, name, setup)) throw new Error('it was called off');
      });
      setup.phase = 'ready';
      return undefined;
    } catch (cause) {
      setup.phase = 'failed';
      setup.reason = `its setup failed: ${messageOf(cause)}`;
      setup.failedAt = clock.now();
      const { result } = setup;
      setup.result = undefined;
      await dispose(name, result);
      return setup.reason;
    }
  };

  // Too late, or another definition came in between: nobody would use or close what was made.
  const isWanted = (context: SetupContext, name: string, setup: Setup): boolean =>
    !context.signal.aborted && setups.get(name) === setup;

  const dispose = async (name: string, result: SetupResult): Promise<void> => {
    try {
      await result?.dispose?.();
    } catch (cause) {
      options.warn(`Disposing of bundle "${name}" failed: ${messageOf(cause)}`);
    }
  };

  const withinTime = <T>(bundle: ResolvedBundle, work: (context: SetupContext) => Promise<T>): Promise<T> => {
    const timer = new AbortController();
    const context: SetupContext = {
      services: options.services(),
      options: options.options,
      signal: AbortSignal.any([timer.signal, closing.signal]),
      use: (required) => stateOf(bundle, required),
    };
    return new Promise((resolve, reject) => {
      const stopTimer = clock.setTimer(SETUP_TIMEOUT_MS, () => {
        timer.abort();
        reject(new Error(`it did not finish within ${SETUP_TIMEOUT_MS} ms`));
      });
      work(context).then(resolve, reject).finally(stopTimer);
    });
  };

  const stateOf = (bundle: ResolvedBundle, required: string): unknown => {
    if (!bundle.requires.includes(required)) {
      throw new Error(`bundle "${bundle.name}" uses "${required}" without requiring it; add it to requires`);
    }
    return readyState(required);
  };

  const readyState = (name: string): unknown => {
    return setups.get(name)?.result?.state;
  };

  const isReady = (bundle: ResolvedBundle): boolean => {
    const setup = setups.get(bundle.name);
    return (
      setup?.phase === 'ready' && isSameSetup(setup.definition, bundle.definition) && bundle.requires.every(isSettled)
    );
  };
  const isSettled = (name: string): boolean => {
    const bundle = generation().bundles.get(name);
    if (bundle === undefined) return false;
    return bundle.definition.setup === undefined ? bundle.requires.every(isSettled) : isReady(bundle);
  };

  const extension: Extension = {
    name: 'setup',
    priority: 250,
    unsafeOrder: true,
    applies: (spec) => generation().ownerOf(spec.name) !== undefined,
    wrap(call, next) {
      const owner = generation().ownerOf(call.spec.name);
      if (owner === undefined || isReady(owner)) return next(call);
      return new Promise<ToolResult>((resolve) => {
        let isAborted = false;
        const stopListening = call.onAbort((reason) => {
          isAborted = true;
          resolve(failed(reason));
        });
        ensure(owner.name, 'call').then((reason) => {
          stopListening();
          if (isAborted) return;
          if (reason === undefined) resolve(next(call));
          else
            resolve(
              failed(
                toolError('unavailable', `"${call.spec.name}" cannot run: bundle "${owner.name}": ${reason}.`, {
                  retryable: true,
                }),
              ),
            );
        });
      });
    },
  };

  return {
    ensure,
    stateFor(tool) {
      const owner = generation().ownerOf(tool);
      return owner === undefined ? undefined : readyState(owner.name);
    },
    extension,
    async close() {
      closing.abort();
      await Promise.all([...setups.values()].map((setup) => setup.outcome));
      // Dependants before what they depend on: the reverse of the order in which they became ready.
      for (const [name, setup] of [...setups].reverse()) {
        if (setup.phase === 'ready') await dispose(name, setup.result);
      }
      setups.clear();
    },
  };
}

// Tools may join or leave a bundle that has been set up; its state stays.
function isSameSetup(a: Bundle, b: Bundle): boolean {
  return a.setup === b.setup && a.ready === b.ready;
}
