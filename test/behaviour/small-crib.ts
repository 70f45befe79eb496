import {
  type AnySchema,
  type BundleInput,
  defineTool,
  type JsonSchema,
  type LiveSource,
  type Outcome,
  type SetupContext,
  type Source,
  type ToolDefinition,
  type ToolResult,
  type ToolSpec,
} from '../../src/index.ts';

/** A tool that answers with the state of its bundle. */
export function toolOf(name: string, changes: Partial<ToolDefinition<JsonSchema, AnySchema>> = {}): ToolSpec {
  return defineTool({
    description: `What ${name} does`,
    input: { type: 'object' },
    run: (_, call) => ({ state: call.state ?? null }),
    ...changes,
    name,
  });
}

/** A bundle with one tool, `{name}_tool`. */
export function bundleOf(name: string, changes: Partial<BundleInput> = {}): BundleInput {
  return { tools: [toolOf(`${name}_tool`)], ...changes, name };
}

export function namesOf(named: readonly { readonly name: string }[]): readonly string[] {
  return named.map(({ name }) => name);
}

/** Why a change refused a name; `undefined` if it did not. */
export function reasonOf(outcome: Outcome, name: string): string | undefined {
  return outcome.rejected.find((rejection) => rejection.name === name)?.reason;
}

/** `done`, or the code of what went wrong. */
export function endOf(result: ToolResult): string {
  return result.status === 'failed' ? result.error.code : result.status;
}

/** What a tool made by `toolOf` found as its state. */
export function stateIn(result: ToolResult): unknown {
  if (!result.ok) throw new Error(JSON.stringify(result));
  const { data } = result;
  return typeof data === 'object' && data !== null && 'state' in data ? data.state : undefined;
}

/** Lets everything go on that waits for nothing but its turn. */
export function oneTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A setup that begins, then waits to be let on. */
export function heldSetup(state?: unknown) {
  const started = Promise.withResolvers<SetupContext>();
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  let disposals = 0;
  return {
    /** Resolves when the setup has begun. */
    started: started.promise,
    finish: gate.resolve,
    fail: (message: string) => gate.reject(new Error(message)),
    runs: () => runs,
    disposals: () => disposals,
    async setup(context: SetupContext) {
      runs++;
      started.resolve(context);
      await gate.promise;
      return { state, dispose: () => void disposals++ };
    },
  };
}

/** A source whose list can be exchanged, and which can fail to be read. */
export function changingSource(name: string, specs: readonly ToolSpec[], changes: Partial<Source> = {}) {
  let listed = specs;
  let failure: Error | undefined;
  let closings = 0;
  const listeners = new Set<() => void>();
  const live: LiveSource = {
    specs: () => listed,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status: () => ({ state: 'ready' }),
    async refresh() {
      if (failure !== undefined) throw failure;
    },
    close: async () => void closings++,
  };
  return {
    source: { start: async () => live, ...changes, name } satisfies Source,
    /** The list of the next read; no change is announced. */
    put(next: readonly ToolSpec[]) {
      listed = next;
    },
    announce() {
      for (const listener of listeners) listener();
    },
    failWith(error: Error | undefined) {
      failure = error;
    },
    closings: () => closings,
  };
}
