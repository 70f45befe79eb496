import { setImmediate } from 'node:timers/promises';
import type { Approve, Caller } from '../../core/caller.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import type { Flags } from './arguments/flags.ts';
import type { ExitCode } from './commands.ts';
import { findConfig } from './find-config.ts';
import { keepNames } from './kept-names.ts';
import { note } from './output/output.ts';
import { withProgress } from './output/progress.ts';

/** Whoever has this command line has the configuration, too. */
export const OPERATOR = 'operator';

/** Whether a command stays, and may begin before all servers have told their tools. */
interface Staying {
  readonly watch?: boolean;
  readonly background?: boolean;
}

/** The crib of the configuration that `--config` names, or of the one in the working directory. */
async function openCrib(
  { config }: Pick<Flags, 'config'>,
  { watch = false, background = watch }: Staying = {},
): Promise<Crib> {
  const { createCrib } = await import('../../crib/create-crib.ts');
  // Who stays learns from servers meanwhile; who prints once must know before.
  return createCrib({ configFile: config ?? process.cwd(), watch, background });
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
  const crib = await withProgress('Starting sources', openCrib(flags, options));
  try {
    await setImmediate(); // warnings come on the next tick, and before the result
    if (options.watch === true) keepNames(flags.config, crib); // it may not end in peace
    return await work(crib);
  } finally {
    keepNames(flags.config, crib);
    await crib.close();
  }
}

/** The chest of `--profile`, or the operator's over all tools. */
export function openChest(crib: Crib, { profile }: Flags, approve?: Approve): Promise<Chest> {
  const caller: Caller = { id: OPERATOR, ...(approve !== undefined && { approve }) };
  return profile === undefined ? crib.openAll(caller) : crib.open(profile, caller);
}
