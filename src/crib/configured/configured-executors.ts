import type { Kind, KindPorts, OpenKind } from '../../config/records.ts';
import type { CustomExecutorConfig } from '../../config/types/guards.ts';
import { type Executor, type ExecutorContext, REPLACES } from '../../core/executor.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { KINDS } from '../../kinds/index.ts';
import { isInside } from '../../kinds/shell/trace-path.ts';
import { systemClock } from '../../system/clock.ts';
import { isServedAt } from '../../system/fetch/own-addresses.ts';
import { importExport } from '../../system/modules/import-module.ts';
import { toSecretText } from '../../system/secrets/secret-template.ts';
import { createSecrets } from '../../system/secrets/secrets.ts';
import type { Config } from '../config/loaded-config.ts';
import { aroundModule, withPythonFolders } from '../loaded-code.ts';
import { hiddenPaths, protectedPaths } from './protected-paths.ts';

/** Dependencies of kinds and executors. */
export interface ExecutorPorts extends Omit<KindPorts, 'options' | 'entryOf' | 'isOwn' | 'noteCode' | 'agents'> {
  /** The current configuration; it may change between calls. */
  config(): Config;
}

/** The kinds of a crib. Each loads its implementation lazily. */
export type OpenKinds = readonly (Pick<Kind, 'source'> & OpenKind)[];

/** Opens the built-in kinds. */
export async function openKinds(ports: ExecutorPorts & WithAgents): Promise<OpenKinds> {
  const noting = withCode(ports);
  const { config } = ports;
  const opened = KINDS.map(async (kind: Kind<string, object, object>) => {
    const options = () => config().executors?.[kind.kind] ?? NO_OPTIONS;
    const open = await kind.open?.({ ...noting, options });
    return open === undefined ? [] : [{ ...open, ...(kind.source && { source: kind.source }) }];
  });
  return (await Promise.all(opened)).flat();
}

/** Opens the built-in kinds for a crib without a configuration: with default options, and paths relative to `folder`. */
export function openUnconfigured({ folder, env, agents }: Unconfigured): Promise<OpenKinds> {
  const secrets = createSecrets(() => ({}), { env, folder });
  const config = () => NO_CONFIG;
  const hidden = () => {
    const readOnly = protectedPaths({ folder, files: [] }, [], env);
    return hiddenPaths({ folder, env, storeUrls: [], secrets: {}, readOnly });
  };
  return openKinds({ folder, env, clock: systemClock, secrets, config, hidden, agents });
}

type Unconfigured = Pick<ExecutorPorts, 'folder' | 'env'> & WithAgents;
type WithAgents = Pick<KindPorts, 'agents'>;

const NO_CONFIG: Config = Object.freeze({ sources: {} });
const NO_OPTIONS = Object.freeze({});

const MODULE = /\.[cm]?[jt]sx?$/;

/** The ports of every kind, without its options. Files that tools run as code are protected from then on: a command that could write them would decide what runs under another tool's approval. */
function withCode({ config, ...ports }: ExecutorPorts & WithAgents): Omit<KindPorts<object>, 'options'> {
  const code = new Set<string>();
  return {
    ...ports,
    entryOf(source) {
      const { sources } = config();
      return Object.hasOwn(sources, source) ? sources[source] : undefined;
    },
    isOwn: (url, address) => isServedAt(config().server ?? {}, url, address),
    noteCode(_spec, files) {
      const paths = files.filter((file) => !isInside(ports.folder, file)); // a folder above all work folders is not a script
      for (const path of paths)
        for (const one of MODULE.test(path) ? [path, ...aroundModule(path)] : [path]) code.add(one);
    },
    hidden() {
      const hidden = ports.hidden();
      return {
        ...hidden,
        readOnly: withPythonFolders([...hidden.readOnly, ...code], ports.folder),
      };
    },
  };
}

/** Loads the custom executors of the configuration. */
export async function ownExecutors(ports: ExecutorPorts): Promise<readonly Executor[]> {
  const own = Object.entries(ownOf(ports.config()));
  return Promise.all(own.map(([kind, entry]) => importExecutor(kind, entry, contextOf(ports))));
}

/** Kinds of custom executors whose entries changed since the start. Executors are not replaced while the crib runs. */
export function changedExecutors(before: Config, now: Config): readonly string[] {
  const [then, today] = [ownOf(before), ownOf(now)];
  const kinds = new Set([...Object.keys(then), ...Object.keys(today)]);
  return [...kinds].filter((kind) => JSON.stringify(then[kind]) !== JSON.stringify(today[kind]));
}

function ownOf({ executors = {} }: Config): Readonly<Record<string, CustomExecutorConfig>> {
  const own = Object.entries(executors).filter(
    ([name]) => !KINDS.some(({ kind, options }) => kind === name && options),
  );
  return Object.fromEntries(own) as Readonly<Record<string, CustomExecutorConfig>>; // checked by the schema
}

function contextOf({ folder, secrets }: ExecutorPorts): ExecutorContext {
  return Object.freeze({
    folder,
    fillSecrets: (text: string, host: string) => secrets.fill(toSecretText(text), { host }),
  });
}

/** Imports a custom executor: the module exports one, or a function that creates one from the options. */
async function importExecutor(kind: string, entry: CustomExecutorConfig, context: ExecutorContext): Promise<Executor> {
  const { module, options = {} } = entry;
  try {
    const exported = await importExport(module, context.folder);
    const made: unknown = typeof exported === 'function' ? await exported(options, context) : exported;
    if (typeof made === 'object' && made !== null && REPLACES in made)
      throw new ToolcribError(
        'invalid_config',
        `${module} exports a fake executor; a fake can only be passed to createCrib in code.`,
      );
    if (typeof made === 'object' && made !== null && 'kind' in made && made.kind === kind) return made as Executor; // checked with the others
  } catch (cause) {
    throw new ToolcribError('invalid_config', `The executor "${kind}": ${messageOf(cause)}`, { cause });
  }
  throw new ToolcribError(
    'invalid_config',
    `The executor "${kind}": ${module} exports neither an executor of kind "${kind}" nor a function that creates one.`,
  );
}
