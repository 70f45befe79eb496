import type { FlagName, Flags } from './flags.ts';

/** 0 ok, 1 the call failed or was refused, 2 usage or configuration, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 130;

/** What was asked for. */
export interface Invocation {
  readonly words: readonly string[];
  readonly flags: Flags;
}

export type RunCommand = (invocation: Invocation) => Promise<ExitCode>;

/** What a positional word is, for checks, help and completion. */
export interface CommandWord {
  readonly name: string;
  readonly optional?: true;
  /** Stands for any number of words. */
  readonly many?: true;
  readonly values?: readonly string[];
  readonly completes?: 'tool' | 'argument' | 'file' | 'command' | 'spec' | 'source';
}

/** One command as data. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly words?: readonly CommandWord[];
  readonly flags?: readonly FlagName[];
  readonly examples?: readonly string[];
  /** Its code, read when the command runs. */
  load?(): Promise<RunCommand>;
  /** Known, but not in this version. */
  readonly isLater?: true;
}

const TOOL: CommandWord = { name: 'TOOL', completes: 'tool' };

/** The commands, in the order of help. A new one is a file under `commands`, and an entry here. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'init',
    summary: 'write a commented toolcrib.yaml',
    flags: ['from', 'force'],
    examples: ['toolcrib init', 'toolcrib init --from ~/.cursor/mcp.json'],
    load: async () => (await import('./commands/write-config.ts')).writeConfig,
  },
  {
    name: 'check',
    summary: 'validate the configuration, start every source, report problems and costs',
    load: async () => (await import('./commands/check-crib.ts')).checkCrib,
  },
  {
    name: 'list',
    summary: 'the tools',
    flags: ['tag', 'category', 'pattern', 'kind', 'source', 'bundle', 'flag', 'format', 'tokens'],
    examples: ['toolcrib list --tag files --flag readOnly', 'toolcrib list --profile assistant --format openai'],
    load: async () => (await import('./commands/list-tools.ts')).listTools,
  },
  {
    name: 'show',
    summary: 'one tool: schema, policy, bundles, token cost, last calls',
    words: [TOOL],
    load: async () => (await import('./commands/show-tool.ts')).showTool,
  },
  {
    name: 'explain',
    summary: 'why a tool is visible or not, and which layer set each limit',
    words: [TOOL],
    flags: ['caller', 'role'],
    examples: ['toolcrib explain pay_invoice --profile assistant --caller alice --role dev'],
    load: async () => (await import('./commands/show-tool.ts')).explainTool,
  },
  {
    name: 'search',
    summary: 'ranked tools for a request in words',
    words: [{ name: 'WORDS', many: true }],
    flags: ['limit', 'expand'],
    examples: ['toolcrib search click a button --limit 3'],
    load: async () => (await import('./commands/list-tools.ts')).searchTools,
  },
  {
    name: 'eval',
    summary: 'how well search finds what labelled requests mean, and the worst of them',
    flags: ['queries', 'tools', 'limit'],
    examples: [
      'toolcrib eval --queries requests.jsonl',
      'toolcrib eval --queries requests.jsonl --tools catalogue.jsonl',
    ],
    load: async () => (await import('./commands/eval-search.ts')).evalSearch,
  },
  {
    name: 'call',
    summary: 'run a tool; asks first on a terminal where approval is needed',
    words: [TOOL, { name: 'key=value', optional: true, many: true, completes: 'argument' }],
    flags: ['args', 'yes', 'approval'],
    examples: [
      'toolcrib call add a=1 b=2',
      `toolcrib call add --args '{"a":1,"b":2}'`,
      'toolcrib call add --args - < add.json',
    ],
    load: async () => (await import('./commands/call-tool.ts')).callTool,
  },
  {
    name: 'approvals',
    summary: 'calls that wait for a person: list, show, approve, deny, forget what is remembered',
    words: [
      { name: 'show|approve|deny|forget', optional: true, values: ['show', 'approve', 'deny', 'forget'] },
      { name: 'ID', optional: true },
    ],
    flags: ['state', 'note', 'remember'],
    examples: [
      'toolcrib approvals show 4f7k-9xm2-tq0d',
      'toolcrib approvals approve 4f7k-9xm2-tq0d --remember 12h',
      'toolcrib approvals deny 4f7k-9xm2-tq0d --note "not on a Friday"',
    ],
    load: async () => (await import('./commands/answer-approvals.ts')).answerApprovals,
  },
  {
    name: 'bundles',
    summary: 'the bundles and what each costs in tokens',
    flags: ['tokens'],
    load: async () => (await import('./commands/list-profiles.ts')).listBundles,
  },
  {
    name: 'profiles',
    summary: 'the profiles and what each costs in tokens',
    flags: ['tokens'],
    load: async () => (await import('./commands/list-profiles.ts')).listProfiles,
  },
  {
    name: 'sources',
    summary: 'the sources, how each is doing and what it costs in tokens',
    flags: ['tokens'],
    load: async () => (await import('./commands/list-sources.ts')).listSources,
  },
  {
    name: 'logs',
    summary: 'what the program of a source has printed',
    words: [{ name: 'SOURCE', completes: 'source' }],
    flags: ['follow'],
    examples: ['toolcrib logs github', 'toolcrib logs github --follow'],
    load: async () => (await import('./commands/print-logs.ts')).printLogs,
  },
  {
    name: 'specs',
    summary: 'specs kept in the store: list, add, remove, export, history',
    words: [
      { name: 'add|remove|export|history', optional: true, values: ['add', 'remove', 'export', 'history'] },
      { name: 'FILE|-|NAME', optional: true, completes: 'spec' },
    ],
    examples: ['toolcrib specs add tools.yaml', 'toolcrib specs export > tools.json', 'toolcrib specs history add'],
    load: async () => (await import('./commands/edit-specs.ts')).editSpecs,
  },
  {
    name: 'keys',
    summary: 'API keys: list, create, revoke',
    words: [
      { name: 'create|revoke', optional: true, values: ['create', 'revoke'] },
      { name: 'ID', optional: true },
    ],
    flags: ['name', 'caller', 'role', 'permission', 'allow-profile', 'expires'],
    examples: [
      'toolcrib keys create --name ci --role dev --expires 30d',
      'toolcrib keys create --name bot --allow-profile assistant > bot.key',
      'toolcrib keys revoke 7h2k9d4m1x',
    ],
    load: async () => (await import('./commands/edit-keys.ts')).editKeys,
  },
  {
    name: 'calls',
    summary: 'calls that were made, newest first',
    flags: ['tool', 'caller', 'outcome', 'limit'],
    examples: ['toolcrib calls --tool add', 'toolcrib calls --caller alice --outcome denied --limit 50'],
    load: async () => (await import('./commands/list-calls.ts')).listCalls,
  },
  {
    name: 'audit',
    summary: 'what is on record; verify: whether it was changed; export: all of it, a row a line; key: the public key',
    words: [{ name: 'verify|export|key', optional: true, values: ['verify', 'export', 'key'] }],
    examples: ['toolcrib audit verify', 'toolcrib audit export > audit.ndjson', 'toolcrib audit key'],
    load: async () => (await import('./commands/inspect-audit.ts')).inspectAudit,
  },
  {
    name: 'serve',
    summary: 'REST and MCP over HTTP until it is told to end',
    flags: ['host', 'port', 'stdio', 'insecure'],
    examples: ['toolcrib serve', 'toolcrib serve --port 8080'],
    load: async () => (await import('./commands/serve-crib.ts')).serveCrib,
  },
  {
    name: 'completion',
    summary: 'a script that completes commands, flags and tool names',
    words: [{ name: 'SHELL', values: ['bash', 'zsh', 'fish'] }],
    examples: [
      'source <(toolcrib completion bash)',
      'toolcrib completion fish > ~/.config/fish/completions/toolcrib.fish',
    ],
  },
  {
    name: 'help',
    summary: 'help, or that of one command',
    words: [{ name: 'COMMAND', optional: true, completes: 'command' }],
  },
  {
    name: 'version',
    summary: 'the version',
    flags: ['version'],
  },
  { name: 'script', summary: 'run a script that calls tools', isLater: true },
  { name: 'types', summary: 'TypeScript declarations of tools', isLater: true },
  { name: 'pins', summary: 'definitions that were accepted', isLater: true },
  { name: 'connect', summary: 'the entry for an MCP client', isLater: true },
  { name: 'worker', summary: 'work for a server elsewhere', isLater: true },
  { name: 'doctor', summary: 'what is wrong with this machine', isLater: true },
];

/** The commands that this version has. */
export const AVAILABLE: readonly Command[] = COMMANDS.filter(({ isLater }) => isLater !== true);
