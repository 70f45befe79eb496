import { existsSync, linkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { codeOf, messageOf, ToolcribError } from '../../../core/tool-error.ts';
import { hasCredentialParameter } from '../../../core/visible-text.ts';
import { type ClientFile, findClientFiles, readClientFile } from '../client-files.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { CONFIG_NAMES, type Flags, findConfig } from '../flags.ts';
import { note, print, printJson, toLine } from '../output.ts';

const NOTHING: PastedServers = { servers: {}, plainSecrets: [] };

/** `toolcrib init`: writes a commented configuration. An existing file is kept unless `--force` is set. */
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
    note(
      `These values may be secrets in plain text, so only you can read the file: ${plainSecrets.map(toLine).join(', ')}.`,
    );
    note(`Put them into environment variables and write \${NAME} instead.`);
  }
  if (from === undefined) for (const line of offers(found)) note(line);
  note('Next: "toolcrib check" and "toolcrib list".');
  return 0;
}

/** Asks on the terminal which file to import. Imports nothing without a terminal: a file in this folder may be untrusted. */
async function chooseFile(
  found: readonly ClientFile[],
  { json }: Flags,
): Promise<ClientFile | 'cancelled' | undefined> {
  if (found.length === 0 || json === true || !process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { select, isCancel } = await import('@clack/prompts');
  const none = { value: -1, label: 'none of them' };
  const options = [none, ...found.map((file, index) => ({ value: index, label: describeFile(file) }))];
  const message = 'Import the MCP servers of another program?';
  const answer = await select({ message, options, initialValue: -1, input: process.stdin, output: process.stderr });
  return isCancel(answer) ? 'cancelled' : found[answer];
}

function offers(found: readonly ClientFile[]): readonly string[] {
  if (found.length === 0) return [];
  const how = ({ shownAs }: ClientFile) => `toolcrib init --force --from ${quoteForShell(shownAs)}`;
  return [
    'Found MCP servers of other programs. To import them:',
    ...found.map((file) => `  ${toLine(how(file))}   # ${describeFile(file)}`),
  ];
}

function describeFile({ client, shownAs, servers }: ClientFile): string {
  const names = Object.keys(servers);
  const more = names.length > 5 ? ', …' : '';
  return toLine(`${client}, ${shownAs}: ${names.slice(0, 5).join(', ')}${more}`);
}

/** Quotes a path for a shell, except for a leading "~/", which the shell expands. */
function quoteForShell(path: string): string {
  if (/^[\w./~:\\-]+$/.test(path)) return path;
  const [, home = '', rest = ''] = /^(~\/)?(.*)$/s.exec(path) ?? [];
  return `${home}'${rest.replaceAll("'", "'\\''")}'`;
}

function targetOf({ config }: Flags): string {
  const file = resolve(config ?? '.');
  return existsSync(file) && statSync(file).isDirectory() ? join(file, 'toolcrib.yaml') : file;
}

// Also refuses a second configuration under another usual name: only one of them would be read.
function refuseToReplace(file: string): void {
  const isUsual = CONFIG_NAMES.includes(basename(file));
  const there = isUsual ? findConfig(dirname(file)) : existsSync(file) ? file : undefined;
  if (there !== undefined) throw isThere(there);
}

function isThere(file: string): ToolcribError {
  return new ToolcribError(
    'usage',
    `${relative(process.cwd(), file) || file} already exists. Use --force to replace it.`,
  );
}

/** The servers of an mcp.json, and the places where they may contain secrets in plain text. */
export interface PastedServers {
  readonly servers: Readonly<Record<string, unknown>>;
  readonly plainSecrets: readonly string[];
}

/** Reads the servers of Claude, Cursor, VS Code and the like. */
export async function readServers(file: string, shownAs: string): Promise<PastedServers> {
  const { servers } = await readClientFile(file, shownAs);
  if (Object.keys(servers).length === 0) throw new ToolcribError('usage', `${shownAs} contains no MCP servers.`);
  return { servers, plainSecrets: Object.entries(servers).flatMap(([name, server]) => plainSecretsOf(name, server)) };
}

// Every literal value of a variable or header counts as a possible secret.
function plainSecretsOf(name: string, server: unknown): readonly string[] {
  const { url, httpUrl = url, serverUrl = httpUrl, args } = membersOf(server);
  const inBlocks = ['env', 'headers'].flatMap((block) =>
    Object.entries(membersOf(membersOf(server)[block]))
      .filter(([, value]) => isPlain(value))
      .map(([key]) => `${name}.${block}.${key}`),
  );
  const address = String(serverUrl);
  const isInUrl = isPlain(serverUrl) && (address.includes('@') || hasCredentialParameter(address));
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
# Toolcrib: the tools, their callers and their limits.
# "toolcrib check" validates this file, "toolcrib list" lists the tools.

# The sources of the tools. Relative paths start in the folder of this file.
sources:
  # A folder of modules that export tools (defineTool):
  # mine: { modules: ./tools }
  # Tools described in YAML or JSON:
  # described: { files: ./specs }
  # Tools in the store, edited with "toolcrib specs":
  # stored: { database: true, kinds: [http] }
`;

const NO_SERVERS = `
# MCP servers: paste the block of an mcp.json here without changes.
# mcpServers:
#   files: { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "."] }
`;

const TAIL = `
# Bundles: tools that are shown, found and set up together. Each source is also a bundle of the same name.
bundles:
  # reading:
  #   description: Read-only tools
  #   include: ["tag:read", { readOnly: true }]

# Profiles: the tools and limits of one sort of caller.
defaultProfile: default
profiles:
  default:
    # include: ["source:mine", "tag:read"]   # absent: all tools
    exclude: []
    # approve: ["*_delete_*"]                # these tools require approval
    # policy: { maxTimeoutMs: 60000 }

# Guards. Destructive tools require approval; with "cautious" all tools do that are not known to be read-only.
extensions:
  approval: { mode: dangerous }

# Commands (tools of kind shell). A command that declares a sandbox never runs without one, unless you write "preferred".
# executors:
#   shell: { sandbox: required, roots: [./workspace] }   # roots: the only folders that commands may write

# Credentials: read at use, sent only to the listed hosts, never shown.
# secrets:
#   github: { env: GITHUB_TOKEN, hosts: ["api.github.com"] }
`;

/** A commented configuration to start with, including the servers of an mcp.json. */
export function starterConfig(servers: Readonly<Record<string, unknown>>): string {
  if (Object.keys(servers).length === 0) return `${HEAD}${NO_SERVERS}${TAIL}`;
  return `${HEAD}\n# MCP servers, imported from the mcp.json.\nmcpServers:${toYaml(servers, '  ')}\n${TAIL}`;
}

// Writes maps as blocks and everything else as JSON, which is valid YAML.
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

/** Writes a file atomically; false if it exists and must be kept. Synchronous, so that no signal can interrupt it. */
export function writeWhole(
  file: string,
  content: string,
  { replace, isPrivate }: { readonly replace: boolean; readonly isPrivate: boolean },
): boolean {
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: isPrivate ? 0o600 : 0o644 });
    if (replace) renameSync(draft, file);
    else linkSync(draft, file); // unlike a rename, it fails if the file exists
    return true;
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST' && !replace) return false;
    throw new ToolcribError('usage', `${file} cannot be written: ${messageOf(cause)}.`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}
