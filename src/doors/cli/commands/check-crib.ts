import { ToolcribError } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import { type Counting, TOKEN_FORMATS } from '../../../formats/token-cost.ts';
import { type CheckReport, reportOn, reportUnusable } from '../../check-report.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { describeStarting, withCrib } from '../open-crib.ts';
import { counted, note, paint, print, printJson, reportFailure, toLine, withProgress } from '../output.ts';
import { figures, flexible, printTable, tokenText } from '../table.ts';
import { printSources, staleSources } from './list-sources.ts';
import { noteStops } from './stop-calls.ts';

/** `toolcrib check`: exit code 0 without problems, 1 with problems, 2 if the configuration cannot be used. */
export async function checkCrib({ flags }: Invocation): Promise<ExitCode> {
  process.removeAllListeners('warning'); // the report contains all of them
  try {
    return await withCrib(flags, async (crib) => {
      await withProgress(() => `Asking sources ${describeStarting(crib)}`, askAll(crib));
      const report = await reportOn(crib, await staleSources(crib, flags));
      if (flags.json === true) printJson(report);
      else printReport(report);
      await noteStops(crib);
      return report.ok ? 0 : 1;
    });
  } catch (cause) {
    if (flags.json === true && cause instanceof ToolcribError) printJson(reportUnusable(cause.message));
    return reportFailure(cause);
  }
}

/** Asks every source again: a cached list does not show whether its server is reachable. */
async function askAll(crib: Crib): Promise<void> {
  await crib.server.allListed();
  await crib.reload();
}

function printReport(report: CheckReport): void {
  const counting: Counting = report.tokensExact ? 'exact' : 'estimate';
  print(`${paint('bold', 'Configuration')}  ${report.ok ? 'ok' : countProblems(report)}`);
  if (report.store !== undefined) printStore(report.store);
  // The reasons are listed under Problems, where no text is cut.
  const sources = report.sources.map(({ reason, ...source }) =>
    reason === undefined ? source : { ...source, reason: 'see Problems' },
  );
  if (sources.length > 0) section('Sources', () => printSources(sources, counting));
  section('Extensions, outermost first', () =>
    printTable(
      [figures('PRIORITY'), 'NAME', flexible('REASON')],
      report.extensions.map(({ priority, name, reason }) => [String(priority), name, reason]),
    ),
  );
  section('Token cost of the tools that each profile shows at first', () =>
    printTable(
      ['PROFILE', figures('TOOLS'), ...TOKEN_FORMATS.map((format) => figures(format.toUpperCase()))],
      report.profiles.map(({ name, toolCount, tokens, ...profile }) => [
        profile.default ? `${name} (default)` : name,
        String(toolCount),
        ...TOKEN_FORMATS.map((format) => tokenText(tokens[format], counting)),
      ]),
    ),
  );
  printSentences('Disabled guards', report.guardsOff);
  printSentences('Name conflicts', report.conflicts);
  printSentences('Notes', report.notes);
  printSentences('Problems', report.problems);
  note(
    report.ok
      ? paint('green', 'No problems found.', process.stderr)
      : paint('yellow', `${countProblems(report)}: ${whereProblems(report)}.`, process.stderr),
  );
}

function countProblems({ conflicts, problems }: CheckReport): string {
  return `${counted(conflicts.length + problems.length, 'problem')} found`;
}

/** The sections that list the problems, and the sources that are not ready. */
function whereProblems({ conflicts, problems, sources }: CheckReport): string {
  const failing = sources.filter(({ state }) => state !== 'ready').map(({ name }) => toLine(name));
  return [
    ...(conflicts.length > 0 ? [`${conflicts.length} under Name conflicts`] : []),
    ...(problems.length > 0 ? [`${problems.length} under Problems`] : []),
    ...(failing.length > 0 ? [`not ready: ${failing.join(', ')}`] : []),
  ].join('; ');
}

function printStore({ engine, location, warnings }: NonNullable<CheckReport['store']>): void {
  print(`${paint('bold', 'Store')}          ${engine}, ${toLine(location)}`);
  for (const warning of warnings) print(`               ${toLine(warning)}`);
}

function section(title: string, printBody: () => void): void {
  print(`\n${paint('bold', title)}`);
  printBody();
}

function printSentences(title: string, sentences: readonly string[]): void {
  if (sentences.length === 0) return;
  section(title, () => {
    for (const sentence of sentences) print(`  ${toLine(sentence)}`);
  });
}
