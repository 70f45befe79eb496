/** A server out of a pasted block, brought into the shape of our own `mcp:`. */
export interface PastedServer {
  readonly server: Readonly<Record<string, unknown>>;
  readonly bundle?: unknown;
  readonly isDisabled: boolean;
  /** Keys that mean nothing here; people paste blocks as they are. */
  readonly unused: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const CHILD = ['type', 'command', 'args', 'env', 'envFile', 'cwd'];
const REMOTE = ['type', 'url', 'headers'];
const OURS = ['bundle', 'disabled', 'enabled'];

/** Other programs' words for the same thing. */
const SYNONYMS: Fields = {
  httpUrl: 'url',
  serverUrl: 'url',
  transport: 'type',
  transportType: 'type',
  transport_type: 'type',
  server_type: 'type',
};

/** Reads a server as Claude, Cursor, VS Code, Zed and the like write it. */
export function toPastedServer(raw: object): PastedServer {
  const fields = { ...withSynonyms(raw), ...flattenCommand(raw) };
  const isRemote = 'url' in fields && (!('command' in fields) || /http|sse/i.test(String(fields.type)));
  const known = isRemote ? REMOTE : CHILD;
  const server = Object.fromEntries(known.filter((key) => key in fields).map((key) => [key, toText(key, fields[key])]));
  return {
    server,
    ...('bundle' in fields && { bundle: fields.bundle }),
    isDisabled: fields.disabled === true || fields.enabled === false,
    unused: Object.keys(fields).filter((key) => !known.includes(key) && !OURS.includes(key)),
  };
}

function withSynonyms(raw: object): Fields & { readonly [key in string]: unknown } {
  return Object.fromEntries(Object.entries(raw).map(([key, value]) => [toOurWord(key, raw), value]));
}

function toOurWord(key: string, raw: object): string {
  const word = Object.hasOwn(SYNONYMS, key) ? String(SYNONYMS[key]) : key;
  return Object.hasOwn(raw, word) ? key : word;
}

/** An older Zed wrote `command: { path, args, env }`. */
function flattenCommand(raw: object): Fields {
  const command: unknown = 'command' in raw ? raw.command : undefined;
  if (typeof command !== 'object' || command === null || !('path' in command)) return {};
  const { path, ...rest } = command as Fields; // an object, by the line above
  return { ...rest, command: path };
}

/** JSON makes no secret of numbers in arguments and environments; a child only knows texts. */
function toText(key: string, value: unknown): unknown {
  if (key === 'type') return /^streamable[-_]?http$/i.test(String(value)) ? 'http' : value;
  const toWord = (item: unknown) => (typeof item === 'number' || typeof item === 'boolean' ? String(item) : item);
  if (key === 'args' && Array.isArray(value)) return value.map(toWord);
  if (key !== 'env' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toWord(item)]));
}

const WRAPPERS = ['mcpServers', 'servers', 'context_servers'];

/** The servers of an mcp.json, and where they stand in it: under the key that its program uses, or at the root. */
export function findServers(root: unknown): { readonly path: readonly string[]; readonly servers: object } | undefined {
  if (!isMap(root)) return undefined;
  for (const key of WRAPPERS) {
    const servers = Object.hasOwn(root, key) ? root[key] : undefined;
    if (isMap(servers) && !isServer(servers)) return { path: [key], servers };
  }
  return { path: [], servers: root };
}

function isServer(value: Fields): boolean {
  return ['command', 'url', 'httpUrl', 'serverUrl'].some((key) => typeof value[key] === 'string');
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
