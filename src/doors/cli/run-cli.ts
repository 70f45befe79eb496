import { parseCommandLine } from './arguments/parse-command-line.ts';
import type { ExitCode } from './commands.ts';
import { endOnInterrupt } from './interrupt.ts';
import { loadCommand } from './load-command.ts';
import { note, paint, toLines } from './output/output.ts';
import { reportFailure } from './output/report-failure.ts';

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
