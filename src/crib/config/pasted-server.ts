import type { McpServer } from '../../config/types/sources.ts';

/** A server of a pasted block, converted to our own `mcp:` format. */
export interface PastedServer {
  readonly server: Readonly<Record<string, unknown>>;
  readonly bundle?: unknown;
  readonly isDisabled: boolean;
  /** Start timeout. */
  readonly initTimeoutMs?: number;
  /** Timeout of a call. */
  readonly callTimeoutMs?: number;
  /** Explains how foreign keys were read; never includes values of headers and variables. */
  readonly readings: readonly string[];
  /** Keys that have no effect here. */
  readonly unused: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const CHILD = ['type', 'command', 'args', 'env', 'envFile', 'cwd'];
const REMOTE = ['type', 'url', 'headers'];
const OURS = ['bundle', 'disabled', 'enabled'];

/** Keys for the start timeout, and their units in milliseconds. The first present key wins. */
const START_TIMES = { initTimeoutMs: 1, startup_timeout_ms: 1, startup_timeout_sec: 1000 };
/** Keys for the call timeout. Some programs write `timeout` in seconds, others in milliseconds. */
const CALL_TIMES = { tool_timeout_sec: 1000, timeout: undefined };
/** Keys for tools that other programs run without approval. */
const APPROVALS = ['autoApprove', 'alwaysAllow'];
const READ_APART = [...Object.keys({ ...START_TIMES, ...CALL_TIMES }), ...APPROVALS];
/** Upper bound of a pasted timeout: one day. */
const LONGEST_MS = 86_400_000;

/** Keys of other programs, and our names for them. */
const SYNONYMS: Fields = {
  httpUrl: 'url',
  serverUrl: 'url',
  transport: 'type',
  transportType: 'type',
  transport_type: 'type',
  server_type: 'type',
};

/** Reads a server in the formats of Claude, Cursor, VS Code, Zed and similar programs. */
export function toPastedServer(raw: object): PastedServer {
  const fields = { ...withSynonyms(raw), ...flattenCommand(raw) };
  const isRemote = 'url' in fields && (!('command' in fields) || /http|sse/i.test(String(fields.type)));
  const known = isRemote ? REMOTE : CHILD;
  const server = Object.fromEntries(known.filter((key) => key in fields).map((key) => [key, toText(key, fields[key])]));
  const start = readTime(fields, START_TIMES, 'the start timeout');
  const call = readTime(fields, CALL_TIMES, 'the call timeout');
  const understood = [...known, ...OURS, ...READ_APART];
  return {
    server,
    ...('bundle' in fields && { bundle: fields.bundle }),
    ...(start.ms !== undefined && { initTimeoutMs: start.ms }),
    ...(call.ms !== undefined && { callTimeoutMs: call.ms }),
    isDisabled: fields.disabled === true || fields.enabled === false,
    readings: [...renamedIn(raw, fields), ...start.readings, ...call.readings, ...approvalsIn(fields)],
    unused: Object.keys(fields).filter((key) => !understood.includes(key)),
  };
}

interface ReadTime {
  readonly ms?: number;
  readonly readings: readonly string[];
}

function readTime(fields: Fields, units: Readonly<Record<string, number | undefined>>, what: string): ReadTime {
  const [counted, ...others] = Object.keys(units).flatMap((key) => timeIn(key, fields[key], units[key]));
  const wrong = Object.keys(units).filter((key) => key in fields && timeIn(key, fields[key], units[key]).length === 0);
  const readings = wrong.map((key) => `${key} is not a time above 0 and is ignored`);
  if (counted === undefined) return { readings };
  const { key, ms } = counted;
  const left = others.map((other) => `${other.key} is ignored, because ${key} is set`);
  return { ms, readings: [`${key}: ${String(fields[key])} is ${what}, ${ms} ms`, ...left, ...readings] };
}

function timeIn(key: string, value: unknown, unitMs: number | undefined): readonly { key: string; ms: number }[] {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d{1,12}(\.\d{1,6})?$/.test(value));
  const count = Number(value);
  if (!isNumber || !(count > 0)) return [];
  const ms = count * (unitMs ?? (count < 1000 ? 1000 : 1));
  return [{ key, ms: Math.max(1, Math.round(Math.min(ms, LONGEST_MS))) }];
}

function approvalsIn(fields: Fields): readonly string[] {
  const isMeant = (value: unknown) => value === true || (Array.isArray(value) && value.length > 0);
  return APPROVALS.filter((key) => isMeant(fields[key])).map(
    (key) => `${key} is ignored: set in extensions.approval or overrides which calls need no approval`,
  );
}

function renamedIn(raw: object, fields: Fields): readonly string[] {
  return Object.keys(raw).flatMap((key) => {
    const word = SYNONYMS[key];
    return Object.hasOwn(SYNONYMS, key) && !(key in fields) ? [`${key} is read as ${String(word)}`] : [];
  });
}

/** Explains how the server of an entry is reached. */
export function describeServer(server: McpServer): readonly string[] {
  const { type } = server;
  const way = type === undefined ? [] : [`type: ${type}`];
  if (!('command' in server))
    return [...way, ...Object.keys(server.headers ?? {}).map((name) => `header ${name} is sent with every request`)];
  const file = server.envFile === undefined ? [] : [`variables come from ${server.envFile}`];
  return [...way, ...(server.cwd === undefined ? [] : [`it runs in ${server.cwd}`]), ...file];
}

function withSynonyms(raw: object): Fields & { readonly [key in string]: unknown } {
  return Object.fromEntries(Object.entries(raw).map(([key, value]) => [toOurWord(key, raw), value]));
}

function toOurWord(key: string, raw: object): string {
  const word = Object.hasOwn(SYNONYMS, key) ? String(SYNONYMS[key]) : key;
  return Object.hasOwn(raw, word) ? key : word;
}

/** Older versions of Zed write `command: { path, args, env }`. */
function flattenCommand(raw: object): Fields {
  const command: unknown = 'command' in raw ? raw.command : undefined;
  if (typeof command !== 'object' || command === null || !('path' in command)) return {};
  const { path, ...rest } = command as Fields; // an object, by the line above
  return { ...rest, command: path };
}

/** Converts numbers and booleans in arguments and environments to strings, which a child process needs. */
function toText(key: string, value: unknown): unknown {
  if (key === 'type') return /^streamable[-_]?http$/i.test(String(value)) ? 'http' : value;
  const toWord = (item: unknown) => (typeof item === 'number' || typeof item === 'boolean' ? String(item) : item);
  if (key === 'args' && Array.isArray(value)) return value.map(toWord);
  if (key !== 'env' || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toWord(item)]));
}

const WRAPPERS = ['mcpServers', 'servers', 'context_servers'];

/** The servers of an mcp.json and their path: under the key of its program, or at the root. */
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
