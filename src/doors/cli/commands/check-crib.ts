import { ToolcribError } from '../../../core/tool-error.ts';
import { type Counting, TOKEN_FORMATS } from '../../../formats/token-cost.ts';
import type { ExitCode, Invocation } from '../commands.ts';
import { withCrib } from '../open-crib.ts';
import { type CheckReport, reportOn, reportUnusable } from '../output/check-report.ts';
import { printSources } from '../output/describe-sources.ts';
import { note, paint, print, printJson, toLine } from '../output/output.ts';
import { reportFailure } from '../output/report-failure.ts';
import { figures, flexible, printTable } from '../output/table.ts';
import { tokenText } from '../output/token-figures.ts';
import { staleSources } from '../running-sources.ts';

/** `toolcrib check`: 0 if nothing is wrong, 1 if something is reported, 2 if the configuration cannot be used. */
export async function checkCrib({ flags }: Invocation): Promise<ExitCode> {
  process.removeAllListeners('warning'); // each of them stands in the report
  try {
    return await withCrib(flags, async (crib) => {
      await crib.reload(); // what is known of a server from before says nothing about whether it is there
      const report = await reportOn(crib, await staleSources(crib, flags));
      if (flags.json === true) printJson(report);
      else printReport(report);
      return report.ok ? 0 : 1;
    });
  } catch (cause) {
    if (flags.json === true && cause instanceof ToolcribError) printJson(reportUnusable(cause.message));
    return reportFailure(cause);
  }
}

function printReport(report: CheckReport): void {
  const counting: Counting = report.tokensExact ? 'exact' : 'estimate';
  print(`${paint('bold', 'Configuration')}  ok`);
  if (report.store !== undefined) printStore(report.store);
  if (report.sources.length > 0) section('Sources', () => printSources(report.sources, counting));
  section('Extensions, outermost first', () =>
    printTable(
      [figures('PRIORITY'), 'NAME', flexible('WHY HERE')],
      report.extensions.map(({ priority, name, reason }) => [String(priority), name, reason]),
    ),
  );
  section('Token cost of the tools each profile shows at first', () =>
    printTable(
      ['PROFILE', figures('TOOLS'), ...TOKEN_FORMATS.map((format) => figures(format.toUpperCase()))],
      report.profiles.map(({ name, toolCount, tokens, ...profile }) => [
        profile.default ? `${name} (default)` : name,
        String(toolCount),
        ...TOKEN_FORMATS.map((format) => tokenText(tokens[format], counting)),
      ]),
    ),
  );
  printSentences('Guards that are off', report.guardsOff);
  printSentences('Name conflicts', report.conflicts);
  printSentences('Notes', report.notes);
  printSentences('Problems', report.problems);
  note(
    report.ok
      ? paint('green', 'Nothing is wrong.', process.stderr)
      : paint('yellow', 'Something is wrong, see above.', process.stderr),
  );
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
