import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { APPROVAL_STATES } from '../../core/ports/approval-states.ts';
import { ToolcribError } from '../../core/tool-error.ts';

/** What a flag is. */
export interface FlagDefinition {
  /** What its value is called in help; a flag without is on or absent. */
  readonly takes?: string;
  /** May be given more than once. */
  readonly many?: true;
  readonly short?: string;
  readonly summary: string;
  /** The values it takes, where they are few. */
  readonly values?: readonly string[];
}

/** Every flag of every command: a name means the same everywhere. */
export const FLAGS = {
  config: { takes: 'FILE', summary: 'the configuration; toolcrib.yaml of the working directory if absent' },
  profile: { takes: 'NAME', summary: 'see and call tools under this profile; all tools if absent' },
  json: { summary: 'print JSON' },
  quiet: { short: 'q', summary: 'print no warnings' },
  help: { short: 'h', summary: 'print help' },
  version: { summary: 'print the version' },
  tag: { takes: 'TAG', many: true, summary: 'tools with this tag; repeated: with all of them' },
  category: { takes: 'NAME', summary: 'tools of this category; a glob' },
  pattern: { takes: 'GLOB', summary: 'tools whose name matches' },
  kind: { takes: 'KIND', summary: 'tools that run this way: function, shell, http, ...' },
  source: { takes: 'NAME', summary: 'tools of this source; a glob' },
  bundle: { takes: 'NAME', summary: 'tools of this bundle; a glob' },
  flag: {
    takes: 'NAME',
    many: true,
    summary: 'tools of which this is true (readOnly, destructive, ...); NAME=false: false',
  },
  format: {
    takes: 'FORMAT',
    summary: 'print definitions as a vendor takes them',
    values: ['openai', 'anthropic', 'gemini', 'mcp'],
  },
  tokens: { summary: 'count tokens instead of estimating them (slower)' },
  caller: { takes: 'ID', summary: 'who asks; nobody in particular if absent' },
  role: { takes: 'ROLE', many: true, summary: 'a role of who asks' },
  tool: { takes: 'NAME', summary: 'calls of this tool' },
  outcome: { takes: 'WORD', summary: 'calls that ended so: done, waiting, denied, unknown_tool, ...' },
  limit: { takes: 'N', summary: 'at most so many; 10 if absent' },
  queries: {
    takes: 'FILE',
    summary: 'labelled requests, one a line: {"id", "query", "relevant": [id]}; [] where nothing fits',
  },
  tools: { takes: 'FILE', summary: 'a catalogue, a tool a line, instead of the tools of the configuration' },
  expand: { summary: 'add what belongs with the hits' },
  args: { takes: 'JSON', summary: 'arguments as a JSON object; - reads them from stdin' },
  yes: { short: 'y', summary: 'approve the call as the operator' },
  approval: { takes: 'ID', summary: 'take up a parked and approved call' },
  state: {
    takes: 'STATE',
    summary: 'approvals in this state; waiting if absent',
    values: [...APPROVAL_STATES, 'all'],
  },
  note: { takes: 'TEXT', summary: 'what the caller is told with the answer' },
  remember: { takes: 'WHAT', summary: 'ask no more for this conversation, these arguments, or a time such as 12h' },
  follow: { summary: 'print new lines as they come, until Ctrl-C' },
  from: { takes: 'FILE', summary: 'take over the servers of an mcp.json' },
  force: { summary: 'replace a file that is there' },
  name: { takes: 'NAME', summary: 'what people call it' },
  permission: { takes: 'NAME', many: true, summary: 'a permission of who asks' },
  'allow-profile': {
    takes: 'GLOB',
    many: true,
    summary: 'a profile that the key may open; those of its roles if absent',
  },
  host: { takes: 'HOST', summary: 'the address to listen on; 127.0.0.1 if absent' },
  port: { takes: 'PORT', summary: 'the port to listen on; 2742 if absent, 0 for any' },
  stdio: { summary: 'speak MCP on stdin and stdout instead' },
  insecure: { summary: 'listen beyond this machine although nothing says who may come in' },
  expires: { takes: 'WHEN', summary: '30m, 12h, 30d, 4w, a date, or never; 90d if absent' },
} as const satisfies Readonly<Record<string, FlagDefinition>>;

export type FlagName = keyof typeof FLAGS;

/** Flags that every command takes. */
export const GLOBAL_FLAGS = ['config', 'profile', 'json', 'quiet', 'help'] as const satisfies readonly FlagName[];

type ValueOf<Definition> = Definition extends { readonly many: true }
  ? readonly string[]
  : Definition extends { readonly takes: string }
    ? string
    : true;

/** The flags that were given. */
export type Flags = { readonly [Name in FlagName]?: ValueOf<(typeof FLAGS)[Name]> };

/** A flag of this name, if there is one. */
export function findFlag(name: string): FlagDefinition | undefined {
  return Object.hasOwn(FLAGS, name) ? FLAGS[name as FlagName] : undefined; // an own key
}

/** A mistake on the command line, with where to read more. */
export function usage(message: string, command?: string): ToolcribError {
  const more = command === undefined ? 'toolcrib help' : `toolcrib help ${command}`;
  return new ToolcribError('usage', `${message} See "${more}".`);
}

/** The number of `--limit`, if it was given. */
export function readCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usage(`--limit takes a whole number of at least 1, not "${text}".`);
  return Number(text);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** How long `30m`, `12h`, `30d` or `4w` is; undefined for anything else. */
export function readDurationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** When something ends: `30d`, `12h`, a date, or `never`. */
export function readExpiry(text: string): { readonly forMs: number } | { readonly expiresAt: number | null } {
  if (text === 'never') return { expiresAt: null };
  const forMs = readDurationMs(text);
  if (forMs !== undefined) return { forMs };
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return { expiresAt: at };
  throw usage(`--expires takes 30m, 12h, 30d, 4w, a date such as 2030-12-31 (UTC), or never, not "${text}".`, 'keys');
}

/** What a configuration may be called. */
export const CONFIG_NAMES = ['toolcrib.yaml', 'toolcrib.yml', 'toolcrib.json'];

/** The configuration of a folder, if it has one. */
export function findConfig(folder: string): string | undefined {
  return CONFIG_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path));
}
