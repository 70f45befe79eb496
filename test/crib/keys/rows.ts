import timers from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { configNode } from '../../../src/crib/config/config-schema.ts';
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
  type ToolResult,
  toolError,
} from '../../../src/index.ts';
import { folderWith } from '../workshop.ts';
import { recordReads } from './record-reads.ts';

/** A configuration as it is written, or a part of it. */
export type Written = Readonly<Record<string, unknown>>;

/** A key, and two configurations that differ in it alone. */
export interface Row {
  readonly key: string;
  readonly before: Written;
  readonly after: Written;
  /** What a user of the crib gets to see; it is other after than before. */
  readonly show: Show;
  readonly files?: Readonly<Record<string, string>>;
  readonly options?: CribOptions;
  /** The key under which the value is read, where that is another: a file of servers becomes sources. */
  readonly readAs?: string;
}

export type Show = (crib: Crib, folder: string) => Promise<unknown>;

export interface Shown {
  readonly text: string;
  /** The keys that were read meanwhile. */
  readonly read: ReadonlySet<string>;
}

export const ALICE: Caller = { id: 'alice', roles: ['dev'], permissions: ['pay'] };
export const BOB: Caller = { id: 'bob', roles: ['ops'] };

/** Creates a crib from a file, and shows what it does. */
export async function showCrib(written: Written, { show, files, options }: Omit<Row, 'before' | 'after'>): Promise<Shown> {
  const folder = folderWith({ 'toolcrib.yaml': JSON.stringify(written), ...files });
  const read = new Set<string>();
  const given = { watch: false, store: { url: 'memory:' }, executors: [tasks()], ...options, configFile: folder };
  const crib = await createObservedCrib(given, (config) => recordReads(configNode, config, (key) => read.add(key)));
  onTestFinished(() => crib.close());
  const shown = await show(crib, folder);
  await crib.close();
  return { text: JSON.stringify(shown, null, 1).replaceAll(folder, '.'), read };
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
      return typeof made === 'object' && made !== null && 'status' in made ? (made as ToolResult) : done(JSON.stringify(made), made as JsonValue); // data of ours
    },
  };
}

/** A tool as data that does one of the tasks. */
export function tool(more: Written = {}, name = 'echo'): Written {
  const run = { kind: 'task', task: name };
  return { name, description: 'Says what it was told', input: { type: 'object' }, run, ...more };
}

/** What became of a call, without what differs from run to run. */
export function outcomeOf(result: ToolResult): unknown {
  if (result.status === 'waiting') return ['waiting', result.waiting.for];
  if (result.status === 'failed') return [result.error.code, result.error.message.replace(/in \d+ ms/, 'in … ms')];
  return result.data ?? result.content;
}

/** What comes of calls, made one after the other. */
export function calls(name: string, ...made: readonly (readonly [Caller, unknown?, CallOptions?])[]): Show {
  return async (crib) => {
    const outcomes: unknown[] = [];
    for (const [caller, input, options] of made.length === 0 ? ([[ALICE], [ALICE], [BOB]] as const) : made) {
      const chest = await crib.open(undefined, caller);
      outcomes.push(outcomeOf(await chest.call(name, input ?? {}, options ?? {})));
    }
    return outcomes;
  };
}

/** What is listed, explained and warned of. */
export const listed: Show = async (crib) => {
  const names = crib.catalog.specs.map((spec) => spec.name);
  return {
    tools: crib.catalog.specs,
    bundles: crib.bundles.names().map((name) => crib.bundles.info(name)),
    sections: crib.sections(),
    explained: names.map((name) => crib.explain(ALICE, undefined, name)),
    shown: (await crib.open(undefined, ALICE)).list().map(({ name }) => name),
    sources: crib.sources(),
    warnings: crib.warnings(),
  };
};
