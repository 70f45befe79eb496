import type { Command, ExitCode, RunCommand } from './command.ts';
import type { Flags } from './flags.ts';
import { endOnInterrupt, note, paint, reportFailure, toLines } from './output.ts';
import { parseCommandLine } from './parse-command-line.ts';

/** Runs one command line and returns its exit code. Errors are already printed. */
export async function runCli(args: readonly string[]): Promise<ExitCode> {
  endOnInterrupt();
  endWithReader();
  try {
    if (args[0] === '__complete') {
      process.removeAllListeners('warning'); // completion prints no warnings
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

// `toolcrib list | head`: a closed pipe is not an error.
function endWithReader(): void {
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EPIPE') process.exit(0);
    process.exit(reportFailure(cause));
  });
}

// Node's own format of warnings names a process id and a flag of Node, which do not help the user.
function showWarnings({ quiet }: Flags): void {
  process.removeAllListeners('warning');
  if (quiet === true) return;
  process.on('warning', (warning) => {
    if (warning.name !== 'ToolcribWarning' && process.env.TOOLCRIB_DEBUG !== '1') return;
    // Text of others may contain line breaks: their lines must not look like warnings.
    note(`${paint('yellow', 'warning:', process.stderr)} ${toLines(warning.message).replaceAll('\n', '\n  ')}`);
  });
}

/** The code of commands that read the table of commands; the table itself cannot import them. */
const ABOUT_COMMANDS: Readonly<Record<string, () => Promise<RunCommand>>> = {
  completion: async () => (await import('./commands/complete-words.ts')).printCompletion,
  help: async () => (await import('./commands/print-help.ts')).printHelp,
  version: async () => (await import('./commands/print-help.ts')).printVersion,
};

/** Imports the code of a command. */
export async function loadCommand({ name, load = ABOUT_COMMANDS[name] }: Command): Promise<RunCommand> {
  if (load === undefined) throw new Error(`The command "${name}" has no code.`);
  return load();
}
