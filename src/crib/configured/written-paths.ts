import { readText } from '../../config/read-text.ts';
import { mapOf, type SchemaNode } from '../../config/schema-node.ts';
import { isRecord } from '../../core/json.ts';
import { nearest } from '../../core/read-options.ts';
import { mcpNode } from '../../kinds/mcp/mcp-kind.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';
import { configNode } from '../config/config-schema.ts';
import { type ConfigPlace, findConfig, readWritten } from '../config/load-config.ts';
import type { LoadedConfig } from '../config/loaded-config.ts';
import { findServers, toPastedServer } from '../config/pasted-server.ts';
import { baseOfServers } from '../config/read-sources.ts';
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
}

type ListPaths = () => readonly NamedPath[];

/** Follows the edits of a configuration. Paths stay listed, as the source of a former entry may still run. */
export async function createWrittenPaths(first: LoadedConfig, given: Given): Promise<WrittenPaths> {
  const former = new Map<string, NamedPath>();
  let current = await pathsOfConfig(first, given);
  let refused: ListPaths = () => [];
  return {
    list: () => [...current(), ...refused(), ...former.values()],
    async follow(load, place) {
      try {
        const loaded = await load();
        const next = await pathsOfConfig(loaded, given);
        for (const named of current()) former.set(named.path, named);
        current = next;
        refused = () => [];
        return loaded;
      } catch (error) {
        const file = await findConfig(place);
        const written = file === undefined ? undefined : await readWritten(file);
        refused = await pathsAsWritten(written, first.folder, given.env);
        throw error;
      }
    },
  };
}

/** The paths of the checked configuration, and those of its raw data with mistakes and disabled entries. */
async function pathsOfConfig({ folder, written, config }: LoadedConfig, { env, secrets }: Given): Promise<ListPaths> {
  const asWritten = await pathsAsWritten(written, folder, env);
  const place: PathPlace = { base: folder, folder, env, read: (_, text) => text };
  const all = { ...config, secrets: { ...config.secrets, ...secrets } };
  return () => [...namedPaths(configNode, all, place), ...asWritten()];
}

/** The paths in raw data, which may contain mistakes. Files of servers are read now. */
async function pathsAsWritten(written: unknown, folder: string, env: Environment): Promise<ListPaths> {
  const own: WrittenBlock = { node: configNode, value: written, folder };
  const files = pathsInBlock(own, env).filter(({ holds }) => holds === 'servers');
  const read = await Promise.all(files.map(({ path }) => readServers(path, folder)));
  const pasted = Object.entries(isRecord(written) ? written : {})
    .filter(([key]) => nearest(key, ['mcpServers']) !== undefined)
    .map(([, servers]) => toBlock(servers, folder, folder));
  const blocks = [own, ...pasted, ...read];
  return () => blocks.flatMap((block) => pathsInBlock(block, env));
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

function pathsInBlock({ node, value, folder, workspaceFolder }: WrittenBlock, env: Environment): readonly NamedPath[] {
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
  return namedPaths(node, value, { base: folder, folder, env, read });
}
