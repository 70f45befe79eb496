import { existsSync, linkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { codeOf, messageOf, ToolcribError } from '../../../core/tool-error.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { CONFIG_NAMES, type Flags, findConfig } from '../flags.ts';
import { note, print, printJson, toLine } from '../output.ts';
import { type ClientFile, findClientFiles, readClientFile } from './client-files.ts';

const NOTHING: PastedServers = { servers: {}, plainSecrets: [] };

/** `toolcrib init`: writes a commented configuration; one that is there stays unless `--force` is given. */
export async function writeConfig({ flags }: Invocation): Promise<ExitCode> {
  const file = targetOf(flags);
  if (flags.force !== true) refuseToReplace(file);
  const found =
    flags.from === undefined
      ? await findClientFiles({ cwd: process.cwd(), env: process.env, platform: process.platform })
      : [];
  const chosen = await chooseFile(found, flags);
  if (chosen === 'cancelled') return 130;
  const from = flags.from === undefined ? chosen : { file: resolve(flags.from), shownAs: flags.from };
  const { servers, plainSecrets } = from === undefined ? NOTHING : await readServers(from.file, from.shownAs);
  const isPrivate = plainSecrets.length > 0;
  if (!writeWhole(file, starterConfig(servers), { replace: flags.force === true, isPrivate })) throw isThere(file);
  const shown = relative(process.cwd(), file) || file;
  if (flags.json === true) printJson({ file: shown, servers: Object.keys(servers) });
  else print(shown);
  if (isPrivate) {
    note(`In plain text, as they were, and so readable by you alone: ${plainSecrets.map(toLine).join(', ')}.`);
    note(`Better: put them into the environment and write \${NAME} instead.`);
  }
  if (from === undefined) for (const line of offers(found)) note(line);
  note('Next: "toolcrib check" and "toolcrib list".');
  return 0;
}

/** Asks on the terminal which file to take over; where there is none, nothing is. A file of this folder may come from others, so that nothing is taken unasked. */
async function chooseFile(
  found: readonly ClientFile[],
  { json }: Flags,
): Promise<ClientFile | 'cancelled' | undefined> {
  if (found.length === 0 || json === true || !process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { select, isCancel } = await import('@clack/prompts');
  const none = { value: -1, label: 'none of them' };
  const options = [none, ...found.map((file, index) => ({ value: index, label: describeFile(file) }))];
  const message = 'Take over the MCP servers of another program?';
  const answer = await select({ message, options, initialValue: -1, input: process.stdin, output: process.stderr });
  return isCancel(answer) ? 'cancelled' : found[answer];
}

function offers(found: readonly ClientFile[]): readonly string[] {
  if (found.length === 0) return [];
  const how = ({ shownAs }: ClientFile) => `toolcrib init --force --from ${quoteForShell(shownAs)}`;
  return [
    'MCP servers of other programs were found, and not taken over. To do that:',
    ...found.map((file) => `  ${toLine(how(file))}   # ${describeFile(file)}`),
  ];
}

function describeFile({ client, shownAs, servers }: ClientFile): string {
  const names = Object.keys(servers);
  const more = names.length > 5 ? ', …' : '';
  return toLine(`${client}, ${shownAs}: ${names.slice(0, 5).join(', ')}${more}`);
}

/** A shell reads the path as it is, but for "~/", which it fills in. */
function quoteForShell(path: string): string {
  if (/^[\w./~:\\-]+$/.test(path)) return path;
  const [, home = '', rest = ''] = /^(~\/)?(.*)$/s.exec(path) ?? [];
  return `${home}'${rest.replaceAll("'", "'\\''")}'`;
}

function targetOf({ config }: Flags): string {
  const file = resolve(config ?? '.');
  return existsSync(file) && statSync(file).isDirectory() ? join(file, 'toolcrib.yaml') : file;
}

// A second configuration beside the one that is read would only confuse.
function refuseToReplace(file: string): void {
  const isUsual = CONFIG_NAMES.includes(basename(file));
  const there = isUsual ? findConfig(dirname(file)) : existsSync(file) ? file : undefined;
  if (there !== undefined) throw isThere(there);
}

function isThere(file: string): ToolcribError {
  return new ToolcribError('usage', `${relative(process.cwd(), file) || file} is there already; --force replaces it.`);
}

/** The servers of an mcp.json, and where in them something secret may stand in plain text. */
export interface PastedServers {
  readonly servers: Readonly<Record<string, unknown>>;
  readonly plainSecrets: readonly string[];
}

/** Reads the servers of Claude, Cursor, VS Code and the like. */
export async function readServers(file: string, shownAs: string): Promise<PastedServers> {
  const { servers } = await readClientFile(file, shownAs);
  if (Object.keys(servers).length === 0) throw new ToolcribError('usage', `${shownAs} holds no servers.`);
  return { servers, plainSecrets: Object.entries(servers).flatMap(([name, server]) => plainSecretsOf(name, server)) };
}

// Values of variables and headers are not looked at closely: what is not a variable may be a key.
function plainSecretsOf(name: string, server: unknown): readonly string[] {
  const { url, httpUrl = url, serverUrl = httpUrl, args } = membersOf(server);
  const inBlocks = ['env', 'headers'].flatMap((block) =>
    Object.entries(membersOf(membersOf(server)[block]))
      .filter(([, value]) => isPlain(value))
      .map(([key]) => `${name}.${block}.${key}`),
  );
  const isInUrl = isPlain(serverUrl) && /@|[?&][^=]*(auth|token|passw|key|secret|sig)[^=]*=/i.test(String(serverUrl));
  const isInArgs = /auth|token|passw|key|secret|:\/\/[^/"]*@/i.test(JSON.stringify(args ?? []));
  return [...inBlocks, ...(isInUrl ? [`${name}.url`] : []), ...(isInArgs ? [`${name}.args`] : [])];
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('${');
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const HEAD = `# yaml-language-server: $schema=./node_modules/toolcrib/schema/toolcrib.schema.json
#
# Toolcrib: which tools there are, and who may use them how.
# "toolcrib check" says whether this file makes sense, "toolcrib list" shows the tools.

# Where tools come from. Relative paths start in the folder of this file.
sources:
  # Modules that export tools (defineTool), one folder of them:
  # mine: { modules: ./tools }
  # Tools described in YAML or JSON:
  # described: { files: ./specs }
  # Tools kept in the store and edited by "toolcrib specs":
  # stored: { database: true, kinds: [http] }
`;

const NO_SERVERS = `
# MCP servers: the block of an mcp.json can be pasted here as it is.
# mcpServers:
#   files: { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "."] }
`;

const TAIL = `
# Tools that belong together: shown, found and set up together. Every source makes one of its own name.
bundles:
  # reading:
  #   description: Look, but do not touch
  #   include: ["tag:read", { readOnly: true }]

# What one kind of caller may use.
defaultProfile: default
profiles:
  default:
    # include: ["source:mine", "tag:read"]   # absent: all tools
    exclude: []
    # approve: ["*_delete_*"]                # a person is asked before these run
    # policy: { maxTimeoutMs: 60000 }

# Guards. Destructive tools ask a person first; "cautious" asks for all that are not known to be read-only.
extensions:
  approval: { mode: dangerous }

# Commands (tools of kind shell). A command that declares a sandbox never runs without one, unless you write "preferred".
# executors:
#   shell: { sandbox: required, roots: [./workspace] }   # roots: the only folders that commands may write

# Credentials: read when they are used, sent to their own hosts only, never shown.
# secrets:
#   github: { env: GITHUB_TOKEN, hosts: ["api.github.com"] }
`;

/** A commented configuration to start from, with the servers of an mcp.json where there are some. */
export function starterConfig(servers: Readonly<Record<string, unknown>>): string {
  if (Object.keys(servers).length === 0) return `${HEAD}${NO_SERVERS}${TAIL}`;
  return `${HEAD}\n# MCP servers, as they stood in the mcp.json.\nmcpServers:${toYaml(servers, '  ')}\n${TAIL}`;
}

// Maps as blocks, everything else as JSON, which is YAML, too.
function toYaml(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return ` ${JSON.stringify(value)}`;
  const members = Object.entries(value);
  if (members.length === 0) return ' {}';
  return members.map(([key, member]) => `\n${indent}${toKey(key)}:${toYaml(member, `${indent}  `)}`).join('');
}

function toKey(key: string): string {
  const isPlain = /^[A-Za-z_][\w-]*$/.test(key) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(key);
  return isPlain ? key : JSON.stringify(key);
}

/** Writes a file that is there whole or not at all; false if one is there and must stay. Synchronous, so that no signal comes between. */
export function writeWhole(
  file: string,
  content: string,
  { replace, isPrivate }: { readonly replace: boolean; readonly isPrivate: boolean },
): boolean {
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: isPrivate ? 0o600 : 0o644 });
    if (replace) renameSync(draft, file);
    else linkSync(draft, file); // unlike a rename it fails where something is
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST' && !replace) return false;
    throw new ToolcribError('usage', `${file} cannot be written: ${messageOf(cause)}.`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}
