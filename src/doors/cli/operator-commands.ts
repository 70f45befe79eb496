import type { Command, CommandWord } from './command.ts';

const TARGET: CommandWord = { name: 'TARGET', completes: 'target' };

/** The commands that manage a crib and serve it, in the order of help. */
export const OPERATOR_COMMANDS: readonly Command[] = [
  {
    name: 'specs',
    summary: 'list, add, remove and export stored specs; show their history',
    words: [
      { name: 'add|remove|export|history', optional: true, values: ['add', 'remove', 'export', 'history'] },
      { name: 'FILE|-|NAME', optional: true, completes: 'spec' },
    ],
    examples: ['toolcrib specs add tools.yaml', 'toolcrib specs export > tools.json', 'toolcrib specs history add'],
    load: async () => (await import('./commands/edit-specs.ts')).editSpecs,
  },
  {
    name: 'keys',
    summary: 'list, create and revoke API keys',
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
    name: 'schedules',
    summary: 'list, add, remove and run schedules: calls at certain times',
    words: [
      { name: 'list|add|remove|run', optional: true, values: ['list', 'add', 'remove', 'run'] },
      { name: 'NAME', optional: true },
      { name: 'TOOL', optional: true, completes: 'tool' },
    ],
    flags: ['cron', 'at', 'time-zone', 'missed', 'args', 'role', 'priority', 'notify', 'replace'],
    examples: [
      'toolcrib schedules add nightly tidy_up --cron "0 3 * * *" --time-zone Europe/Berlin',
      `toolcrib schedules add greeting send_mail --at 2030-01-01T00:00:00Z --args '{"to":"all"}'`,
      'toolcrib schedules run nightly',
    ],
    load: async () => (await import('./commands/edit-schedules.ts')).editSchedules,
  },
  {
    name: 'stop',
    summary:
      'refuse calls of tool:NAME, source:NAME, caller:ID, profile:NAME or all, in every process; or list the stops',
    words: [{ ...TARGET, optional: true }],
    flags: ['note', 'cancel', 'force'],
    examples: ['toolcrib stop', 'toolcrib stop tool:pay --note "it pays twice"', 'toolcrib stop all --cancel'],
    load: async () => (await import('./commands/stop-calls.ts')).stopCalls,
  },
  {
    name: 'resume',
    summary: 'end an emergency stop: the calls run again',
    words: [TARGET],
    flags: ['note'],
    examples: ['toolcrib resume tool:pay', 'toolcrib resume all'],
    load: async () => (await import('./commands/stop-calls.ts')).resumeCalls,
  },
  {
    name: 'calls',
    summary: 'list recorded calls, newest first',
    flags: ['tool', 'caller', 'outcome', 'limit'],
    examples: ['toolcrib calls --tool add', 'toolcrib calls --caller alice --outcome denied --limit 50'],
    load: async () => (await import('./commands/list-calls.ts')).listCalls,
  },
  {
    name: 'audit',
    summary: 'summarize the audit log; verify it, export it as NDJSON, or print its public key',
    words: [{ name: 'verify|export|key', optional: true, values: ['verify', 'export', 'key'] }],
    examples: ['toolcrib audit verify', 'toolcrib audit export > audit.ndjson', 'toolcrib audit key'],
    load: async () => (await import('./commands/inspect-audit.ts')).inspectAudit,
  },
  {
    name: 'config',
    summary: 'print the configuration in force, with the file and line of each value; secrets are hidden',
    load: async () => (await import('./commands/examine-setup.ts')).printConfiguration,
  },
  {
    name: 'doctor',
    summary: 'examine store, clock, versions, sandbox, Python, sources and port, and say what to do',
    load: async () => (await import('./commands/examine-setup.ts')).doctor,
  },
  {
    name: 'serve',
    summary: 'serve REST and MCP over HTTP, or MCP on stdio',
    flags: ['host', 'port', 'stdio', 'insecure'],
    examples: ['toolcrib serve', 'toolcrib serve --port 8080'],
    load: async () => (await import('./commands/serve-crib.ts')).serveCrib,
  },
  {
    name: 'worker',
    summary: 'run background calls until a signal; --profile and --source can be repeated',
    flags: ['concurrency', 'source'],
    repeats: ['profile', 'source'],
    examples: ['toolcrib worker --concurrency 8', 'toolcrib worker --profile reports --source browser'],
    load: async () => (await import('./commands/run-worker.ts')).runWorker,
  },
  {
    name: 'types',
    summary: 'print TypeScript declarations of the tools, or of those that a request needs, for scripts',
    words: [{ name: 'WORDS', many: true, optional: true }],
    flags: ['goal', 'limit', 'max-tokens', 'out'],
    examples: [
      'toolcrib types --profile assistant --out tools.d.ts',
      'toolcrib types list orders of a customer --max-tokens 500',
    ],
    load: async () => (await import('./commands/print-types.ts')).printTypes,
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands, flags and tool names',
    words: [{ name: 'SHELL', values: ['bash', 'zsh', 'fish'] }],
    examples: [
      'source <(toolcrib completion bash)',
      'toolcrib completion fish > ~/.config/fish/completions/toolcrib.fish',
    ],
  },
  {
    name: 'help',
    summary: 'print help, or the help of one command',
    words: [{ name: 'COMMAND', optional: true, completes: 'command' }],
  },
  {
    name: 'version',
    summary: 'print the version',
    flags: ['version'],
  },
  { name: 'pins', summary: 'list the accepted definitions', isLater: true },
  { name: 'connect', summary: 'print the configuration entry for an MCP client', isLater: true },
];
