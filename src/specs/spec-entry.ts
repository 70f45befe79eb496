import { isRecord } from '../core/json.ts';
import type { KindTraits, ReadRunText, TraitsOf } from '../core/ports/runs.ts';
import { describe } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { toToolSpec } from '../define/define-tool.ts';
import { createSpecAdoption } from './fast-reader.ts';
import { hasReferences, readRunTexts } from './run-texts.ts';
import { pathFieldsOf, resolveRunPaths } from './spec-paths.ts';
import { isLegacyEntry, toEntry } from './text/legacy-spec.ts';

/** Where entries come from. */
export interface EntryOptions {
  /** The name of the source that its specs bear. */
  readonly source: string;
  /** The folder that relative paths of a run start from; absent for what did not come from a file here. */
  readonly folder?: string;
  /** What kinds say about the paths in a run. */
  readonly traitsOf?: TraitsOf | undefined;
  /** Reads the texts of a run that hold `${`; without it they stay as they are. */
  readonly readRunText?: ReadRunText | undefined;
  /** Told of each entry as it came, before it is read. */
  onEntry?(entry: unknown): void;
}

/** Fields of a run that are functions, or belong beside it; data under these names would be taken for them. */
const NOT_FOR_DATA = ['parse', 'parseOutput', 'needs'] as const;

/**
 * Makes the conversion of one entry of a spec list, in our own format or that of seed 003, into a spec. A bad entry
 * throws a `ToolcribError`. Entries are taken over, not copied: they must be nobody else's.
 */
export function createEntryReader(options: EntryOptions): (entry: unknown) => ToolSpec {
  const adopt = createSpecAdoption(options.source, options.folder === undefined ? undefined : pathFields(options));
  return (given) => {
    options.onEntry?.(given);
    const entry = withRunTexts(given, options);
    return adopt(entry) ?? readWithCare(entry, options);
  };
}

/** Found out once for each kind: a list may have a hundred thousand entries. */
function pathFields({ traitsOf = noTraits }: EntryOptions): (kind: string) => ReadonlySet<string> {
  const known = new Map<string, ReadonlySet<string>>();
  return (kind) => {
    const fields = known.get(kind) ?? pathFieldsOf(traitsOf(kind));
    known.set(kind, fields);
    return fields;
  };
}

function noTraits(): KindTraits {
  return {};
}

function withRunTexts(entry: unknown, { readRunText }: EntryOptions): unknown {
  const isConcerned = readRunText !== undefined && isRecord(entry) && hasReferences(entry.run);
  return isConcerned ? readRunTexts(entry, readRunText) : entry;
}

function readWithCare(given: unknown, options: EntryOptions): ToolSpec {
  const { source, folder, traitsOf = noTraits } = options;
  // Texts after the conversion: a command is split into arguments first, so that no value makes more of them.
  const entry = isLegacyEntry(given) ? withRunTexts(toEntry(given), options) : given;
  if (!isRecord(entry)) {
    throw new ToolcribError(
      'not_a_tool',
      `${describe(entry)} is not a tool; a tool has name, description, input and run.`,
    );
  }
  const { run } = entry;
  if (!isRecord(run)) return toToolSpec(entry, source);
  for (const field of NOT_FOR_DATA) {
    if (run[field] === undefined) continue;
    const advice = field === 'needs' ? 'write it beside run' : 'only a tool in code has it';
    throw new ToolcribError('invalid_run', `Tool ${describe(entry.name)}: run has no "${field}"; ${advice}.`);
  }
  if (folder === undefined) return toToolSpec(entry, source);
  return toToolSpec({ ...entry, run: resolveRunPaths(run, folder, traitsOf(String(run.kind))) }, source);
}
