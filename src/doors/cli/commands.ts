import { APPROVAL_STATES } from '../../core/ports/approval-states.ts';
import { TASK_STATES } from '../../core/ports/stored-tasks.ts';
import type { Command, CommandWord } from './command.ts';

const TOOL: CommandWord = { name: 'TOOL', completes: 'tool' };
const TARGET: CommandWord = { name: 'TARGET', completes: 'target' };

/** The commands, in the order of help. To add one, add a file under `commands` and an entry here. */
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
    summary: 'validate the configuration, start every source, report problems and token costs',
    load: async () => (await import('./commands/check-crib.ts')).checkCrib,
  },
  {
    name: 'list',
    summary: 'list the tools',
    flags: ['tag', 'category', 'pattern', 'kind', 'source', 'bundle', 'flag', 'format', 'tokens'],
    examples: ['toolcrib list --tag files --flag readOnly', 'toolcrib list --profile assistant --format openai'],
    load: async () => (await import('./commands/list-tools.ts')).listTools,
  },
  {
    name: 'show',
    summary: 'show one tool: schema, policy, bundles, token cost, last calls',
    words: [TOOL],
    load: async () => (await import('./commands/show-tool.ts')).showTool,
  },
  {
    name: 'explain',
    summary: 'explain why a tool is visible or not, and which layer set each limit',
    words: [TOOL],
    flags: ['caller', 'role'],
    examples: ['toolcrib explain pay_invoice --profile assistant --caller alice --role dev'],
    load: async () => (await import('./commands/show-tool.ts')).explainTool,
  },
  {
    name: 'search',
    summary: 'search tools by a request in plain words',
    words: [{ name: 'WORDS', many: true }],
    flags: ['limit', 'expand'],
    examples: ['toolcrib search click a button --limit 3'],
    load: async () => (await import('./commands/list-tools.ts')).searchTools,
  },
  {
    name: 'eval',
    summary: 'measure search quality with labelled requests, and show the worst results',
    flags: ['queries', 'tools', 'limit'],
    examples: [
      'toolcrib eval --queries requests.jsonl',
      'toolcrib eval --queries requests.jsonl --tools catalogue.jsonl',
    ],
    load: async () => (await import('./commands/eval-search.ts')).evalSearch,
  },
  {
    name: 'call',
    summary: 'call a tool; ask on the terminal if it requires approval',
    words: [TOOL, { name: 'key=value', optional: true, many: true, completes: 'argument' }],
    flags: ['args', 'yes', 'approval', 'background', 'at', 'delay', 'priority', 'notify'],
    examples: [
      'toolcrib call add a=1 b=2',
      `toolcrib call add --args '{"a":1,"b":2}'`,
      'toolcrib call add --args - < add.json',
      'toolcrib call report month=May --background --at 2030-06-01T04:00Z',
    ],
    load: async () => (await import('./commands/call-tool.ts')).callTool,
  },
  {
    name: 'script',
    summary: 'run a script that calls tools',
    words: [
      { name: 'FILE', completes: 'file' },
      { name: 'key=value', many: true, optional: true },
    ],
    flags: ['args', 'yes'],
    examples: ['toolcrib script report.js town=Oslo', 'toolcrib script - --profile assistant < report.ts'],
    load: async () => (await import('./commands/run-script-file.ts')).runScriptFile,
  },
  {
    name: 'approvals',
    summary: 'list, show, approve and deny calls that require approval; forget remembered answers',
    words: [
      { name: 'show|approve|deny|forget', optional: true, values: ['show', 'approve', 'deny', 'forget'] },
      { name: 'ID', optional: true },
    ],
    flags: ['state', 'note', 'remember'],
    values: { state: [...APPROVAL_STATES, 'all'] },
    examples: [
      'toolcrib approvals show 4f7k-9xm2-tq0d',
      'toolcrib approvals approve 4f7k-9xm2-tq0d --remember 12h',
      'toolcrib approvals deny 4f7k-9xm2-tq0d --note "not on a Friday"',
    ],
    load: async () => (await import('./commands/answer-approvals.ts')).answerApprovals,
  },
  {
    name: 'tasks',
    summary: 'list, show, cancel and resend background calls; list parked calls',
    words: [
      { name: 'list|show|cancel|resend', optional: true, values: ['list', 'show', 'cancel', 'resend'] },
      { name: 'ID', optional: true },
    ],
    flags: ['state', 'outcome', 'tool', 'limit'],
    values: { state: [...TASK_STATES, 'all'] },
    examples: [
      'toolcrib tasks --state queued --tool report',
      'toolcrib tasks --outcome unknown_outcome',
      'toolcrib tasks cancel 0193a2b4-6c1d-7e55-9a2b-8f3f5b1d2c4e',
    ],
    load: async () => (await import('./commands/edit-tasks.ts')).editTasks,
  },
  {
    name: 'bundles',
    summary: 'list the bundles and their token cost',
    flags: ['tokens'],
    load: async () => (await import('./commands/list-profiles.ts')).listBundles,
  },
  {
    name: 'profiles',
    summary: 'list the profiles and their token cost',
    flags: ['tokens'],
    load: async () => (await import('./commands/list-profiles.ts')).listProfiles,
  },
  {
    name: 'sources',
    summary: 'list the sources, their state and their token cost',
    flags: ['tokens'],
    load: async () => (await import('./commands/list-sources.ts')).listSources,
  },
  {
    name: 'logs',
    summary: 'print the output of the program of a source',
    words: [{ name: 'SOURCE', completes: 'source' }],
    flags: ['follow'],
    examples: ['toolcrib logs github', 'toolcrib logs github --follow'],
    load: async () => (await import('./commands/print-logs.ts')).printLogs,
  },
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
    summary: 'print TypeScript declarations of the tools, for scripts',
    flags: ['out'],
    examples: ['toolcrib types --profile assistant --out tools.d.ts'],
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
  { name: 'doctor', summary: 'diagnose this machine', isLater: true },
];

/** The commands of this version. */
export const AVAILABLE: readonly Command[] = COMMANDS.filter(({ isLater }) => isLater !== true);
