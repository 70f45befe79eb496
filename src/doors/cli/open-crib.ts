import { userInfo } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { Approve, Caller } from '../../core/caller.ts';
import { didYouMean } from '../../core/read-options.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import type { ExitCode } from './commands.ts';
import { type Flags, findConfig } from './flags.ts';
import { keepNames } from './kept-names.ts';
import { note, toLine, withProgress } from './output.ts';

/** Whoever has this command line has the configuration, too. */
const OPERATOR = 'operator';

/** Whether a command stays, and may begin before all servers have told their tools. */
interface Staying {
  readonly watch?: boolean;
  readonly background?: boolean;
  /** False for a command that works with the store alone: no source is started, and nothing is said about sources. */
  readonly needsSources?: boolean;
}

/** The crib of the configuration that `--config` names, or of the one in the working directory. */
async function openCrib(
  { config }: Pick<Flags, 'config'>,
  { watch = false, background = watch, needsSources = true }: Staying = {},
): Promise<Crib> {
  const { createCrib, createStoreCrib } = await import('../../crib/create-crib.ts');
  const create = needsSources ? createCrib : createStoreCrib;
  // Who stays learns from servers meanwhile; who prints once must know before.
  return create({ configFile: config ?? process.cwd(), watch, background });
}

/** Opens the crib, works with it and closes it, whatever happens. Its names are kept for completion, which opens nothing. */
export async function withCrib(
  flags: Flags,
  work: (crib: Crib) => Promise<ExitCode>,
  options: Staying = {},
): Promise<ExitCode> {
  if (flags.config === undefined && findConfig(process.cwd()) === undefined) {
    note('There is no toolcrib.yaml here; "toolcrib init" writes one.');
  }
  const { needsSources = true } = options;
  const crib = await withProgress(needsSources ? 'Starting sources' : 'Opening the store', openCrib(flags, options));
  try {
    await setImmediate(); // warnings come on the next tick, and before the result
    if (options.watch === true)
      keepNames(flags.config, crib); // it may not end in peace
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

/** Sources that have no list yet, and how far each is. */
export function describeStarting(crib: Crib): string {
  return crib
    .sources()
    .filter(({ state }) => state === 'starting')
    .map(({ name, reason }) => (reason === undefined ? name : `${name} (${reason})`))
    .join(', ');
}

function noteStarting(crib: Crib): void {
  const starting = describeStarting(crib);
  if (starting !== '') note(toLine(`Still being started, so that its tools are not there yet: ${starting}.`));
}

/** What this command does is done; a server that is being installed would be left half installed, and never start again. */
async function untilInstalled(crib: Crib): Promise<void> {
  const installed = crib.server.installed();
  const isOver = await Promise.race([installed.then(() => true), setImmediate(false)]);
  if (isOver) return;
  note(toLine(`Waiting until it is installed; Ctrl-C ends it: ${describeStarting(crib)}.`));
  await withProgress(() => `Installing ${describeStarting(crib)}`, installed);
}

/** Waits for a tool that a source which is being started may bring. */
export async function untilListed(crib: Crib, name: string, signal: AbortSignal): Promise<void> {
  const isThere = () => crib.get(name) !== undefined;
  if (isThere() || !crib.server.isStarting()) return;
  note(toLine(`There is no tool "${name}" yet. Waiting for ${describeStarting(crib)}; Ctrl-C ends it.`));
  const over = Promise.withResolvers<void>();
  const look = () => isThere() && over.resolve();
  const stop = crib.onChange(look);
  signal.addEventListener('abort', () => over.resolve());
  crib.server.allListed().then(over.resolve, over.resolve);
  look();
  await withProgress(() => `Waiting for ${describeStarting(crib)}`, over.promise).finally(stop);
}

/** The same for a command that works with the store alone. */
export function withStore(flags: Flags, work: (crib: Crib) => Promise<ExitCode>): Promise<ExitCode> {
  return withCrib(flags, work, { needsSources: false });
}

/** The chest of `--profile`, or the operator's over all tools. */
export function openChest(crib: Crib, { profile }: Flags, approve?: Approve): Promise<Chest> {
  const caller: Caller = { id: OPERATOR, ...(approve !== undefined && { approve }) };
  return profile === undefined ? crib.openAll(caller) : crib.open(profile, caller);
}

/** A chest of every profile, the default one first marked; without profiles the default is all tools. */
export async function openProfiles(
  crib: Crib,
): Promise<readonly { readonly chest: Chest; readonly isDefault: boolean }[]> {
  const caller = { id: OPERATOR };
  const usual = await crib.open(undefined, caller);
  const names = crib.profiles();
  if (!names.includes(usual.profile)) return [{ chest: usual, isDefault: true }, ...(await openAll(names))];
  return openAll(names);

  function openAll(profiles: readonly string[]) {
    return Promise.all(
      profiles.map(async (name) => ({ chest: await crib.open(name, caller), isDefault: name === usual.profile })),
    );
  }
}

/** The error for a tool that the chest does not have, with the nearest it does have. */
export function unknownTool(name: string, chest: Chest): ToolcribError {
  return new ToolcribError('failed', `There is no tool "${name}".${suggestTool(name, chest)}`);
}

/** ` Did you mean "x"?`, or nothing; only of what the chest shows. */
export function suggestTool(name: string, chest: Chest): string {
  return didYouMean(
    name,
    chest.listActive().map((spec) => spec.name),
  );
}

/** Whoever has this command line, for records of who did what. */
export function whoIsHere(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return 'cli'; // a user without a name, as in some containers
  }
}
