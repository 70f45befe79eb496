import { type ReadTarget, readStopTarget, stopInWords } from '../../../core/ports/stored-stops.ts';
import { defined, didYouMean } from '../../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';
import type { Crib } from '../../../crib/crib.ts';
import { findServer } from '../../../crib/running-server.ts';
import type { StopOutcome } from '../../../stops/change-stops.ts';
import { toShownStop, toTime } from '../../shown.ts';
import type { ExitCode, Invocation } from '../command.ts';
import { type Flags, findConfig, usage } from '../flags.ts';
import { readNames } from '../kept-names.ts';
import { whoIsHere, withStore } from '../open-crib.ts';
import { note, print, printJson, toLine } from '../output.ts';
import { flexible, printTable } from '../table.ts';

type Target = Exclude<ReadTarget, { mistake: string }>;

/** `toolcrib stop TARGET`: stops calls in every process of the store. Without a target it lists the stops. */
export function stopCalls({ words, flags }: Invocation): Promise<ExitCode> {
  const [word] = words;
  if (word === undefined) return listStops(flags);
  const target = readTarget(word, 'stop');
  return withStore(flags, async (crib) => {
    const location = await requireShared(crib);
    if (flags.force !== true) requireListed(target, flags);
    const force = flags.force === true || target.kind !== 'profile'; // other names are checked above
    const options = { ...defined({ note: flags.note, cancel: flags.cancel }), force, door: 'cli' };
    const { stop, result } = applied(await crib.stops.stop(word, options, operator()));
    if (flags.json === true) printJson({ stop: toShownStop(stop), result, store: location });
    else if (result === 'stopped') print(toLine(`${word} stopped`));
    else print(toLine(`${word} is already stopped, by ${stop.by} since ${toTime(stop.at)}`));
    await noteReach(flags, location);
    return 0;
  });
}

/** `toolcrib resume TARGET`: ends a stop. */
export function resumeCalls({ words, flags }: Invocation): Promise<ExitCode> {
  const [word = ''] = words;
  readTarget(word, 'resume');
  return withStore(flags, async (crib) => {
    const location = await requireShared(crib);
    const options = { ...defined({ note: flags.note }), door: 'cli' };
    const { stop } = applied(await crib.stops.resume(word, options, operator()));
    if (flags.json === true) printJson({ resumed: toShownStop(stop), store: location });
    else print(toLine(`${word} resumed`));
    return 0;
  });
}

function listStops(flags: Flags): Promise<ExitCode> {
  const given = (['note', 'cancel', 'force'] as const).find((flag) => flags[flag] !== undefined);
  if (given !== undefined) throw usage(`--${given} needs a target, such as tool:NAME or all.`, 'stop');
  return withStore(flags, async (crib) => {
    const stops = await crib.stops.list();
    if (flags.json === true) printJson({ stops: stops.map(toShownStop) });
    else if (stops.length === 0) note('Nothing is stopped.');
    else
      printTable(
        ['TARGET', 'SINCE', 'BY', flexible('NOTE')],
        stops.map(({ target, at, by, note: said = '' }) => [target, toTime(at), by, said].map(toLine)),
      );
    return 0;
  });
}

/** Notes the stops on stderr, beside a list that does not show them. */
export async function noteStops(crib: Crib): Promise<void> {
  try {
    for (const stop of await crib.stops.list()) note(toLine(`Stopped by the operator: ${stopInWords(stop)}.`));
  } catch (cause) {
    note(toLine(`The emergency stops cannot be shown: ${messageOf(cause)}`));
  }
}

function readTarget(word: string, command: string): Target {
  const read = readStopTarget(word);
  if ('mistake' in read) throw usage(read.mistake, command);
  return read;
}

function operator() {
  return { id: whoIsHere(), operator: true };
}

function applied(outcome: StopOutcome): Extract<StopOutcome, { ok: true }> {
  if (outcome.ok) return outcome;
  throw new ToolcribError('failed', outcome.error.message);
}

/** The location of the store. A stop in memory would end with this command. */
async function requireShared(crib: Crib): Promise<string> {
  const {
    engine,
    location,
    reachable,
    problem = 'it cannot be reached',
  } = (await crib.store?.status()) ?? {
    engine: 'memory' as const,
    location: '',
    reachable: true,
  };
  if (!reachable) throw new ToolcribError('failed', `Nothing was changed: the store is not available. ${problem}`);
  if (engine !== 'memory') return location;
  const message =
    'Nothing was changed: the store of this configuration is in memory, and every process has its own. Use POST /api/stops of the server, or set another store.url.';
  throw new ToolcribError('failed', message);
}

/**
 * Refuses a name that was not listed when this configuration was last used: an operator who mistypes a name must not
 * believe that it is stopped. No source is started for the check, since that could take minutes.
 */
function requireListed({ kind, name }: Target, { config }: Flags): void {
  if (kind !== 'tool' && kind !== 'source') return; // any caller can be stopped, and the crib knows its profiles
  const { tools, sources } = readNames(config);
  const names = kind === 'tool' ? [...tools.keys()] : sources;
  if (names.includes(name)) return;
  if (tools.size + sources.length === 0) {
    note(toLine(`It could not be checked whether the ${kind} "${name}" exists; the stop is for this exact name.`));
    return;
  }
  const guess = didYouMean(name, names);
  const message = `Nothing was stopped: the ${kind} "${name}" was not listed when this configuration was last used.${guess} To stop it anyway, add --force.`;
  throw new ToolcribError('failed', message);
}

/** Says which processes the stop reaches. */
async function noteReach({ config, cancel }: Flags, location: string): Promise<void> {
  const url = await findServer(config ?? findConfig(process.cwd()) ?? process.cwd());
  const server = url === undefined ? '' : ` A server is running at ${url}.`;
  const calls = cancel === true ? 'refuses these calls and cancels those in flight' : 'refuses these calls';
  note(toLine(`Every process that uses the store ${location} ${calls} within a second.${server}`));
}
