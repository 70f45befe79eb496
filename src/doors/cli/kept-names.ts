import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { isRecord } from '../../core/json.ts';
import { type ToolSpec, UNREAD } from '../../core/tool-spec.ts';
import type { Crib } from '../../crib/crib.ts';
import { createFolder } from '../../system/create-folder.ts';
import { CONFIG_NAMES } from './flags.ts';
import { attempt, isPrivate, openPrivateCache, replaceFile } from './private-cache.ts';

/** The names of a configuration that shell completion offers. */
export interface KeptNames {
  /** The tools, each with the names of its arguments. */
  readonly tools: ReadonlyMap<string, readonly string[]>;
  readonly profiles: readonly string[];
  readonly bundles: readonly string[];
  readonly sources: readonly string[];
  readonly tags: readonly string[];
}

const LISTS = ['profiles', 'bundles', 'sources', 'tags'] as const;
/** Maximum number of tool names to store, so that storing them slows no command down. */
const MOST_TOOLS = 20_000;
const MAX_BYTES = 16_000_000;
/** Maximum number of configurations whose names are stored. */
const MOST_FILES = 200;

/**
 * Stores the names of a configuration for completion, in the user's own cache directory. Names in the cache prove that this
 * user has used the configuration. A file beside the configuration would prove nothing: it may come with a cloned folder.
 */
export function keepNames(config: string | undefined, crib: Crib): void {
  attempt(() => {
    const place = placeOf(config);
    const file = fileOf(place);
    if (file === undefined) return;
    createFolder(dirname(file));
    const text = JSON.stringify({ place, ...namesOf(crib) });
    if (text.length > MAX_BYTES || attempt(() => readOwn(file)) === text) return;
    replaceFile(file, text);
    removeOldest(dirname(file));
  });
}

/** The stored names of a configuration; none if this user has not used it. Does not read the configuration. */
export function readNames(config: string | undefined): KeptNames {
  const fields = attempt(() => readFields(placeOf(config))) ?? {};
  const tools = Object.entries(isRecord(fields.tools) ? fields.tools : {});
  const [profiles = [], bundles = [], sources = [], tags = []] = LISTS.map((list) => plainWords(fields[list]));
  return {
    tools: new Map(tools.filter(([name]) => isPlainWord(name)).map(([name, words]) => [name, plainWords(words)])),
    profiles,
    bundles,
    sources,
    tags,
  };
}

function readFields(place: string): Readonly<Record<string, unknown>> | undefined {
  const file = fileOf(place);
  const kept: unknown = file === undefined ? undefined : JSON.parse(readOwn(file));
  return isRecord(kept) && kept.place === place ? kept : undefined;
}

/** The cache file for a place. Two places with the same checksum share a file, so the file also names its place. */
function fileOf(place: string): string | undefined {
  const cache = openPrivateCache();
  return cache === undefined ? undefined : join(cache, 'names', `${crc32(place).toString(16)}.json`);
}

/**
 * The canonical path of a configuration, or of a folder without one. Links to a configuration are not followed:
 * resolving a link can open a network connection.
 */
function placeOf(config: string | undefined): string {
  const path = resolve(config ?? '.');
  if (!lstatSync(path).isDirectory()) return join(realpathSync(dirname(path)), basename(path));
  const folder = realpathSync(path);
  const isThere = (name: string) => lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  return join(folder, CONFIG_NAMES.find(isThere) ?? '');
}

/** The text of a file; throws unless this user owns it and no other user can write to it. */
function readOwn(file: string): string {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || !isPrivate(status) || status.size > MAX_BYTES) throw new Error(`${file} is not ours.`);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

function namesOf(crib: Crib): object {
  const specs = crib.catalog.specs.slice(0, MOST_TOOLS).filter(({ name }) => isPlainWord(name));
  return {
    tools: Object.fromEntries(specs.map((spec) => [spec.name, argumentsOf(spec)])),
    profiles: plainWords(crib.profiles()),
    bundles: plainWords(crib.bundles.names()),
    sources: plainWords(crib.sources().map(({ name }) => name)),
    tags: plainWords([...new Set(specs.flatMap(({ tags }) => tags))]),
  };
}

/** Tools of large files that are not parsed yet stay unparsed. */
function argumentsOf(spec: ToolSpec): readonly string[] {
  const properties = spec[UNREAD] === undefined ? spec.input.properties : undefined;
  return isRecord(properties) ? plainWords(Object.keys(properties)) : [];
}

function plainWords(words: unknown): readonly string[] {
  return Array.isArray(words) ? words.filter(isPlainWord) : [];
}

/** True if every shell takes the word without quotes. Names come from servers, and a shell puts them into a command line. */
function isPlainWord(word: unknown): word is string {
  return typeof word === 'string' && /^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,127}$/.test(word);
}

function removeOldest(folder: string): void {
  const files = readdirSync(folder).map((name) => join(folder, name));
  if (files.length <= MOST_FILES) return;
  const byAge = files.map((file) => ({ file, at: statSync(file).mtimeMs })).sort((a, b) => a.at - b.at);
  for (const { file } of byAge.slice(0, files.length - MOST_FILES)) rmSync(file, { force: true });
}
