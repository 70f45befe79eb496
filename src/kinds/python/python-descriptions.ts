import { hash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { canonicalJson, isRecord, type JsonObject, type JsonSchema } from '../../core/json.ts';
import type { SourceContext } from '../../core/source.ts';
import { messageOf } from '../../core/tool-error.ts';
import { RUN, type ToolSpec } from '../../core/tool-spec.ts';
import { createKeptList } from '../../specs/spec-listing.ts';
import type { DescribingOptions } from './described-source.ts';
import { type Found, lookAtPython } from './look-at-python.ts';
import { type PythonPlace, type PythonRun, placeOf } from './python-executor.ts';

/** Import timeout of a module. */
const TIMEOUT_MS = 10_000;

interface Description {
  readonly description: string;
  readonly input: JsonSchema;
}

/** Descriptions of functions, loaded when they are needed. */
export interface PythonDescriptions {
  /** Loads descriptions for tools without an input schema; failures are reported. */
  learn(silent: readonly ToolSpec[]): Promise<void>;
  /** The tool with its description and schema. */
  describe(silent: ToolSpec): ToolSpec;
  /** Resolves when everything is stored. */
  written(): Promise<void>;
}

export interface DescriptionPorts extends DescribingOptions {
  readonly context: SourceContext;
  readonly source: string;
}

/** Starts empty; stored descriptions are read lazily. */
export function createDescriptions(ports: DescriptionPorts): PythonDescriptions {
  const { workers, kept: port, context, source } = ports;
  const { clock, signal } = context;
  const warn = (trouble: string) => context.warn(`${source}: ${trouble}`);
  const kept = createKeptList(port, { clock, warn });
  const known = new Map<string, Description>();
  const made = new WeakMap<ToolSpec, { readonly by: Description; readonly spec: ToolSpec }>();
  let isRead = false;

  const look = async (places: readonly PythonPlace[]): Promise<readonly string[]> => {
    const paths: string[] = [];
    for (const [folder, wanted] of Map.groupBy(places, (place) => place.folder)) {
      const find = wanted.map(({ module, function: name }) => ({ module, function: name }));
      const looked = await lookAtPython({ workers, folder, wanted: find, timeoutMs: TIMEOUT_MS, clock, signal });
      paths.push(...looked.paths, ...looked.found.flatMap(({ file }) => file ?? []));
      for (const [index, place] of wanted.entries()) learnOne(place, looked.found[index]);
    }
    return paths;
  };
  const learnOne = (place: PythonPlace, found: Found | undefined): void => {
    const description = toDescription(found?.tools[0]);
    if (description !== undefined) known.set(keyOf(place), description);
    else warn(`${place.module}.${place.function} cannot be described: ${found?.problems[0] ?? 'not found'}.`);
  };
  const readKept = async (places: readonly PythonPlace[]): Promise<boolean> => {
    if (isRead) return false;
    isRead = true;
    const stored = await kept.read();
    const states = readStates(stored?.about?.states);
    if (stored === undefined || states === undefined || stored.about?.ranBy !== ranBy()) return false;
    if (!(await areUnchanged(states, [workers.interpreter()]))) return false;
    for (const entry of stored.specs) {
      const description = toDescription(entry);
      if (description !== undefined && typeof entry.key === 'string') known.set(entry.key, description);
    }
    return places.every((place) => known.has(keyOf(place)));
  };
  const ranBy = (): string => hash('sha256', workers.settingsText());

  return {
    async learn(silent) {
      const places = silent.map((spec) => placeOf(spec[RUN] as PythonRun)); // the kind was checked
      if (await readKept(places)) return;
      try {
        const paths = await look(places);
        const about = { states: await statesOf([workers.interpreter(), ...paths]), ranBy: ranBy() };
        const entries = Array.from(known, ([key, { description, input }]) => ({ key, description, input }));
        kept.write(entries, { hash: hash('sha256', canonicalJson([entries, about])), about });
      } catch (cause) {
        if (!signal.aborted) warn(`its Python tools cannot be described: ${messageOf(cause)}.`);
      }
    },
    describe(spec) {
      const by = known.get(keyOf(placeOf(spec[RUN] as PythonRun))); // the kind was checked
      if (by === undefined) return spec;
      const before = made.get(spec);
      if (before?.by === by) return before.spec; // the same object, so that it is not checked again
      const described = { ...spec, description: spec.description || by.description, input: by.input };
      made.set(spec, { by, spec: Object.freeze(described) });
      return described;
    },
    written: kept.written,
  };
}

function keyOf({ folder, module, function: name }: PythonPlace): string {
  return [folder, module, name].join('\0');
}

function toDescription(entry: JsonObject | undefined): Description | undefined {
  if (entry === undefined || typeof entry.description !== 'string' || !isRecord(entry.input)) return undefined;
  return Object.freeze({ description: entry.description, input: entry.input });
}

/** States of files and folders, by path, for detecting changes. */
export type PathStates = Readonly<Record<string, string>>;

/** The current states; empty for a missing path. */
export async function statesOf(paths: Iterable<string>): Promise<PathStates> {
  const states = [...new Set(paths)].map(async (path) => [path, await stateOf(path)] as const);
  return Object.fromEntries(await Promise.all(states));
}

/** True if these paths, and all other known ones, are unchanged. */
export async function areUnchanged(before: PathStates, paths: readonly string[]): Promise<boolean> {
  if (paths.some((path) => before[path] === undefined)) return false;
  const now = await statesOf(Object.keys(before));
  return Object.entries(before).every(([path, state]) => now[path] === state);
}

/** Reads stored states; undefined if they are invalid. */
export function readStates(value: unknown): PathStates | undefined {
  if (!isRecord(value) || !Object.values(value).every((state) => typeof state === 'string')) return undefined;
  return value as PathStates; // checked above
}

async function stateOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => undefined);
  if (found === undefined) return '';
  return found.isDirectory() ? String(found.mtimeNs) : `${found.mtimeNs}:${found.size}`;
}
