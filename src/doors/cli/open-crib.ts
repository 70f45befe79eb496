import { userInfo } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { Approve, Caller } from '../../core/caller.ts';
import { didYouMean } from '../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import { hasTaskRunner } from '../../crib/running-server.ts';
import type { ExitCode } from './command.ts';
import { type Flags, findConfig } from './flags.ts';
import { keepNames } from './kept-names.ts';
import { note, toLine, withProgress } from './output.ts';

/** The user of this command line can read the configuration, and so acts as the operator. */
const OPERATOR = 'operator';

/** Options for opening the crib of a command. */
interface Staying {
  /** True for a command that keeps running: changes of the configuration are applied. */
  readonly watch?: boolean;
  /** True if the command can start before all servers have listed their tools. */
  readonly background?: boolean;
  /** False for a command that uses only the store: no source is started, and no note about sources is printed. */
  readonly needsSources?: boolean;
  /** True if every profile can run scripts. */
  readonly runsScripts?: boolean;
  /** The sources with `runOn: worker` that the command starts; default none. */
  readonly worker?: true | readonly string[];
}

/** The crib of the configuration that `--config` names, or of the one in the working directory. */
async function openCrib(
  { config }: Pick<Flags, 'config'>,
  { watch = false, background = watch, needsSources = true, runsScripts = false, worker }: Staying = {},
): Promise<Crib> {
  const { createCrib, createObservedCrib, createStoreCrib } = await import('../../crib/create-crib.ts');
  // A command that keeps running gets the lists of servers later; a command that prints once needs them first.
  const options = { configFile: config ?? process.cwd(), watch, background, ...(worker !== undefined && { worker }) };
  if (!runsScripts) return needsSources ? createCrib(options) : createStoreCrib(options);
  const { withScripts } = await import('../../crib/own-tools/own-tools.ts');
  return createObservedCrib(options, undefined, withScripts);
}

/** Opens the crib, runs the work, and always closes the crib. Stores its names for completion, which opens no crib. */
export async function withCrib(
  flags: Flags,
  work: (crib: Crib) => Promise<ExitCode>,
  options: Staying = {},
): Promise<ExitCode> {
  if (flags.config === undefined && findConfig(process.cwd()) === undefined) {
    note('No toolcrib.yaml found in this folder. "toolcrib init" writes one.');
  }
  const { needsSources = true } = options;
  const crib = await withProgress(needsSources ? 'Starting sources' : 'Opening the store', openCrib(flags, options));
  try {
    await setImmediate(); // warnings come on the next tick, and before the result
    if (options.watch === true)
      keepNames(flags.config, crib); // it may be killed
    else noteStarting(crib);
    const code = await work(crib);
    if (options.watch !== true && code !== INTERRUPTED) await untilInstalled(crib);
    return code;
  } finally {
    if (needsSources) keepNames(flags.config, crib);
    await crib.close();
  }
}

const INTERRUPTED = 130;

/** The sources that have not listed their tools yet, with their progress. */
export function describeStarting(crib: Crib): string {
  return crib
    .sources()
    .filter(({ state }) => state === 'starting')
    .map(({ name, reason }) => (reason === undefined ? name : `${name} (${reason})`))
    .join(', ');
}

function noteStarting(crib: Crib): void {
  const starting = describeStarting(crib);
  if (starting !== '') note(toLine(`Still starting, tools not available yet: ${starting}.`));
}

/** Waits for running installations: an interrupted one would leave a server that can never start. */
async function untilInstalled(crib: Crib): Promise<void> {
  const installed = crib.server.installed();
  const isOver = await Promise.race([installed.then(() => true), setImmediate(false)]);
  if (isOver) return;
  note(toLine(`Waiting for an installation to finish (Ctrl-C to stop): ${describeStarting(crib)}.`));
  await withProgress(() => `Installing ${describeStarting(crib)}`, installed);
}

/** Waits for a tool while sources are still starting. */
export async function untilListed(crib: Crib, name: string, signal: AbortSignal): Promise<void> {
  const isThere = () => crib.get(name) !== undefined;
  if (isThere() || !crib.server.isStarting()) return;
  note(toLine(`The tool "${name}" is not available yet. Waiting for ${describeStarting(crib)} (Ctrl-C to stop).`));
  const over = Promise.withResolvers<void>();
  const look = () => isThere() && over.resolve();
  const stop = crib.onChange(look);
  signal.addEventListener('abort', () => over.resolve());
  crib.server.allListed().then(over.resolve, over.resolve);
  look();
  await withProgress(() => `Waiting for ${describeStarting(crib)}`, over.promise).finally(stop);
}

/** Like `withCrib`, for a command that uses only the store. */
export function withStore(flags: Flags, work: (crib: Crib) => Promise<ExitCode>): Promise<ExitCode> {
  return withCrib(flags, work, { needsSources: false });
}

/** The chest of `--profile`, or the operator's chest with all tools. */
export function openChest(crib: Crib, { profile }: Flags, approve?: Approve): Promise<Chest> {
  const caller: Caller = { id: OPERATOR, ...(approve !== undefined && { approve }) };
  return profile === undefined ? crib.openAll(caller) : crib.open(profile, caller);
}

/** The error for an unknown tool, with the most similar name of the chest. */
export function unknownTool(name: string, chest: Chest): ToolcribError {
  return new ToolcribError('failed', `The tool "${name}" was not found.${suggestTool(name, chest)}`);
}

/** ` Did you mean "x"?`, or an empty text. Suggests only tools that the chest shows. */
export function suggestTool(name: string, chest: Chest): string {
  return didYouMean(
    name,
    chest.listActive().map((spec) => spec.name),
  );
}

/** Tells how to start a process that runs background calls, if there is none on this machine. */
export function noteMissingRunner({ config }: Flags): void {
  if (hasTaskRunner(config ?? findConfig(process.cwd()) ?? process.cwd())) return;
  const place = config === undefined ? '' : ` --config ${quoteWord(config)}`;
  note(
    toLine(
      `No server or worker with this configuration runs tasks on this machine. To run them: toolcrib worker${place}`,
    ),
  );
}

/** Keeps a process alive after an unhandled error of a tool: other callers still use it. */
export function surviveStrays(crib: Crib, what: string): void {
  const tell = (cause: unknown) => crib.server.warn(`Unhandled error, the ${what} keeps running: ${messageOf(cause)}`);
  process.on('unhandledRejection', tell);
  process.on('uncaughtException', tell);
}

/** A word as a shell reads it. */
export function quoteWord(word: string): string {
  return /^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The id of the user of this command line, for the audit log and other records. */
export function whoIsHere(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return 'cli'; // a user without a name, as in some containers
  }
}
