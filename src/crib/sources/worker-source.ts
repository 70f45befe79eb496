import { hash } from 'node:crypto';
import { type Bundle, whyNot } from '../../core/bundle.ts';
import { canonicalJson, copyJson, isJson, isJsonObject, isRecord, type JsonObject } from '../../core/json.ts';
import type { KeptListPort } from '../../core/ports/store.ts';
import type { LiveSource, Source, SourceContext } from '../../core/source.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { createRun, ELSEWHERE, kindOf, RUN, type ToolSpec } from '../../core/tool-spec.ts';
import { createKeptList, createListing, type KeptList } from '../../specs/spec-listing.ts';
import { repeat } from '../../system/clock.ts';
import { keptList, type LazyStore } from '../configured/lazy-store.ts';

/** The command that starts a worker for a source. */
export function workerCommand(source: string): string {
  return `toolcrib worker --source ${/^[\w.:-]+$/.test(source) ? source : JSON.stringify(source)}`;
}

/** The facts that decide where sources with `runOn: worker` run. */
export interface WorkerPlace {
  readonly store: LazyStore;
  /** The sources with `runOn: worker` that this process starts; true for all, absent for none. */
  readonly worker?: true | readonly string[];
  /** True if other processes cannot open the store. */
  isInMemory(): boolean;
}

/** A source with `runOn: worker`, as this process has it. `kind` is the kind of its entry: a list of another kind does not count. */
export function onWorkers(source: Source, kind: string, { store, worker, isInMemory }: WorkerPlace): Source {
  if (isInMemory()) return unsharedSource(source);
  const kept = keptList(`${source.name}:worker`, kind, store);
  const isHere = worker === true || worker?.includes(source.name) === true;
  return isHere ? workerSource(source, kept) : elsewhereSource(source, kept);
}

/** A source that cannot run on workers, because no other process can open the store. */
function unsharedSource({ name, bundle }: Source): Source {
  const message =
    'runOn: worker needs a store that other processes can open, but this store is in memory. Name a file or a PostgreSQL database as store.url, or remove runOn.';
  return {
    name,
    ...(bundle !== undefined && { bundle }),
    start: () => Promise.reject(new ToolcribError('not_available', message)),
  };
}

/** A source of this worker. Stores its list, so that other processes can show its tools. */
function workerSource(source: Source, port: KeptListPort): Source {
  let kept: KeptList | undefined;
  let live: LiveSource | undefined;
  let services: SourceContext['services'] = {};
  let written = '';
  const write = (specs: readonly ToolSpec[]): void => {
    if (specs.length === 0 && live?.status().state !== 'ready') return; // it has not been listed yet
    const surroundings = { env: process.env, platform: process.platform, services };
    const entries = specs.filter((spec) => whyNot(spec.when, surroundings) === undefined).map(toEntry);
    const bundles = (live?.bundles?.() ?? []).flatMap(toData);
    const mark = hash('sha256', canonicalJson([entries, bundles]));
    if (mark === written) return;
    written = mark;
    kept?.write(entries, { hash: mark, about: { bundles } });
  };
  return {
    ...source,
    runOn: 'worker',
    // The specs come here checked, and with the names that they have at the source.
    adjust(specs) {
      write(specs);
      return source.adjust?.(specs) ?? specs;
    },
    async start(context) {
      const { warn } = context;
      kept = createKeptList(port, { ...context, warn: (message) => warn(`${source.name}: ${message}`) });
      services = context.services;
      live = await source.start(context);
      return live;
    },
  };
}

/** A spec as data, with its kind but without its run. The conditions of the worker hold, so they are left out. */
function toEntry(spec: ToolSpec): object {
  const { when: _when, source: _source, ...data } = spec;
  return { ...data, kind: kindOf(spec) };
}

/** The data of a bundle, without its functions. */
function toData({ setup: _setup, ready: _ready, when: _when, ...bundle }: Bundle): readonly JsonObject[] {
  const copy = isJson(bundle) ? copyJson(bundle) : undefined;
  return isJsonObject(copy) ? [copy] : [];
}

/** Poll interval for lists that workers store. */
const LOOK_EVERY_MS = 2000;

/** A source that only workers start. This process shows the tools that a worker stored, and hands their calls to workers. */
function elsewhereSource(source: Source, port: KeptListPort): Source {
  const { onUse: _onUse, startTimeoutMs: _startTimeoutMs, ...rest } = source;
  return { ...rest, runOn: 'worker', isElsewhere: true, start: () => followWorkers(source.name, port) };
}

async function followWorkers(name: string, port: KeptListPort): Promise<LiveSource> {
  const listing = createListing();
  let bundles: readonly Bundle[] = [];
  let shown: string | undefined;
  const read = async (): Promise<void> => {
    try {
      const list = await port.get();
      if (list === undefined)
        return shown === undefined ? listing.fail(`waits for a worker. Start one: ${workerCommand(name)}`) : undefined;
      if (list.hash === shown) return;
      shown = list.hash;
      bundles = readBundles(list.about?.bundles);
      listing.show(list.specs.flatMap((entry) => readEntry(entry, name)));
    } catch (cause) {
      if (!(cause instanceof ToolcribError)) throw cause;
      if (shown === undefined) listing.fail(`the list of its workers cannot be read: ${messageOf(cause)}`);
    }
  };
  await read();
  const stop = repeat(LOOK_EVERY_MS, read);
  const { specs, onChange, status } = listing;
  return {
    specs,
    bundles: () => bundles,
    onChange,
    status,
    refresh: read,
    async close() {
      stop();
      listing.close();
    },
  };
}

/** A tool of a stored list. An entry of an unknown shape is left out: a worker of another version may have stored it. */
function readEntry({ kind, ...entry }: JsonObject, source: string): readonly ToolSpec[] {
  const { name, input, effects, policy, tags, description, origin } = entry;
  const isKnown =
    [kind, name, description, origin].every((text) => typeof text === 'string') &&
    [input, effects, policy].every(isRecord) &&
    Array.isArray(tags);
  if (!isKnown) return [];
  const run = createRun({ kind: String(kind), [ELSEWHERE]: true });
  return [Object.freeze({ ...(entry as unknown as ToolSpec), source, [RUN]: run })]; // checked above
}

function readBundles(bundles: unknown): readonly Bundle[] {
  const isBundle = (bundle: unknown): bundle is Bundle => isRecord(bundle) && typeof bundle.name === 'string';
  return Array.isArray(bundles) ? bundles.filter(isBundle) : [];
}
