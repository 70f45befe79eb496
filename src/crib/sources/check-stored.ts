import type { Catalog } from '../../core/catalog.ts';
import type { Source } from '../../core/source.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import { createEntryReader } from '../../specs/spec-entry.ts';
import { type AdmitOptions, admit } from './accept-spec.ts';
import { requireUnreserved } from './name-clashes.ts';

/** The reason why an entry cannot be stored as a tool. */
export interface EntryMistake {
  /** Index of the entry, from 0. */
  readonly index: number;
  readonly message: string;
}

export interface CheckStoredOptions {
  readonly sources: readonly Source[];
  readonly admission: AdmitOptions;
  readonly catalog: Catalog;
}

/** Checks entries before they are stored, with the same checks as loading them from the store. */
export function checkStored(entries: readonly unknown[], options: CheckStoredOptions): readonly EntryMistake[] {
  const readers = readersAmong(options.sources);
  const names = new Set(readers.map((source) => source.name));
  const places = new Map<string, number>();
  return entries.flatMap((entry, index) => {
    const outcomes = readers.map((source) => attempt(() => readAs(entry, source, { ...options, names })));
    // One source that accepts the entry is enough; otherwise the error of the first is reported.
    const spec = outcomes.find((outcome) => !(outcome instanceof ToolcribError)) ?? outcomes[0];
    if (spec === undefined || spec instanceof ToolcribError) return [{ index, message: spec?.message ?? '' }];
    const first = places.get(spec.origin);
    if (first === undefined) places.set(spec.origin, index);
    else return [{ index, message: `"${spec.origin}" appears twice, first as tools[${first}]; keep one.` }];
    return [];
  });
}

type Reader = Pick<Source, 'name' | 'kinds' | 'adjust'> & Required<Pick<Source, 'readStored'>>;

/** The sources that read the store. If there is none yet, entries are checked on their own. */
function readersAmong(sources: readonly Source[]): readonly Reader[] {
  const readers = sources.flatMap(({ readStored, ...source }) =>
    readStored === undefined ? [] : [{ ...source, readStored }],
  );
  const noSource = { name: 'the store', readStored: createEntryReader({ source: 'the store' }) };
  return readers.length > 0 ? readers : [noSource];
}

interface Judging extends CheckStoredOptions {
  /** Names of the sources that read the store. */
  readonly names: ReadonlySet<string>;
}

function readAs(entry: unknown, source: Reader, { admission, catalog, names }: Judging): ToolSpec {
  // Checked as trusted: the operator who adds the entry can fix what would be dropped from an untrusted schema.
  const spec = admit(source.readStored(structuredClone(entry)), { ...source, trust: true, start }, admission);
  for (const side of ['input', 'output'] as const) {
    const compiled = attempt(() => admission.schemas[side](spec));
    if (!(compiled instanceof ToolcribError)) continue;
    throw new ToolcribError(compiled.code, `Tool "${spec.name}", ${side}: ${compiled.message}`, { cause: compiled });
  }
  const name = nameAs(spec, source);
  requireUnreserved(name, source.name);
  const owner = catalog.get(name)?.source;
  if (owner === undefined || names.has(owner)) return spec;
  throw new ToolcribError('duplicate', `"${name}" is already a tool of ${owner}; choose another name.`);
}

/** The source is only used for checks and never started. */
const start: Source['start'] = () =>
  Promise.reject(new ToolcribError('not_a_source', 'This source cannot be started.'));

/** The tool name after the settings of the source. A mistake in those settings is not a mistake of the entry. */
function nameAs(spec: ToolSpec, source: Reader): string {
  const adjusted = attempt(() => source.adjust?.([spec])[0] ?? spec);
  return adjusted instanceof ToolcribError ? spec.name : adjusted.name;
}

function attempt<T>(work: () => T): T | ToolcribError {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof ToolcribError) return cause;
    throw cause;
  }
}
