import { isAbsolute, resolve } from 'node:path';
import { isRecord } from '../core/json.ts';
import type { KindTraits, ReadRunText, TraitsOf } from '../core/ports/extension-ports.ts';
import { describe } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { toToolSpec } from '../define/define-tool.ts';
import { createSpecAdoption } from './fast-reader.ts';
import { isLegacyEntry, toEntry } from './legacy-spec.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Options for reading entries. */
export interface EntryOptions {
  /** The name of the source, set on its specs. */
  readonly source: string;
  /** The base folder for relative paths in runs; absent for entries that do not come from a local file. */
  readonly folder?: string;
  /** Path fields of each kind's runs. */
  readonly traitsOf?: TraitsOf | undefined;
  /** Reads texts of a run that contain `${`; without it they stay as written. */
  readonly readRunText?: ReadRunText | undefined;
  /** Receives what is refused: an entry, or a text as a whole. */
  onRefused?(data: unknown): void;
  /** Called with each entry as received, before it is read. */
  onEntry?(entry: unknown): void;
}

/** Fields of a run that are functions, or belong beside it. Data with these names would be mistaken for them. */
const NOT_FOR_DATA = ['parse', 'parseOutput', 'needs'] as const;

/**
 * Creates the function that converts one entry of a spec list, in the current format or that of seed 003, to a spec. It
 * throws a `ToolcribError` for a bad entry. It takes entries over without a copy, so they must not be shared.
 */
export function createEntryReader(options: EntryOptions): (entry: unknown) => ToolSpec {
  const adopt = createSpecAdoption(options.source, options.folder === undefined ? undefined : pathFields(options));
  return (given) => {
    options.onEntry?.(given);
    const entry = withRunTexts(given, options);
    return adopt(entry) ?? readWithCare(entry, options);
  };
}

/** Cached per kind: a list may have a hundred thousand entries. */
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
  // Texts are read after the conversion: a command is split into arguments first, so that a value cannot add arguments.
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
    const advice = field === 'needs' ? 'write it beside run' : 'only tools defined in code can have it';
    throw new ToolcribError(
      'invalid_run',
      `Tool ${describe(entry.name)}: "${field}" is not allowed in run; ${advice}.`,
    );
  }
  if (folder === undefined) return toToolSpec(entry, source);
  const traits = typeof run.kind === 'string' ? traitsOf(run.kind) : {};
  return toToolSpec({ ...entry, run: resolveRunPaths(run, folder, traits) }, source);
}

/** Path fields of kinds that do not name theirs. */
const USUAL_FIELDS: readonly string[] = ['cwd', 'file', 'module', 'sandbox.read', 'sandbox.write'];

/** The top-level fields of a kind's runs that are paths or contain paths. */
function pathFieldsOf({ pathFields = USUAL_FIELDS }: KindTraits): ReadonlySet<string> {
  return new Set(pathFields.map((field) => field.replace(/\..*/, '')));
}

/** The run with relative paths resolved from the folder of its file. */
function resolveRunPaths(run: Fields, folder: string, traits: KindTraits): Fields {
  const { pathFields = USUAL_FIELDS, findsModules } = traits;
  const resolved = pathFields.reduce((fields, field) => resolveField(fields, field, folder), run);
  const isFound = findsModules === 'always' || (findsModules === 'byName' && isName(run.module));
  return isFound ? { ...resolved, folder: resolvePath(run.folder ?? '.', folder) } : resolved;
}

function resolveField(fields: Fields, field: string, folder: string): Fields {
  const [outer = '', inner] = field.split('.');
  const value = fields[outer];
  if (value === undefined) return fields;
  if (inner !== undefined) return isRecord(value) ? { ...fields, [outer]: resolveField(value, inner, folder) } : fields;
  // `file_tools` and `lodash` are names; only `./tools.ts` is a path.
  if (outer === 'module') return isDotted(value) ? { ...fields, module: resolve(folder, value) } : fields;
  const resolved = Array.isArray(value) ? value.map((path) => resolvePath(path, folder)) : resolvePath(value, folder);
  return { ...fields, [outer]: resolved };
}

// A path that begins with a placeholder may become absolute, so it is resolved after it is filled in.
function resolvePath(path: unknown, folder: string): unknown {
  if (typeof path !== 'string' || path === '' || path.startsWith('{') || isAbsolute(path)) return path;
  return resolve(folder, path);
}

function isName(module: unknown): boolean {
  return typeof module === 'string' && !isDotted(module) && !isAbsolute(module);
}

function isDotted(path: unknown): path is string {
  return typeof path === 'string' && /^\.{1,2}([/\\]|$)/.test(path);
}

/** Deeper nesting is rejected elsewhere. */
const MAX_DEPTH = 200;

/** True if a text of a run contains `${`, at any depth. */
function hasReferences(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  for (const key in value) if (hasReferences((value as Fields)[key], depth + 1)) return true; // an own key
  return false;
}

/** Reads the texts of the entry's run. Keys, and everything beside the run, stay as written. */
function readRunTexts(entry: Fields, read: ReadRunText): Fields {
  const mistakes: string[] = [];
  const readAt = (value: unknown, path: string, depth: number): unknown => {
    if (typeof value === 'string') return value.includes('${') ? readOne(value, path) : value;
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((item, index) => readAt(item, `${path}[${index}]`, depth + 1));
    const members = Object.entries(value);
    return Object.fromEntries(members.map(([key, member]) => [key, readAt(member, memberOf(path, key), depth + 1)]));
  };
  const readOne = (text: string, path: string): string => {
    const reading = read(text);
    if ('text' in reading) return reading.text;
    for (const mistake of reading.mistakes) mistakes.push(`${path} ${mistake}`);
    return text;
  };
  const run = readAt(entry.run, 'run', 0);
  if (mistakes.length === 0) return { ...entry, run };
  throw new ToolcribError('invalid_run', `Tool ${describe(entry.name)}: ${mistakes.join(' ')}`);
}

function memberOf(path: string, key: string): string {
  return /^[\w-]{1,64}$/.test(key) ? `${path}.${key}` : `${path}[${describe(key)}]`;
}
