import { createServer } from 'node:net';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import type { ConfiguredValue } from '../../../crib/config/configuration-view.ts';
import {
  type DoctorCheck,
  type DoctorReport,
  examine,
  examineMachine,
  toReport,
} from '../../../crib/console/doctor.ts';
import type { Crib } from '../../../crib/crib.ts';
import { findServer } from '../../../crib/running-server.ts';
import { USUAL_ADDRESS } from '../../../system/fetch/own-addresses.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, findConfig } from '../flags.ts';
import { describeStarting, withCrib, withStore } from '../open-crib.ts';
import { counted, note, paint, print, printJson, toLine, withProgress } from '../output.ts';
import { printTable } from '../table.ts';

/** `toolcrib doctor`: exit code 0 without problems, 1 with problems, 2 if the configuration cannot be used. */
export async function doctor({ flags }: Invocation): Promise<ExitCode> {
  process.removeAllListeners('warning'); // the report has the problems
  try {
    return await withCrib(flags, async (crib) => {
      await withProgress(() => `Asking sources ${describeStarting(crib)}`, crib.server.allListed());
      const [{ checks }, port] = await Promise.all([examine(crib), checkPort(crib, flags)]);
      const report = toReport([...checks, port]);
      printReport(report, flags);
      return report.ok ? 0 : 1;
    });
  } catch (cause) {
    if (!(cause instanceof ToolcribError)) throw cause;
    const says = cause.message;
    const fix = 'Correct it, then run "toolcrib check".';
    printReport(toReport([{ name: 'configuration', state: 'problem', says, fix }, ...(await examineMachine())]), flags);
    return 2;
  }
}

/** `toolcrib config`: prints every value of the configuration with its place. */
export function printConfiguration({ flags }: Invocation): Promise<ExitCode> {
  return withStore(flags, async (crib) => {
    const configuration = crib.server.configuration();
    const isEmpty = configuration.values.every(({ path }) => path === '');
    if (flags.json === true) printJson(configuration);
    else if (isEmpty) note('Nothing is configured: every default applies.');
    else printTable(['PATH', 'FROM', { heading: 'VALUE', isWhole: true }], configuration.values.map(toRow));
    return 0;
  });
}

function toRow({ path, value, from }: ConfiguredValue): readonly string[] {
  return [path, from, toLine(typeof value === 'string' ? value : JSON.stringify(value))];
}

/** Whether the server of this configuration runs, or could listen. */
async function checkPort(crib: Crib, { config }: Pick<Flags, 'config'>): Promise<DoctorCheck> {
  const name = 'port';
  const url = await findServer(config ?? findConfig(process.cwd()) ?? process.cwd());
  if (url !== undefined) return { name, state: 'ok', says: `A server of this configuration listens on ${url}.` };
  const { host, port } = { ...USUAL_ADDRESS, ...crib.server.serverSettings() };
  const cause = await tryToListen(host, port);
  if (cause === undefined)
    return {
      name,
      state: 'ok',
      says: port === 0 ? `The server takes any free port of ${host}.` : `Port ${port} of ${host} is free.`,
    };
  if (cause.code === 'EADDRINUSE')
    return {
      name,
      state: 'warning',
      says: `Another program listens on port ${port} of ${host}.`,
      fix: 'Set server.port, or start with --port.',
    };
  const says = `A server cannot listen on port ${port} of ${host}: ${messageOf(cause)}.`;
  return { name, state: 'problem', says, fix: 'Correct server.host and server.port.' };
}

/** Resolves with the reason why no server can listen there; undefined if it can. */
function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

const COLOURS = { ok: 'green', warning: 'yellow', problem: 'red' } as const;

function printReport(report: DoctorReport, { json }: Pick<Flags, 'json'>): void {
  if (json === true) {
    printJson(report);
    return;
  }
  for (const { name, state, says, fix } of report.checks) {
    print(`${paint(COLOURS[state], state.padEnd(7))}  ${name.padEnd(13)}  ${toLine(says)}`);
    if (fix !== undefined) print(`${' '.repeat(24)}${toLine(fix)}`);
  }
  const problems = report.checks.filter(({ state }) => state === 'problem').length;
  note(
    report.ok
      ? paint('green', 'No problems found.', process.stderr)
      : paint('yellow', `${counted(problems, 'problem')} found.`, process.stderr),
  );
}
