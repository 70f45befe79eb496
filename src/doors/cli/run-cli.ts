import type { ExitCode, RunCommand } from './commands.ts';
import { endOnInterrupt, note, paint, reportFailure, toLines } from './output.ts';
import { parseCommandLine } from './parse-command-line.ts';

/** Runs one command line and returns its exit code; what went wrong has been said. */
export async function runCli(args: readonly string[]): Promise<ExitCode> {
  endOnInterrupt();
  endWithReader();
  try {
    if (args[0] === '__complete') {
      process.removeAllListeners('warning'); // whoever presses Tab wants no sentences
      const { completeWords } = await import('./commands/complete-words.ts');
      return await completeWords(args.slice(1));
    }
    showWarnings();
    const { command, ...invocation } = parseCommandLine(args);
    const run = await loadCommand(command.name);
    return await run(invocation);
  } catch (cause) {
    return reportFailure(cause);
  }
}

// `toolcrib list | head`: whoever reads no further is no reason to complain.
function endWithReader(): void {
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EPIPE') process.exit(0);
    process.exit(reportFailure(cause));
  });
}

// Node's own way to print warnings names a process number and a flag of Node, which help nobody here.
function showWarnings(): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ToolcribWarning' && process.env.TOOLCRIB_DEBUG !== '1') return;
    note(`${paint('yellow', 'warning:', process.stderr)} ${toLines(warning.message)}`);
  });
}

/** The code of each command, read when the command runs. */
const LOADERS: Readonly<Record<string, () => Promise<RunCommand>>> = {
  init: async () => (await import('./commands/write-config.ts')).writeConfig,
  check: async () => (await import('./commands/check-crib.ts')).checkCrib,
  list: async () => (await import('./commands/list-tools.ts')).listTools,
  show: async () => (await import('./commands/show-tool.ts')).showTool,
  explain: async () => (await import('./commands/show-tool.ts')).explainTool,
  search: async () => (await import('./commands/list-tools.ts')).searchTools,
  eval: async () => (await import('./commands/eval-search.ts')).evalSearch,
  call: async () => (await import('./commands/call-tool.ts')).callTool,
  approvals: async () => (await import('./commands/answer-approvals.ts')).answerApprovals,
  bundles: async () => (await import('./commands/list-profiles.ts')).listBundles,
  profiles: async () => (await import('./commands/list-profiles.ts')).listProfiles,
  sources: async () => (await import('./commands/list-sources.ts')).listSources,
  specs: async () => (await import('./commands/edit-specs.ts')).editSpecs,
  keys: async () => (await import('./commands/edit-keys.ts')).editKeys,
  calls: async () => (await import('./commands/list-calls.ts')).listCalls,
  audit: async () => (await import('./commands/inspect-audit.ts')).inspectAudit,
  serve: async () => (await import('./commands/serve-crib.ts')).serveCrib,
  completion: async () => (await import('./commands/complete-words.ts')).printCompletion,
  help: async () => (await import('./commands/print-help.ts')).printHelp,
  version: async () => (await import('./commands/print-help.ts')).printVersion,
};

/** What runs a command of this version. */
export async function loadCommand(name: string): Promise<RunCommand> {
  const load = LOADERS[name];
  if (load === undefined) throw new Error(`The command "${name}" has no code.`);
  return load();
}
