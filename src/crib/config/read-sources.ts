import { basename, dirname } from 'node:path';
import {
  type ConfigText,
  type Mistake,
  type Path,
  type ReadText,
  readConfigFile,
  readConfigText,
  toPathText,
} from '../../config/config-text.ts';
import { type ConfigSpot, inside, readBySchema, report } from '../../config/read-by-schema.ts';
import type { TextSurroundings } from '../../config/read-text.ts';
import { NAME_PATTERN, NAME_SAYS } from '../../config/schema-node.ts';
import type { McpFileSourceConfig, McpServer, McpSourceConfig } from '../../config/types/sources.ts';
import { describe } from '../../core/read-options.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { mcpNode } from '../../kinds/mcp/mcp-kind.ts';
import { reportServerSlip, reportSlip } from './entry-slips.ts';
import { type ConfigProblem, type DeclaredSource, type SourceConfig, toProblem } from './loaded-config.ts';
import { describeServer, findServers, toPastedServer } from './pasted-server.ts';
import { bundleNode, sourceNode } from './source-schema.ts';

/** The context that the sources of a configuration are read in. */
export interface SourceReading {
  readonly text: ConfigText;
  readonly surroundings: TextSurroundings;
  /** Formats the path of a file for messages. */
  showFile(file: string): string;
}

/** The result of reading `sources` and `mcpServers`. */
export interface ReadSources {
  readonly sources: Readonly<Record<string, SourceConfig>>;
  /** All sources in order, including those with problems. */
  readonly declared: readonly DeclaredSource[];
  readonly problems: readonly ConfigProblem[];
  /** Reports of names that two sources share. */
  readonly clashes: readonly string[];
  /** Files of MCP servers that were read. */
  readonly files: readonly string[];
  /** Explains how pasted servers were read, one sentence each. */
  readonly readings: readonly string[];
}

/** One source as found; `source` is valid only without mistakes. */
interface Declared {
  readonly name: string;
  readonly path: Path;
  readonly text: ConfigText;
  readonly mistakes: readonly Mistake[];
  readonly source?: SourceConfig;
  /** True for a server from a file or a pasted block. */
  readonly isServer: boolean;
  /** The entry that names its file; default: the source itself. */
  readonly from?: string;
  /** Explains how a pasted entry was read. */
  readonly reading?: string;
  /** True for a disabled pasted server, which does not become a source. */
  readonly isDisabled?: boolean;
}

/** Reads `sources` and `mcpServers`. Each entry is read separately, so one bad source never stops the others. */
export async function readSources(written: object, pasted: object, reading: SourceReading): Promise<ReadSources> {
  const { text, surroundings } = reading;
  const own = Object.entries(written).map(([name, value]) => readSource(name, value, reading));
  const files = own.flatMap(({ source }) => (source !== undefined && 'mcpFile' in source ? source.mcpFile : []));
  const expanded = await Promise.all(own.map((declared) => expandFile(declared, reading)));
  const inPlace = { ...surroundings, workspaceFolder: surroundings.folder };
  const last = readServers(pasted, { path: ['mcpServers'], text, surroundings: inPlace, settings: {} });
  const found = [...expanded.flat(), ...last];
  const all = found.filter(({ isDisabled }) => isDisabled !== true);
  const good = all.flatMap(({ name, source, mistakes }) =>
    source === undefined || mistakes.length > 0 ? [] : [[name, source] as const],
  );
  return {
    sources: Object.fromEntries(good),
    declared: all.map(({ name, from = name }) => ({ name, from })),
    problems: all.flatMap(({ name, mistakes, text: where }) => mistakes.map((one) => toProblem(name, one, where))),
    clashes: findClashes(Object.keys(written), all),
    files,
    readings: found.flatMap(({ reading }) => reading ?? []),
  };
}

function findClashes(names: readonly string[], all: readonly Declared[]): readonly string[] {
  const taken = new Set(names);
  return all.flatMap(({ name, isServer, path, text }) => {
    const isTaken = isServer && taken.has(name);
    taken.add(name);
    const message = `${describe(name)} is already the name of another source; rename one of them.`;
    return isTaken ? [text.show({ path, at: 'key', message })] : [];
  });
}

/** An entry of `sources` may also name a file of servers. */
type Entry = Omit<Declared, 'source'> & { readonly source?: SourceConfig | McpFileSourceConfig };

function readSource(name: string, value: unknown, { text, surroundings }: SourceReading): Entry {
  const spot: ConfigSpot = { path: ['sources', name], surroundings, mistakes: [] };
  const { path, mistakes } = spot;
  const entry = { name, path, text, mistakes, isServer: false };
  if (!new RegExp(NAME_PATTERN).test(name)) {
    report(spot, `is not a name: use ${NAME_SAYS}.`, 'key');
    return entry;
  }
  if (reportSlip(name, value, spot)) return entry;
  const source = readBySchema(sourceNode, value, spot) as SourceConfig | McpFileSourceConfig; // valid without mistakes
  if (mistakes.length > 0) return entry;
  const { folder } = surroundings;
  return { ...entry, source: 'mcp' in source ? { ...source, mcp: inFolder(source.mcp, folder) } : source };
}

async function expandFile(entry: Entry, { surroundings, showFile }: SourceReading): Promise<readonly Declared[]> {
  const { source, ...rest } = entry;
  if (source === undefined) return [rest];
  if (!('mcpFile' in source)) return [{ ...rest, source }];
  const { mcpFile, ...settings } = source;
  const parsed = await parseServers(mcpFile, showFile(mcpFile));
  if (typeof parsed === 'string') {
    return [{ ...rest, mistakes: [{ path: [...entry.path, 'mcpFile'], at: 'value', message: parsed }] }];
  }
  const block = findServers(parsed.value);
  if (block === undefined) surroundings.note(`${parsed.shownAs} contains no MCP servers.`);
  if (block === undefined) return [];
  const inFile = { ...surroundings, folder: baseOfServers(mcpFile), workspaceFolder: surroundings.folder };
  const read = readServers(block.servers, { path: block.path, text: parsed, surroundings: inFile, settings });
  return read.map((declared) => ({ ...declared, from: entry.name }));
}

/** Base of relative paths in a file of MCP servers. For .vscode/mcp.json and .cursor/mcp.json it is the parent of the dot folder. */
export function baseOfServers(file: string): string {
  const home = dirname(file);
  return basename(home).startsWith('.') ? dirname(home) : home;
}

async function parseServers(file: string, shownAs: string): Promise<ReadText | string> {
  try {
    return await readConfigText(await readConfigFile(file, shownAs), shownAs);
  } catch (error) {
    if (error instanceof ToolcribError) return error.message;
    throw error;
  }
}

interface ServerReading {
  readonly path: Path;
  readonly text: ConfigText;
  readonly surroundings: TextSurroundings;
  /** Settings of the source that names the file; they apply to all its servers. */
  readonly settings: Omit<McpSourceConfig, 'mcp'>;
}

function readServers(servers: object, { path, text, surroundings, settings }: ServerReading): readonly Declared[] {
  return Object.entries(servers).map(([name, value]) => {
    const spot: ConfigSpot = { path: [...path, name], surroundings, mistakes: [] };
    const declared = { name, path: spot.path, text, mistakes: spot.mistakes, isServer: true };
    const read = readServer(name, value, spot);
    if (read === undefined) return declared; // the mistakes are in the spot
    const where = toPathText(spot.path);
    if (read === 'disabled') return { ...declared, isDisabled: true, reading: `${where} is disabled and skipped.` };
    const { source, timeoutMs, readings } = read;
    const reading = readings.length === 0 ? {} : { reading: `${where}: ${readings.join('; ')}.` };
    return { ...declared, ...reading, source: withTimeout({ ...settings, ...source }, timeoutMs) };
  });
}

/** The operator's overrides win over the pasted timeout. */
function withTimeout(source: McpSourceConfig, timeoutMs: number | undefined): McpSourceConfig {
  if (timeoutMs === undefined) return source;
  const { '*': all, ...others } = source.overrides ?? {};
  return { ...source, overrides: { '*': { ...all, policy: { timeoutMs, ...all?.policy } }, ...others } };
}

interface ReadServer {
  readonly source: McpSourceConfig;
  readonly timeoutMs: number | undefined;
  readonly readings: readonly string[];
}

/** The server as a source; undefined if there are mistakes. */
function readServer(name: string, value: unknown, spot: ConfigSpot): ReadServer | 'disabled' | undefined {
  const { note, folder } = spot.surroundings;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return report(spot, `must be a map that describes a server, got ${describe(value)}.`);
  }
  const { server, bundle, isDisabled, initTimeoutMs, callTimeoutMs: timeoutMs, ...rest } = toPastedServer(value);
  if (isDisabled) return 'disabled';
  // JavaScript would move a key of digits to the front of the order.
  if (!/^(?!\d+$)[^\p{Cc}]{1,64}$/u.test(name)) report(spot, 'is not a valid source name; rename it.', 'key');
  if (rest.unused.length > 0) note(`${toPathText(spot.path)}: ignored keys: ${rest.unused.join(', ')}.`);
  if (reportServerSlip(server, spot)) return undefined;
  const read = readBySchema(mcpNode, server, spot) as McpServer | undefined; // valid without mistakes
  const inBundle =
    bundle === undefined ? {} : { bundle: readBySchema(bundleNode, bundle, inside(spot, 'bundle')) as string | false }; // likewise
  if (read === undefined || spot.mistakes.length > 0) return undefined;
  const start = initTimeoutMs === undefined ? {} : { initTimeoutMs };
  const readings = [...rest.readings, ...describeServer(read)];
  return { source: { mcp: inFolder(read, folder), ...start, ...inBundle }, timeoutMs, readings };
}

function inFolder<Server extends McpServer | undefined>(server: Server, folder: string): Server {
  return server !== undefined && 'command' in server ? { cwd: folder, ...server } : server;
}
