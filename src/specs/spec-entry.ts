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
  const traits = typeof run.kind === 'string' ? traitsOf(run.kind) : {};
  return toToolSpec({ ...entry, run: resolveRunPaths(run, folder, traits) }, source);
}

/** Fields that are paths where the kind does not say which are. */
const USUAL_FIELDS: readonly string[] = ['cwd', 'file', 'module', 'sandbox.read', 'sandbox.write'];

/** The fields of a run of this kind that are paths or hold some. */
function pathFieldsOf({ pathFields = USUAL_FIELDS }: KindTraits): ReadonlySet<string> {
  return new Set(pathFields.map((field) => field.replace(/\..*/, '')));
}

/** How a tool runs, with relative paths taken from the folder of the file that names them. */
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

// What begins with a placeholder may turn out to be absolute, and is for whoever fills it in.
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

/** Nothing that is nested deeper is let in. */
const MAX_DEPTH = 200;

/** True if a text of a run holds `${`, at any depth. */
function hasReferences(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  for (const key in value) if (hasReferences((value as Fields)[key], depth + 1)) return true; // an own key
  return false;
}

/** The entry with the texts of its run read. Its names, like everything beside the run, stay as they are written. */
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
