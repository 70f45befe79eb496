import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MISSED_RULES } from '../../core/ports/stored-schedules.ts';
import { defined } from '../../core/read-options.ts';
import { ToolcribError } from '../../core/tool-error.ts';

/** The definition of a flag. */
export interface FlagDefinition {
  /** The name of its value in help; a flag without it takes no value. */
  readonly takes?: string;
  /** The flag can be repeated. */
  readonly many?: true;
  readonly short?: string;
  readonly summary: string;
  /** The allowed values, if the flag has a fixed list. */
  readonly values?: readonly string[];
}

/** The flags of all commands: a name means the same everywhere. */
export const FLAGS = {
  config: { takes: 'FILE', summary: 'configuration file (default: toolcrib.yaml in the working directory)' },
  profile: { takes: 'NAME', summary: 'list and call tools of this profile (default: all tools)' },
  json: { summary: 'print JSON' },
  quiet: { short: 'q', summary: 'suppress warnings' },
  help: { short: 'h', summary: 'print help' },
  version: { summary: 'print the version' },
  tag: { takes: 'TAG', many: true, summary: 'only tools with this tag; repeat to require several tags' },
  category: { takes: 'NAME', summary: 'only tools of this category (glob)' },
  pattern: { takes: 'GLOB', summary: 'only tools whose name matches' },
  kind: { takes: 'KIND', summary: 'only tools of this kind: function, shell, http, ...' },
  source: { takes: 'NAME', summary: 'only tools of this source (of list: glob)' },
  bundle: { takes: 'NAME', summary: 'only tools of this bundle (glob)' },
  flag: {
    takes: 'NAME',
    many: true,
    summary: 'only tools where this flag is true (readOnly, destructive, ...); NAME=false: where it is false',
  },
  format: {
    takes: 'FORMAT',
    summary: 'print the definitions in the format of a vendor',
    values: ['openai', 'anthropic', 'gemini', 'mcp'],
  },
  tokens: { summary: 'count tokens exactly instead of estimating (slower)' },
  caller: { takes: 'ID', summary: 'id of the caller' },
  role: { takes: 'ROLE', many: true, summary: 'role of the caller' },
  tool: { takes: 'NAME', summary: 'only calls or tasks of this tool' },
  outcome: { takes: 'WORD', summary: 'only calls or tasks with this outcome: done, denied, unknown_tool, ...' },
  limit: { takes: 'N', summary: 'maximum number of results (default: 10)' },
  queries: {
    takes: 'FILE',
    summary: 'labelled requests, one per line: {"id", "query", "relevant": [id]}; [] if no tool fits',
  },
  tools: { takes: 'FILE', summary: 'search this catalogue (one tool per line) instead of the configured tools' },
  compare: {
    takes: 'FILE',
    summary: 'measure with this configuration as well, and list the requests whose rank changed',
  },
  file: { takes: 'FILE', summary: 'file of the requests (default: retrieval.examples of the configuration)' },
  'dry-run': { summary: 'print what would be done and cost, and do nothing' },
  show: { summary: 'print the requests of the file' },
  prune: { summary: 'remove the requests of tools that are gone' },
  goal: { takes: 'TEXT', summary: 'find the tools for each step of this job, instead of WORDS' },
  'max-tokens': {
    takes: 'N',
    summary: 'only the first tools whose declarations fit into so many tokens (default with a request: 1500)',
  },
  expand: { summary: 'add the tools that belong with the results' },
  args: { takes: 'JSON', summary: 'arguments as a JSON object; - reads them from stdin' },
  yes: { short: 'y', summary: 'approve the call as the operator' },
  approval: { takes: 'ID', summary: 'run a parked call that was approved' },
  state: { takes: 'STATE', summary: 'only those in this state (default of approvals: waiting; of tasks: all)' },
  background: { summary: 'run the call in the background: store it as a task and print its id' },
  at: { takes: 'TIME', summary: 'run the task at this time, such as 2030-12-31T22:00Z or 2030-12-31T22:00+01:00' },
  delay: { takes: 'SECONDS', summary: 'run the task after this time; also 30m, 12h or 7d' },
  priority: { takes: 'N', summary: 'from -100 to 100; tasks with a higher number run first (default: 0)' },
  notify: { takes: 'NAME', summary: 'webhook of the configuration that is told about the end of the task' },
  concurrency: { takes: 'N', summary: 'maximum number of tasks that run at once (default: tasks.concurrency)' },
  note: { takes: 'TEXT', summary: 'message to the caller' },
  remember: {
    takes: 'WHAT',
    summary: 'do not ask again: for this conversation, these arguments, or a time such as 12h',
  },
  uses: { takes: 'N', summary: 'with --remember 12h: only this many further calls, with the same arguments' },
  vary: { takes: 'JSON', summary: 'with --uses: a JSON Schema for each argument that may differ' },
  follow: { summary: 'print new lines as they arrive, until Ctrl-C' },
  from: { takes: 'FILE', summary: 'import the servers of an mcp.json' },
  force: { summary: 'replace an existing file; stop a name that is not listed' },
  cancel: { summary: 'cancel the calls in flight as well' },
  name: { takes: 'NAME', summary: 'name of the key' },
  permission: { takes: 'NAME', many: true, summary: 'permission of the caller' },
  'allow-profile': {
    takes: 'GLOB',
    many: true,
    summary: 'profile that the key can open (default: the profiles of its roles)',
  },
  host: { takes: 'HOST', summary: 'address to listen on (default: 127.0.0.1)' },
  port: { takes: 'PORT', summary: 'port to listen on (default: 2742; 0: any free port)' },
  stdio: { summary: 'serve MCP on stdin and stdout instead of HTTP' },
  insecure: { summary: 'listen beyond this machine without access control' },
  cron: {
    takes: 'EXPRESSION',
    summary: 'minute, hour, day of the month, month, day of the week; or @daily, @hourly, ...',
  },
  'time-zone': { takes: 'ZONE', summary: 'time zone of --cron and --at, such as Europe/Berlin (default: UTC)' },
  missed: {
    takes: 'RULE',
    summary: 'what happens with times at which no process ran tasks (default: skip)',
    values: MISSED_RULES,
  },
  replace: { summary: 'replace the schedule with this name' },
  out: { takes: 'FILE', summary: 'write to this file instead of stdout' },
  expires: { takes: 'WHEN', summary: '30m, 12h, 30d, 4w, a date, or never (default: 90d)' },
} as const satisfies Readonly<Record<string, FlagDefinition>>;

export type FlagName = keyof typeof FLAGS;

/** Flags of every command. */
export const GLOBAL_FLAGS = ['config', 'profile', 'json', 'quiet', 'help'] as const satisfies readonly FlagName[];

type ValueOf<Definition> = Definition extends { readonly many: true }
  ? readonly string[]
  : Definition extends { readonly takes: string }
    ? string
    : true;

/** The flags that were given. */
export type Flags = { readonly [Name in FlagName]?: ValueOf<(typeof FLAGS)[Name]> };

/** The flag with this name, if it exists. */
export function findFlag(name: string): FlagDefinition | undefined {
  return Object.hasOwn(FLAGS, name) ? FLAGS[name as FlagName] : undefined; // an own key
}

/** An error about the command line that names the help to read. */
export function usage(message: string, command?: string): ToolcribError {
  const more = command === undefined ? 'toolcrib help' : `toolcrib help ${command}`;
  return new ToolcribError('usage', `${message} See "${more}".`);
}

/** The number of `--limit` or another flag, if set. */
export function readCount(text: string | undefined, flag: FlagName = 'limit'): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usage(`--${flag} takes a whole number of at least 1, not "${text}".`);
  return Number(text);
}

/** The number of `--concurrency`, if set. */
export function readConcurrency(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= MAX_CONCURRENCY) return Number(text);
  throw usage(`--concurrency takes a whole number from 1 to ${MAX_CONCURRENCY}, not "${text}".`, 'worker');
}

const MAX_CONCURRENCY = 1000;

/** When and how to run a background call; undefined without `--background`. */
export function readTaskFlags(flags: Flags): TaskFlags | undefined {
  const { background, at, delay, priority, notify, yes, approval } = flags;
  const given = { at, delay, priority, notify };
  if (background !== true) {
    const [foreign] = Object.keys(defined(given));
    if (foreign !== undefined) throw usage(`--${foreign} can only be used with --background.`, 'call');
    return undefined;
  }
  if (yes === true || approval !== undefined)
    throw usage(
      `--${yes === true ? 'yes' : 'approval'} cannot be combined with --background: a task that requires approval waits for "toolcrib approvals approve ID".`,
      'call',
    );
  if (at !== undefined && delay !== undefined) throw usage('Use either --at or --delay, not both.', 'call');
  return {
    ...defined({ notify }),
    ...(at !== undefined && { at: readTime(at) }),
    ...(delay !== undefined && { delayMs: readDelayMs(delay) }),
    ...(priority !== undefined && { priority: readPriority(priority, 'call') }),
  };
}

interface TaskFlags {
  readonly at?: number;
  readonly delayMs?: number;
  readonly priority?: number;
  readonly notify?: string;
}

function readTime(text: string): number {
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const at = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw usage(
    `--at takes a date (UTC) or a time with its zone, such as 2030-12-31T22:00Z or 2030-12-31T22:00+01:00, not "${text}".`,
    'call',
  );
}

function readDelayMs(text: string): number {
  const delayMs = /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Math.round(Number(text) * 1000) : readDurationMs(text);
  if (delayMs !== undefined) return delayMs;
  throw usage(`--delay takes seconds, or a time such as 30m, 12h or 7d, not "${text}".`, 'call');
}

/** The number of `--priority`. */
export function readPriority(text: string, command: string): number {
  if (/^-?\d{1,3}$/.test(text) && Math.abs(Number(text)) <= 100) return Number(text);
  throw usage(`--priority takes a whole number from -100 to 100, not "${text}".`, command);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The duration of `30m`, `12h`, `30d` or `4w` in milliseconds; undefined for anything else. */
export function readDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** Reads an expiry: `30d`, `12h`, a date, or `never`. */
export function readExpiry(text: string): { readonly forMs: number } | { readonly expiresAt: number | null } {
  if (text === 'never') return { expiresAt: null };
  const forMs = readDurationMs(text);
  if (forMs !== undefined) return { forMs };
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return { expiresAt: at };
  throw usage(`--expires takes 30m, 12h, 30d, 4w, a date such as 2030-12-31 (UTC), or never, not "${text}".`, 'keys');
}

/** File names of a configuration, in order of preference. */
export const CONFIG_NAMES = ['toolcrib.yaml', 'toolcrib.yml', 'toolcrib.json'];

/** The configuration of a folder, if it has one. */
export function findConfig(folder: string): string | undefined {
  return CONFIG_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
}
