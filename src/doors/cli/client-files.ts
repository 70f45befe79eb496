import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readConfigFile, readConfigText } from '../../config/config-text.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { findServers } from '../../crib/config/pasted-server.ts';

type Servers = Readonly<Record<string, unknown>>;

/** A configuration file of another program that lists MCP servers. */
export interface ClientFile {
  readonly client: string;
  readonly file: string;
  /** The path to pass to `--from`. */
  readonly shownAs: string;
  readonly servers: Servers;
}

/** The environment in which to look for files of other programs. */
interface ClientPlaces {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
}

/** The files of known programs that list servers: first those of this folder, then those of the user. Unreadable files are skipped. */
export async function findClientFiles(places: ClientPlaces): Promise<readonly ClientFile[]> {
  const there = placesOf(places).filter(({ file }) => existsSync(file));
  const once = there.filter(({ file }, index) => there.findIndex((other) => other.file === file) === index);
  const files = await Promise.all(
    once.map(async (place): Promise<readonly ClientFile[]> => {
      const read = await readClientFile(place.file, place.shownAs).catch(ignoreUnreadable);
      if (read === undefined || read.isAtRoot || Object.keys(read.servers).length === 0) return [];
      return [{ ...place, servers: read.servers }];
    }),
  );
  return files.flat();
}

function ignoreUnreadable(cause: unknown): undefined {
  if (!(cause instanceof ToolcribError)) throw cause;
}

function placesOf({ cwd, env, platform }: ClientPlaces): readonly Omit<ClientFile, 'servers'>[] {
  const home = env.HOME ?? env.USERPROFILE ?? homedir();
  const here = (client: string, path: string) => ({ client, file: join(cwd, path), shownAs: path });
  const user = (client: string, path: string) => {
    const file = join(home, path);
    return { client, file, shownAs: platform === 'win32' ? file : `~/${path}` };
  };
  const settings = (client: string, path: string) => {
    if (platform === 'darwin') return user(client, `Library/Application Support/${path}`);
    const folder = platform === 'win32' ? env.APPDATA : env.XDG_CONFIG_HOME;
    if (folder === undefined) return user(client, platform === 'win32' ? `AppData/Roaming/${path}` : `.config/${path}`);
    const file = join(folder, path);
    return { client, file, shownAs: file };
  };
  return [
    here('Claude Code', '.mcp.json'),
    here('Cursor', '.cursor/mcp.json'),
    here('VS Code', '.vscode/mcp.json'),
    settings('Claude Desktop', 'Claude/claude_desktop_config.json'),
    user('Claude Code', '.claude.json'),
    user('Cursor', '.cursor/mcp.json'),
    settings('VS Code', 'Code/User/mcp.json'),
    user('Windsurf', '.codeium/windsurf/mcp_config.json'),
    user('Gemini CLI', '.gemini/settings.json'),
    user('Codex', '.codex/config.toml'),
    user('Zed', '.config/zed/settings.json'),
  ];
}

/** Reads the servers of a file, under their own key or at its root. A root can also hold other entries. */
export async function readClientFile(
  file: string,
  shownAs: string,
): Promise<{ readonly servers: Servers; readonly isAtRoot: boolean }> {
  const text = await readConfigFile(file, shownAs);
  if (/\.toml$/i.test(file)) return { servers: readCodexServers(text, shownAs), isAtRoot: false };
  const { value } = await readConfigText(text, shownAs);
  const found = findServers(value);
  return { servers: { ...found?.servers }, isAtRoot: found?.path.length === 0 };
}

const NAME = String.raw`(?:[\w-]+|"[^"\\]*")`;
const TABLE = new RegExp(String.raw`^\[\s*mcp_servers\.(${NAME})(?:\.(${NAME}))?\s*\]$`);
const PAIR = new RegExp(String.raw`^(${NAME})\s*=\s*(.+)$`);

/** The `mcp_servers` of a Codex configuration. Reads a subset of TOML: each value on one line. */
function readCodexServers(text: string, shownAs: string): Servers {
  const servers = new Map<string, Map<string, unknown>>();
  let table: Map<string, unknown> | undefined;
  text.split(/\r?\n/).forEach((raw, index) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return;
    const [, name, part] = TABLE.exec(withoutComment(line)) ?? [];
    if (name !== undefined) table = tableOf(servers, unquoted(name), part === undefined ? undefined : unquoted(part));
    else if (line.startsWith('['))
      table = undefined; // another part of the configuration
    else if (table !== undefined && !addPair(table, line))
      throw new ToolcribError(
        'usage',
        `${shownAs}:${index + 1}: this value cannot be imported. Write it as a plain value on one line.`,
      );
  });
  return Object.fromEntries([...servers].map(([name, server]) => [name, toServer(server)]));
}

function tableOf(servers: Map<string, Map<string, unknown>>, name: string, part: string | undefined) {
  const server = servers.get(name) ?? new Map<string, unknown>();
  servers.set(name, server);
  if (part === undefined) return server;
  const inner = new Map<string, unknown>();
  server.set(part, inner);
  return inner;
}

function addPair(table: Map<string, unknown>, line: string): boolean {
  const [, key, written] = PAIR.exec(line) ?? [];
  const value = written === undefined ? undefined : readPlain(withoutComment(written));
  if (key === undefined || value === undefined) return false;
  table.set(unquoted(key), value);
  return true;
}

/** Reads a TOML text, number, boolean, list or flat table; undefined for anything more complex. */
function readPlain(written: string): unknown {
  const quoted = written.replace(/^'([^']*)'$/, (_, literal: string) => JSON.stringify(literal));
  const isTable = quoted.startsWith('{');
  const pair = new RegExp(String.raw`([{,]\s*)(${NAME})\s*=\s*`, 'g');
  const keyed = isTable
    ? quoted.replace(pair, (_, before: string, key: string) => `${before}${JSON.stringify(unquoted(key))}:`)
    : quoted;
  try {
    return JSON.parse(keyed.replace(/,\s*\]$/, ']'));
  } catch {
    return undefined; // not supported
  }
}

/** The line without a trailing comment; a "#" in quotes does not start a comment. */
function withoutComment(text: string): string {
  return text.replace(/^((?:[^"'#]|"(?:[^"\\]|\\.)*"|'[^']*')*)#.*$/, '$1').trim();
}

function unquoted(name: string): string {
  return name.replaceAll('"', '');
}

function toServer(server: ReadonlyMap<string, unknown>): Servers {
  const {
    http_headers: headers,
    bearer_token_env_var: variable,
    ...rest
  } = Object.fromEntries(
    [...server].map(([key, value]) => [key, value instanceof Map ? Object.fromEntries(value) : value]),
  );
  const bearer = typeof variable === 'string' ? { Authorization: `Bearer \${${variable}}` } : {};
  const all = { ...(typeof headers === 'object' && headers !== null && headers), ...bearer };
  return Object.keys(all).length === 0 ? rest : { ...rest, headers: all };
}
