import { resolve } from 'node:path';
import { expandVariables, readText } from '../../config/read-text.ts';
import { mapOf, type SchemaNode } from '../../config/schema-node.ts';
import { isRecord } from '../../core/json.ts';
import { nearest } from '../../core/read-options.ts';
import { listOf } from '../../core/visible-text.ts';
import { mcpNode } from '../../kinds/mcp/mcp-kind.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';
import { configNode } from '../config/config-schema.ts';
import { type ConfigPlace, findConfig, readWritten } from '../config/load-config.ts';
import type { LoadedConfig } from '../config/loaded-config.ts';
import { findServers, toPastedServer } from '../config/pasted-server.ts';
import { baseOfServers } from '../config/read-sources.ts';
import { pathsOfEntry } from './entry-paths.ts';
import { type NamedPath, namedPaths, type PathPlace } from './named-paths.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A raw block of a configuration, valid or not. */
interface WrittenBlock {
  readonly node: SchemaNode;
  readonly value: unknown;
  /** Base of relative paths. */
  readonly folder: string;
  /** Set in pasted blocks. */
  readonly workspaceFolder?: string;
  readonly pathsOfTool?: PathPlace['pathsOfTool'];
}

interface Given {
  readonly env: Environment;
  /** Secrets that code declares. */
  readonly secrets: Readonly<Record<string, SecretDeclaration>> | undefined;
}

/** All paths that the configuration has named since the start. */
export interface WrittenPaths {
  list(): readonly NamedPath[];
  /** Reads the configuration again. The paths of a rejected one count, too, as the next edit may fix it. */
  follow(load: () => Promise<LoadedConfig>, place: ConfigPlace): Promise<LoadedConfig>;
  /** Adds the files that a refused tool of this machine names. Its relative paths may start from `base`. */
  noteRefused(tool: unknown, base: string): void;
  /** The new tools of the configuration that was read last count as refused: an earlier one is in force again. */
  refuse(): void;
}

type ListPaths = () => readonly NamedPath[];

/** Follows the edits of a configuration. Paths stay listed, as the source of a former entry may still run. */
export async function createWrittenPaths(inForce: () => LoadedConfig, given: Given): Promise<WrittenPaths> {
  const former = new Map<string, NamedPath>();
  const { folder } = inForce();
  let latest = inForce();
  let current = await pathsOfConfig(latest, given);
  let refused: ListPaths = () => [];
  const noteRefused = (tool: unknown, base: string) => {
    const found = pathsOfEntry(tool, { bases: [base, folder, ...rootsOf(latest)], folder, read: readerOf(given.env) });
    for (const path of found) former.set(path, { path });
  };
  return {
    noteRefused,
    list: () => [...current(), ...refused(), ...former.values()],
    async follow(load, place) {
      try {
        const next = await load();
        const paths = await pathsOfConfig(next, given);
        for (const named of current()) former.set(named.path, named);
        [current, latest] = [paths, next];
        refused = () => [];
        return next;
      } catch (error) {
        const file = await findConfig(place);
        const written = file === undefined ? undefined : await readWritten(file);
        refused = await pathsAsWritten(written, {
          folder,
          env: given.env,
          roots: rootsOf(latest),
          isRead: isIn(readTools(inForce())),
        });
        throw error;
      }
    },
    refuse() {
      const isKnown = isIn(readTools(inForce()));
      for (const tool of readTools(latest)) if (!isKnown(tool)) noteRefused(tool, folder);
    },
  };
}

/** The tools of a configuration as written, without those that have a mistake. */
function readTools({ written, toolIndexes }: LoadedConfig): readonly unknown[] {
  const tools = isRecord(written) && Array.isArray(written.tools) ? written.tools : [];
  return toolIndexes.map((index) => tools[index]);
}

function isIn(tools: readonly unknown[]): (tool: unknown) => boolean {
  const texts = new Set(tools.map((tool) => JSON.stringify(tool)));
  return (tool) => texts.has(JSON.stringify(tool));
}

function rootsOf({ config, folder }: LoadedConfig): readonly string[] {
  return listOf(config.executors?.shell?.roots).map((root) => resolve(folder, root));
}

/** The paths of the checked configuration, and those of its raw data with mistakes and disabled entries. */
async function pathsOfConfig(loaded: LoadedConfig, { env, secrets }: Given): Promise<ListPaths> {
  const { folder, written, config } = loaded;
  const isRead = isIn(readTools(loaded));
  const asWritten = await pathsAsWritten(written, { folder, env, roots: rootsOf(loaded), isRead });
  const place: PathPlace = { base: folder, folder, env, read: (_, text) => text };
  const all = { ...config, secrets: { ...config.secrets, ...secrets } };
  return () => [...namedPaths(configNode, all, place), ...asWritten()];
}

/** The context of raw data. */
interface WrittenPlace {
  readonly folder: string;
  readonly env: Environment;
  /** The folders from which commands start. */
  readonly roots: readonly string[];
  /** True for a tool that is not refused. */
  isRead(tool: unknown): boolean;
}

/** The paths in raw data, which may contain mistakes. Files of servers and refused tools are read now. */
async function pathsAsWritten(written: unknown, { folder, env, roots, isRead }: WrittenPlace): Promise<ListPaths> {
  const read = readerOf(env);
  const known = new Map<unknown, readonly NamedPath[]>();
  const pathsOfTool = (tool: unknown) => {
    const found =
      known.get(tool) ??
      (isRead(tool) ? [] : pathsOfEntry(tool, { bases: [folder, ...roots], folder, read }).map((path) => ({ path })));
    known.set(tool, found);
    return found;
  };
  const own: WrittenBlock = { node: configNode, value: written, folder, pathsOfTool };
  const files = pathsInBlock(own, env).filter(({ holds }) => holds === 'servers');
  const servers = await Promise.all(files.map(({ path }) => readServers(path, folder)));
  const pasted = Object.entries(isRecord(written) ? written : {})
    .filter(([key]) => nearest(key, ['mcpServers']) !== undefined)
    .map(([, block]) => toBlock(block, folder, folder));
  const blocks = [own, ...pasted, ...servers];
  return () => blocks.flatMap((block) => pathsInBlock(block, env));
}

/** Expands the variables of a text as far as they are set. */
function readerOf(env: Environment): (text: string) => string {
  return (text) => {
    const { parts } = expandVariables(text, { env, secretNames: new Set() });
    return parts.map((part) => (typeof part === 'string' ? part : '')).join('');
  };
}

async function readServers(file: string, workspaceFolder: string): Promise<WrittenBlock> {
  const root = await readWritten(file);
  return toBlock(findServers(root)?.servers ?? root, baseOfServers(file), workspaceFolder);
}

function toBlock(servers: unknown, folder: string, workspaceFolder: string): WrittenBlock {
  const value = isRecord(servers)
    ? Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, toServer(server)]))
    : servers;
  return { node: mapOf(mcpNode, 'Servers.'), value, folder, workspaceFolder };
}

/** Drops unknown keys of a recognized server. In an unrecognized one they may be misspelled, so they stay. */
function toServer(raw: unknown): unknown {
  if (!isRecord(raw)) return raw;
  const { server } = toPastedServer(raw);
  return 'command' in server || 'url' in server ? server : { ...raw, ...server };
}

function pathsInBlock(block: WrittenBlock, env: Environment): readonly NamedPath[] {
  const { node, value, folder, workspaceFolder, pathsOfTool } = block;
  const surroundings = {
    env,
    folder,
    secretNames: new Set<string>(), // a path may not contain secrets
    note() {},
    ...(workspaceFolder !== undefined && { workspaceFolder }),
  };
  const read: PathPlace['read'] = (textNode, text) => {
    const reading = readText(textNode, text, surroundings);
    return reading.ok && typeof reading.value === 'string' ? reading.value : undefined;
  };
  return namedPaths(node, value, { base: folder, folder, env, read, ...(pathsOfTool && { pathsOfTool }) });
}
