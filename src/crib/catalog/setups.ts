import type { Bundle, ResolvedBundle, SetupContext, SetupResult } from '../../core/bundle.ts';
import type { Generation } from '../../core/catalog.ts';
import type { Extension } from '../../core/extension.ts';
import type { MaybePromise } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { readOptions } from '../../core/read-options.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { messageOf, toolError } from '../../core/tool-error.ts';
import { failed, type ToolResult } from '../../core/tool-result.ts';
import { readSetupResult } from '../../define/define-bundle.ts';

export interface SetupsOptions {
  readonly generation: () => Generation;
  readonly clock: Clock;
  readonly services: () => Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  warn(message: string): void;
}

/** The trigger of a setup: activation in a chest, or a call of one of its tools. */
type Purpose = 'activation' | 'call';

interface Setup {
  readonly definition: Bundle;
  phase: 'running' | 'ready' | 'failed';
  /** The result of the setup; set before `ready` runs. */
  result: SetupResult;
  /** The reason of the failure. */
  reason: string;
  failedAt: number;
  outcome: Promise<string | undefined>;
}

const SETUP_TIMEOUT_MS = 60_000;
/** Pause after a failed setup before a call may retry it. */
const PAUSE_MS = 30_000;

/** Name and priority of the setup gate. */
export const SETUP = {
  name: 'setup',
  priority: 250,
  reason: 'a bundle is set up only for a call that may run; the setup does not count against the timeout of the tool',
} as const;

/** The setups of bundles. Each bundle is set up once per crib. */
export class Setups {
  readonly #options: SetupsOptions;
  readonly #setups = new Map<string, Setup>();
  readonly #closing = new AbortController();
  #given: Readonly<Record<string, unknown>>;

  constructor(options: SetupsOptions) {
    this.#options = options;
    this.#given = options.options;
  }

  /** Adds options for later setups; they win over existing options. */
  addOptions(given: Readonly<Record<string, unknown>>): void {
    const known = Object.keys(typeof given === 'object' ? (given ?? {}) : {});
    const read = readOptions<Readonly<Record<string, unknown>>>(given, known, 'The options of initTools');
    this.#given = Object.freeze({ ...this.#given, ...read });
  }

  /** Sets a bundle up. Resolves to `undefined` when it is ready, or to the reason why it cannot be used. An activation retries a failed setup. */
  async ensure(name: string, purpose: Purpose): Promise<string | undefined> {
    if (this.#closing.signal.aborted) return 'the crib is closed';
    const { bundles, leftOut } = this.#options.generation();
    const bundle = bundles.get(name);
    if (bundle === undefined) {
      const why = leftOut.bundles.get(name);
      return why === undefined ? `bundle "${name}" does not exist` : `bundle "${name}" is left out: ${why}`;
    }
    for (const required of bundle.requires) {
      const reason = await this.ensure(required, purpose);
      if (reason !== undefined) return `it requires "${required}": ${reason}`;
    }
    return this.#setUpOnce(bundle, purpose);
  }

  /** The state from the setup of a tool's bundle. */
  stateFor(tool: string): unknown {
    const owner = this.#options.generation().ownerOf(tool);
    return owner === undefined ? undefined : this.#stateOf(owner.name);
  }

  /** The result of a bundle's setup; undefined until the bundle is ready. */
  made(name: string): SetupResult {
    const setup = this.#setups.get(name);
    return setup?.phase === 'ready' ? setup.result : undefined;
  }

  /** The extension that sets a bundle up before the first call of its tools. */
  gate(): Extension {
    const ownerOf = (tool: string) => this.#options.generation().ownerOf(tool);
    return {
      name: SETUP.name,
      priority: SETUP.priority,
      unsafeOrder: true,
      applies: (spec) => ownerOf(spec.name) !== undefined,
      wrap: (call, next) => {
        const owner = ownerOf(call.spec.name);
        return owner === undefined || this.#isReady(owner) ? next(call) : this.#runAfterSetup(owner.name, call, next);
      },
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#setups.values()].map((setup) => setup.outcome));
    // Dependants first: the reverse of the order in which bundles became ready.
    for (const [name, setup] of [...this.#setups].reverse()) {
      if (setup.phase === 'ready') await this.#dispose(name, setup.result);
    }
    this.#setups.clear();
  }

  #setUpOnce(bundle: ResolvedBundle, purpose: Purpose): MaybePromise<string | undefined> {
    const { definition, name } = bundle;
    if (definition.setup === undefined && definition.ready === undefined) return undefined;
    const known = this.#setups.get(name);
    if (known !== undefined && isSameSetup(known.definition, definition)) {
      if (known.phase !== 'failed') return known.outcome;
      if (purpose === 'call' && this.#options.clock.now() < known.failedAt + PAUSE_MS) return known.reason;
    }
    const setup: Setup = {
      definition,
      phase: 'running',
      result: undefined,
      reason: '',
      failedAt: 0,
      outcome: Promise.resolve(undefined),
    };
    this.#setups.set(name, setup);
    setup.outcome = this.#setUp(bundle, setup, known);
    return setup.outcome;
  }

  async #setUp(bundle: ResolvedBundle, setup: Setup, replaced: Setup | undefined): Promise<string | undefined> {
    const { definition, name } = bundle;
    if (replaced?.phase === 'ready') await this.#dispose(name, replaced.result);
    try {
      await this.#withinTime(bundle, async (context) => {
        const made = await definition.setup?.(context);
        if (!this.#isWanted(context, name, setup)) {
          await this.#dispose(name, made);
          throw new Error('it was cancelled');
        }
        setup.result = made; // so that it is disposed of if it is invalid
        setup.result = readSetupResult(made);
        await definition.ready?.(context);
        if (!this.#isWanted(context, name, setup)) throw new Error('it was cancelled');
      });
      setup.phase = 'ready';
      return undefined;
    } catch (cause) {
      setup.phase = 'failed';
      setup.reason = `its setup failed: ${messageOf(cause)}`;
      setup.failedAt = this.#options.clock.now();
      const { result } = setup;
      setup.result = undefined;
      await this.#dispose(name, result);
      if (!this.#closing.signal.aborted) this.#options.warn(`Bundle "${name}": ${setup.reason}`);
      return setup.reason;
    }
  }

  // False after a timeout or if the bundle was redefined: then the result must be disposed of.
  #isWanted(context: SetupContext, name: string, setup: Setup): boolean {
    return !context.signal.aborted && this.#setups.get(name) === setup;
  }

  async #dispose(name: string, result: SetupResult): Promise<void> {
    try {
      if (typeof result?.dispose === 'function') await result.dispose();
    } catch (cause) {
      this.#options.warn(`Disposing of bundle "${name}" failed: ${messageOf(cause)}`);
    }
  }

  #withinTime<T>(bundle: ResolvedBundle, work: (context: SetupContext) => Promise<T>): Promise<T> {
    const { services, clock } = this.#options;
    const timer = new AbortController();
    const context: SetupContext = {
      services: services(),
      options: this.#given,
      signal: AbortSignal.any([timer.signal, this.#closing.signal]),
      use: (required) => this.#stateOfRequired(bundle, required),
    };
    return new Promise((resolve, reject) => {
      const stopTimer = clock.setTimer(SETUP_TIMEOUT_MS, () => {
        timer.abort();
        reject(new Error(`it did not finish within ${SETUP_TIMEOUT_MS} ms`));
      });
      work(context).then(resolve, reject).finally(stopTimer);
    });
  }

  #stateOfRequired(bundle: ResolvedBundle, required: string): unknown {
    if (bundle.requires.includes(required)) return this.#stateOf(required);
    throw new Error(`bundle "${bundle.name}" uses "${required}" without requiring it; add it to requires`);
  }

  #stateOf(name: string): unknown {
    return this.#setups.get(name)?.result?.state;
  }

  #isReady(bundle: ResolvedBundle): boolean {
    const setup = this.#setups.get(bundle.name);
    const isSetUp = setup?.phase === 'ready' && isSameSetup(setup.definition, bundle.definition);
    return isSetUp && bundle.requires.every((name) => this.#isSettled(name));
  }

  #isSettled(name: string): boolean {
    const bundle = this.#options.generation().bundles.get(name);
    if (bundle === undefined) return false;
    return bundle.definition.setup === undefined
      ? bundle.requires.every((required) => this.#isSettled(required))
      : this.#isReady(bundle);
  }

  #runAfterSetup(bundle: string, call: ToolCall, next: (call: ToolCall) => MaybePromise<ToolResult>) {
    return new Promise<ToolResult>((resolve) => {
      let isAborted = false;
      const stopListening = call.onAbort((reason) => {
        isAborted = true;
        resolve(failed(reason));
      });
      this.ensure(bundle, 'call').then((reason) => {
        stopListening();
        if (isAborted) return;
        if (reason === undefined) return resolve(next(call));
        const message = `"${call.spec.name}" cannot run: bundle "${bundle}": ${reason}.`;
        resolve(failed(toolError('unavailable', message, { retryable: true })));
      });
    });
  }
}

// Adding or removing tools of a bundle does not affect its state.
function isSameSetup(a: Bundle, b: Bundle): boolean {
  return a.setup === b.setup && a.ready === b.ready;
}
