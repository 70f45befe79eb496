import { APPROVAL_STATES } from '../../core/ports/approval-states.ts';
import { TASK_STATES } from '../../core/ports/stored-tasks.ts';
import type { Command, CommandWord } from './command.ts';
import { OPERATOR_COMMANDS } from './operator-commands.ts';

const TOOL: CommandWord = { name: 'TOOL', completes: 'tool' };

/** The commands, in the order of help. To add one, add a file under `commands` and an entry here or in `OPERATOR_COMMANDS`. */
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
    words: [{ name: 'WORDS', many: true, optional: true }],
    flags: ['goal', 'limit', 'expand'],
    examples: [
      'toolcrib search click a button --limit 3',
      'toolcrib search --goal "create a channel, invite Mia and post a welcome"',
    ],
    load: async () => (await import('./commands/list-tools.ts')).searchTools,
  },
  {
    name: 'eval',
    summary: 'measure search quality with labelled requests, and show the worst results',
    flags: ['queries', 'tools', 'compare', 'limit'],
    examples: [
      'toolcrib eval --queries requests.jsonl',
      'toolcrib eval --queries requests.jsonl --tools catalogue.jsonl',
      'toolcrib eval --queries requests.jsonl --compare changed.yaml',
    ],
    load: async () => (await import('./commands/eval-search.ts')).evalSearch,
  },
  {
    name: 'enrich',
    summary: 'let a model of yours write requests for tools, which search reads as their examples',
    flags: ['file', 'dry-run', 'show', 'prune'],
    examples: ['toolcrib enrich --dry-run', 'toolcrib enrich --profile assistant', 'toolcrib enrich --show'],
    load: async () => (await import('./commands/write-examples.ts')).writeExamples,
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
    flags: ['args', 'yes', 'approval'],
    examples: ['toolcrib script report.js town=Oslo', 'toolcrib script - --profile assistant < report.ts'],
    load: async () => (await import('./commands/call-tool.ts')).runScriptFile,
  },
  {
    name: 'approvals',
    summary: 'list, show, approve and deny calls that require approval; list and forget remembered answers',
    words: [
      {
        name: 'show|approve|deny|grants|forget',
        optional: true,
        values: ['show', 'approve', 'deny', 'grants', 'forget'],
      },
      { name: 'ID', optional: true },
    ],
    flags: ['state', 'note', 'remember', 'uses', 'vary'],
    values: { state: [...APPROVAL_STATES, 'all'] },
    examples: [
      'toolcrib approvals show 4f7k-9xm2-tq0d',
      'toolcrib approvals approve 4f7k-9xm2-tq0d --remember 12h',
      `toolcrib approvals approve 4f7k-9xm2-tq0d --remember 12h --uses 20 --vary '{"amount":{"maximum":100}}'`,
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
  ...OPERATOR_COMMANDS,
];

/** The commands of this version. */
export const AVAILABLE: readonly Command[] = COMMANDS.filter(({ isLater }) => isLater !== true);
