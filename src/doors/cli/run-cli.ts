import type { Command, ExitCode, RunCommand } from './commands.ts';
import type { Flags } from './flags.ts';
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
    const { command, ...invocation } = parseCommandLine(args);
    showWarnings(invocation.flags);
    const run = await loadCommand(command);
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
function showWarnings({ quiet }: Flags): void {
  process.removeAllListeners('warning');
  if (quiet === true) return;
  process.on('warning', (warning) => {
    if (warning.name !== 'ToolcribWarning' && process.env.TOOLCRIB_DEBUG !== '1') return;
    note(`${paint('yellow', 'warning:', process.stderr)} ${toLines(warning.message)}`);
  });
}

/** The code of the commands that are about the table of commands; the table has that of the others. */
const ABOUT_COMMANDS: Readonly<Record<string, () => Promise<RunCommand>>> = {
  completion: async () => (await import('./commands/complete-words.ts')).printCompletion,
  help: async () => (await import('./commands/print-help.ts')).printHelp,
  version: async () => (await import('./commands/print-help.ts')).printVersion,
};

/** What runs a command of this version. */
export async function loadCommand({ name, load = ABOUT_COMMANDS[name] }: Command): Promise<RunCommand> {
  if (load === undefined) throw new Error(`The command "${name}" has no code.`);
  return load();
}
