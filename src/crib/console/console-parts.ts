import type { CallOptions } from '../../call/call-input.ts';
import { DECIDES_LATER, type DryRun, type LayerVerdict } from '../../call/dry-run.ts';
import type { CribContext } from '../../core/ports/crib-context.ts';
import { EXTENSION_ORDER } from '../built-ins.ts';
import { type Chest, ENTER, type EnterableChest } from '../chest.ts';
import type { ConfigurationView } from '../config/configuration-view.ts';
import type { Configuration } from '../configured/configuration.ts';
import type { Engine } from '../engine.ts';
import { createDefinitionLog, type DefinitionLog } from './definition-log.ts';
import { createRunningCalls, type RunningCalls } from './running-calls.ts';
import { createSourceLog, type SourceLog } from './source-log.ts';

/** The part of a crib that shows operators what it does. */
export interface ConsoleParts {
  /** Judges a call in a chest without making it: nothing runs, is charged, is asked or is recorded. */
  dryRun(chest: Chest, name: string, input: unknown, options?: CallOptions): Promise<readonly LayerVerdict[]>;
  /** The definitions of tools as the crib saw them. */
  readonly definitions: DefinitionLog;
  /** The changes of sources as the crib saw them. */
  readonly sourceLog: SourceLog;
  /** The calls in flight of this process. */
  readonly running: RunningCalls;
  /** Tools that are absent because a condition (`when`) does not hold, with the reason. */
  leftOut(): readonly { readonly name: string; readonly reason: string }[];
  /** The configuration in force as written, without secrets. */
  configuration(): ConfigurationView;
}

const NO_CONFIGURATION: ConfigurationView = { files: [], values: [] };

/** Creates the part for operators. */
export function createConsoleParts(
  engine: Engine,
  context: CribContext,
  configuration: Pick<Configuration, 'shown'> | undefined,
): ConsoleParts {
  const { redact } = context;
  const { host, generation } = engine;
  return {
    dryRun: (chest, ...call) => judgeInChest(chest, call, redact),
    definitions: createDefinitionLog(engine, context),
    sourceLog: createSourceLog(engine),
    running: createRunningCalls(host.lifetime, host.now),
    leftOut: () => Array.from(generation().leftOut.tools, ([name, reason]) => ({ name, reason: redact(reason) })),
    configuration: () => configuration?.shown() ?? NO_CONFIGURATION,
  };
}

/** Asks the gates about a call. Built-in gates that refuse no call by themselves are left out. */
async function judgeInChest(
  chest: Chest,
  [name, input, options]: readonly [name: string, input: unknown, options?: CallOptions | undefined],
  redact: (text: string) => string,
): Promise<readonly LayerVerdict[]> {
  const dryRun: DryRun = { layers: [] };
  await (chest as EnterableChest)[ENTER]({ name, input, options, dryRun }); // every chest of a crib can be entered
  const isSilent = ({ layer, verdict, says }: LayerVerdict) =>
    verdict === 'unknown' && says === DECIDES_LATER && EXTENSION_ORDER.some((row) => row.name === layer);
  return dryRun.layers.flatMap((layer) => {
    const { says, detail } = layer;
    return isSilent(layer)
      ? []
      : [{ ...layer, says: redact(says), ...(detail !== undefined && { detail: redact(detail) }) }];
  });
}
