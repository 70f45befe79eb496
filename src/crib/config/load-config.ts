import { access } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import {
  type ConfigText,
  MAX_MISTAKES,
  type Mistake,
  objectText,
  parseLeniently,
  readConfigFile,
  readConfigText,
  toConfigError,
  toPathText,
} from '../../config/config-text.ts';
import { type ConfigSpot, readBySchema, report } from '../../config/read-by-schema.ts';
import { copyJson, freezeJson, NotJsonError } from '../../core/json.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { isPlaceholder } from '../../system/placeholders.ts';
import { loadExamples } from '../enrich/examples-file.ts';
import { configNode, mayBeEmpty } from './config-schema.ts';
import {
  CONFIG_FILE_NAMES,
  type Config,
  type ConfigProblem,
  INLINE,
  type LoadedConfig,
  toProblem,
} from './loaded-config.ts';
import { readSources } from './read-sources.ts';

/** The environment that a configuration is read in. */
export interface ConfigSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Secrets that code declares. */
  readonly secretNames?: Iterable<string>;
}

/** The configuration file, or the folder to search. */
export interface ConfigPlace {
  readonly file?: string;
  readonly cwd: string;
}

/** Reads the named file, or the one in `cwd`. Without a file the configuration is empty. */
export async function loadConfig(options: ConfigSurroundings & ConfigPlace): Promise<LoadedConfig> {
  const { cwd } = options;
  const there = options.file === undefined ? await findFiles(cwd) : [resolve(cwd, options.file)];
  const [file, ...others] = there;
  const showFile = (path: string) => showFrom(cwd, path);
  if (file === undefined) return readConfig({}, { ...options, folder: cwd, text: objectText('config'), showFile });
  const text = await readConfigText(await readConfigFile(file, showFile(file)), showFile(file));
  const loaded = await readConfig(text.value ?? {}, { ...options, folder: dirname(file), file, text, showFile });
  const unread = others.map((other) => `${showFile(other)} is ignored, because ${showFile(file)} exists.`);
  return { ...loaded, isEmpty: text.value === undefined || text.value === null, notes: [...loaded.notes, ...unread] };
}

/** The value of a file as far as it can be parsed; undefined if it cannot be read. */
export async function readWritten(file: string): Promise<unknown> {
  try {
    return await parseLeniently(await readConfigFile(file, file), file);
  } catch (error) {
    if (error instanceof ToolcribError) return undefined;
    throw error;
  }
}

/** Path of the named file, or of the one in `cwd`. */
export async function findConfig({ file, cwd }: ConfigPlace): Promise<string | undefined> {
  return file === undefined ? (await findFiles(cwd))[0] : resolve(cwd, file);
}

/** Reads a configuration given as an object. */
export async function readConfigObject(
  value: unknown,
  options: ConfigSurroundings & { readonly folder: string },
): Promise<LoadedConfig> {
  const { folder } = options;
  const showFile = (path: string) => showFrom(folder, path);
  return readConfig(copyData(value), { ...options, text: objectText('config'), showFile });
}

interface ConfigReading extends ConfigSurroundings {
  readonly folder: string;
  readonly file?: string;
  readonly text: ConfigText;
  showFile(file: string): string;
}

async function readConfig(value: unknown, reading: ConfigReading): Promise<LoadedConfig> {
  const { folder, file, text, env, secretNames = [], showFile } = reading;
  const notes: string[] = [];
  const written = withoutEmptySections(value);
  const known = new Set([...secretNames, ...Object.keys(asMap(written.secrets) ?? {})]);
  const surroundings = { env, folder, secretNames: known, note: (message: string) => void notes.push(message) };
  const spot: ConfigSpot = { path: [], surroundings, mistakes: [] };
  const { sources = {}, mcpServers = {}, tools, $schema: _schema, ...rest } = written;
  const read = readBySchema(configNode, isMap(value) ? rest : value, spot) as Omit<Config, 'sources'>; // valid without mistakes
  for (const [key, block] of Object.entries({ sources, mcpServers })) {
    if (!isMap(block)) report({ ...spot, path: [key] }, 'must be a map from names to entries.');
  }
  if (spot.mistakes.length === 0) await checkSchedules(read.schedules, spot);
  const inline = readTools(tools, spot, text);
  const found = await readSources(asMap(sources) ?? {}, asMap(mcpServers) ?? {}, { text, surroundings, showFile });
  const reports = [...spot.mistakes.map(text.show), ...found.clashes];
  if (reports.length > 0) throw toConfigError(text.shownAs, reports);
  const examples = await loadExamples(read.retrieval?.examples);
  return {
    ...(file !== undefined && { file }),
    folder,
    written: value,
    config: freezeJson({ ...read, ...inline.config, sources: found.sources }),
    declared: found.declared,
    problems: [...found.problems, ...inline.problems],
    toolIndexes: inline.indexes,
    notes: [...notes, ...(examples?.notes ?? [])],
    examples,
    readings: found.readings,
    files: [...(file === undefined ? [] : [file]), ...found.files, ...(examples === undefined ? [] : [examples.file])],
    locate: (path) => text.locate({ path, at: 'key' }),
    show: (path, message) => text.show({ path, at: 'value', message }),
  };
}

/** Reports schedules that can never run, and too many of them. */
async function checkSchedules(written: Config['schedules'], spot: ConfigSpot): Promise<void> {
  if (written === undefined) return;
  const { MOST_SCHEDULES, readSchedules } = await import('../../tasks/schedule.ts'); // only if there are any
  const at = { ...spot, path: ['schedules'] };
  const count = Object.keys(written).length;
  if (count > MOST_SCHEDULES) return report(at, `has ${count} entries; at most ${MOST_SCHEDULES} are allowed.`, 'key');
  const { mistakes } = await readSchedules(written);
  for (const { name, key, message } of mistakes.slice(0, MAX_MISTAKES)) {
    const path = ['schedules', name, ...(key === undefined ? [] : [key])];
    spot.mistakes.push({ path, at: key === undefined ? 'key' : 'value', message: `${toPathText(path)}: ${message}` });
  }
}

/** The tools of a configuration without those that have problems, and the index of each in the list. */
interface ReadTools {
  readonly config: Pick<Config, 'tools'>;
  readonly indexes: readonly number[];
  readonly problems: readonly ConfigProblem[];
}

/** Reads `tools`, each entry on its own, so that one bad tool never stops the others. */
function readTools(written: unknown, spot: ConfigSpot, text: ConfigText): ReadTools {
  if (written === undefined) return { config: {}, indexes: [], problems: [] };
  const node = configNode.properties?.tools ?? {};
  if (!Array.isArray(written)) readBySchema(node, written, { ...spot, path: ['tools'] }); // reports the wrong type
  const entries = (Array.isArray(written) ? written : []).map((entry, index) => {
    const mistakes: Mistake[] = [];
    const tool = readBySchema(node.items ?? {}, entry, { ...spot, path: ['tools', index], mistakes });
    return { index, mistakes, tool: tool as NonNullable<Config['tools']>[number] }; // valid without mistakes
  });
  const good = entries.filter(({ mistakes }) => mistakes.length === 0);
  return {
    config: { tools: good.map(({ tool }) => tool) },
    indexes: good.map(({ index }) => index),
    problems: entries.flatMap(({ mistakes }) => mistakes.map((mistake) => toProblem(INLINE, mistake, text))),
  };
}

/** Ignores empty sections, whose lines may all be commented out. Below a section, an empty value is a mistake. */
function withoutEmptySections(value: unknown): Readonly<Record<string, unknown>> {
  const isEmptySection = ([key, member]: [string, unknown]) => member === null && mayBeEmpty(key);
  return Object.fromEntries(Object.entries(asMap(value) ?? {}).filter((entry) => !isEmptySection(entry)));
}

async function findFiles(cwd: string): Promise<readonly string[]> {
  const files = CONFIG_FILE_NAMES.map((name) => join(cwd, name));
  const isThere = await Promise.all(
    files.map((file) =>
      access(file).then(
        () => true,
        (error: { readonly code?: string }) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR', // other errors are reported when the file is read
      ),
    ),
  );
  return files.filter((file, index) => isThere[index] && !isPlaceholder(file));
}

function showFrom(folder: string, file: string): string {
  const short = relative(folder, file);
  return short.startsWith('..') || isAbsolute(short) ? file : short;
}

function copyData(value: unknown): unknown {
  try {
    return copyJson(value);
  } catch (cause) {
    if (!(cause instanceof NotJsonError)) throw cause;
    throw new ToolcribError('invalid_config', `The configuration must be plain data: ${cause.message}.`, { cause });
  }
}

function asMap(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isMap(value) ? value : undefined;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
