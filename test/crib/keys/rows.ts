import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { configNode } from '../../../src/crib/config/config-schema.ts';
import type { Config } from '../../../src/crib/config/loaded-config.ts';
import { createObservedCrib } from '../../../src/crib/create-crib.ts';
import {
  type Caller,
  type CallOptions,
  type Crib,
  type CribOptions,
  done,
  type Executor,
  failed,
  type JsonValue,
  type ToolCall,
  ToolcribError,
  type ToolResult,
  toolError,
} from '../../../src/index.ts';
import { folderWith } from '../workshop.ts';
import { recordReads } from './record-reads.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** A configuration as it is written, or a part of it. */
export type Written = Readonly<Record<string, unknown>>;

/** A key, and two configurations that differ in it alone. */
export interface Row {
  readonly key: string;
  readonly before: Written;
  readonly after: Written;
  /** The visible effect for a user of the crib; it must differ before and after. */
  readonly show: Show;
  readonly files?: Readonly<Record<string, string>>;
  readonly options?: CribOptions;
  /** Done before the crib is created. */
  readonly prepare?: () => { mockRestore(): void };
  /** The key under which the value is read, where that is another: a file of servers becomes sources. */
  readonly readAs?: string;
}

/** The objects that an observation may use. */
export interface Place {
  readonly crib: Crib;
  readonly folder: string;
  readonly upstream: Upstream;
}

export type Show = (place: Place) => Promise<unknown>;

export interface Shown {
  readonly text: string;
  /** The keys that were read meanwhile. */
  readonly read: ReadonlySet<string>;
}

export const ALICE: Caller = { id: 'alice', roles: ['dev'], permissions: ['pay'] };
export const BOB: Caller = { id: 'bob', roles: ['ops'] };

/** Creates a crib from a file, and shows what it does. `SERVER` in the file is the address of the server that others are. */
export async function showCrib(
  written: Written,
  { show, files = {}, options }: Omit<Row, 'before' | 'after'>,
): Promise<Shown> {
  const upstream = await startUpstream();
  const all = { 'toolcrib.yaml': JSON.stringify(written), ...files };
  const folder = folderWith(mapValues(all, (text) => text.replaceAll('SERVER', upstream.url)));
  for (const name of Object.keys(files)) if (name.endsWith('.pem')) chmodSync(join(folder, name), 0o600);
  const read = new Set<string>();
  const store = written.store === undefined ? { store: { url: 'memory:' } } : {};
  const given = { watch: false, ...store, executors: [tasks()], ...options, configFile: folder };
  const observe = (config: Config) => recordReads(configNode, config, (key) => read.add(key));
  const shown = await createObservedCrib(given, observe).then(async (crib) => {
    onTestFinished(() => crib.close());
    const seen = await show({ crib, folder, upstream });
    await crib.close();
    return seen;
  }, refusalOf);
  const text = JSON.stringify(shown, null, 1).replaceAll(folder, '.').replaceAll(upstream.url, 'SERVER');
  return { text, read };
}

/** A configuration that is refused shows so. */
function refusalOf(error: unknown): unknown {
  if (error instanceof ToolcribError) return { refused: error.message };
  throw error;
}

function mapValues(map: Readonly<Record<string, string>>, change: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(map).map(([key, text]) => [key, change(text)]));
}

/** Runs the tools of the tables. */
function tasks(): Executor {
  let count = 0;
  let running = 0;
  const passing = toolError('unavailable', 'passing', { retryable: true });
  const work: Readonly<Record<string, (call: ToolCall) => unknown>> = {
    echo: ({ input, settings, services }) => ({ input, settings, services: Object.keys(services) }),
    counted: () => ++count,
    flaky: () => (count++ === 0 ? failed(passing) : count),
    fail: () => failed(passing),
    large: ({ input }) => 'x'.repeat(Number(input.bytes ?? 3000)),
    late: async ({ signal }) => timers.setTimeout(60, 'late', { signal }),
    async together() {
      const seen = ++running;
      await timers.setTimeout(20);
      running--;
      return seen;
    },
  };
  return {
    kind: 'task',
    runSchema: { type: 'object', required: ['task'] },
    async execute(call, { task }) {
      const made = await work[String(task)]?.(call);
      return typeof made === 'object' && made !== null && 'status' in made
        ? (made as ToolResult)
        : done(JSON.stringify(made), made as JsonValue); // data of ours
    },
  };
}

/** A tool as data that does one of the tasks. */
export function tool(more: Written = {}, name = 'echo'): Written {
  const run = { kind: 'task', task: name };
  return { name, description: 'Says what it was told', input: { type: 'object' }, run, ...more };
}

/** The result of a call, without parts that differ from run to run. */
export function outcomeOf(result: ToolResult): unknown {
  if (result.status === 'waiting') return ['waiting', result.waiting.for];
  if (result.status === 'failed') return [result.error.code, result.error.message.replace(/in \d+ ms/, 'in … ms')];
  return result.data ?? result.content;
}

/** The results of calls, made one after another. */
export function calls(name: string, ...made: readonly (readonly [Caller, unknown?, CallOptions?])[]): Show {
  return async ({ crib }) => {
    const outcomes: unknown[] = [];
    for (const [caller, input, options] of made.length === 0 ? ([[ALICE], [ALICE], [BOB]] as const) : made) {
      const chest = await crib.open(undefined, caller);
      outcomes.push(outcomeOf(await chest.call(name, input ?? {}, options ?? {})));
    }
    return outcomes;
  };
}

/** The listing, the explanation and the warnings. */
export const listed: Show = async ({ crib }) => {
  const names = crib.catalog.specs.map((spec) => spec.name);
  return {
    tools: crib.catalog.specs,
    bundles: crib.bundles.names().map((name) => crib.bundles.info(name)),
    sections: crib.sections(),
    explained: names.map((name) => crib.explain(ALICE, undefined, name)),
    shown: (await crib.open(undefined, ALICE)).list().map(({ name }) => name),
    sources: crib.sources().map(({ since: _since, ...report }) => report),
    warnings: crib.warnings(),
  };
};
