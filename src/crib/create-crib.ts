import { createApprovals } from '../approvals/approvals.ts';
import { parkedCallOf } from '../approvals/parked-results.ts';
import { createAudit } from '../audit/crib-audit.ts';
import { createCalls } from '../audit/recorded-calls.ts';
import { type Executor, REPLACES } from '../core/executor.ts';
import { type CribContext, pathOf } from '../core/ports/crib-context.ts';
import { defined } from '../core/read-options.ts';
import { createKeys } from '../identity/api-keys.ts';
import { createIdentify, type IdentifyOptions, lazySignIn } from '../identity/identify.ts';
import { createOperatorToken, type OperatorSetting, readOperatorSetting } from '../identity/operator-token.ts';
import { laterClock, systemClock } from '../system/clock.ts';
import { requireNode } from '../system/require-node.ts';
import { createBackground } from './background/create-background.ts';
import { createScheduling } from './background/scheduling.ts';
import { metricsText } from './built-ins.ts';
import { joinSections, matchSpecs, type Section, sectionsOf } from './catalog/list-view.ts';
import type { DeprecatedCribNames } from './chest.ts';
import type { Configuration, Observe } from './configured/configuration.ts';
import type { Crib } from './crib.ts';
import {
  type CribDefinition,
  type FixedDefinition,
  readDefinition,
  readFixedDefinition,
  withoutSources,
} from './crib-definition.ts';
import { type CribOptions, type ReadCribOptions, readCribOptions } from './crib-options.ts';
import { type CribServer, createServer } from './crib-server.ts';
import { createCribStops } from './crib-stops.ts';
import type { Engine } from './engine.ts';
import { createOpening } from './open.ts';
import { createReadiness } from './readiness.ts';
import { createReload } from './reload.ts';
import { startEngine } from './start-engine.ts';

/** Members of `crib.server` that are also on the crib itself, where they are deprecated. */
const FORMER_NAMES: readonly (keyof DeprecatedCribNames)[] = [
  'activeSets',
  'checkStored',
  'endCalls',
  'idle',
  'isStarting',
  'keptResult',
  'listed',
  'noteListening',
  'onListings',
  'openAtDoor',
  'operatorToken',
  'operatorTokenFile',
  'parked',
  'reloadSource',
  'reloadStored',
  'requestStates',
  'runParked',
  'serverSettings',
  'stateWarnings',
  'warn',
];

/** Creates a crib. Throws for mistakes in the options. A source that fails does not affect the others. */
export async function createCrib(given: CribOptions = {}): Promise<Crib> {
  return createObservedCrib(given);
}

/** Creates a crib for work with its store and keys only: it starts no source, has no tools and does not warn about them. */
export async function createStoreCrib(given: CribOptions): Promise<Crib> {
  return createObservedCrib(given, undefined, withoutSources);
}

/** A crib with a single source of a configuration. */
export interface OneSource {
  readonly crib: Crib;
  /** The names of all sources of the configuration. */
  readonly names: readonly string[];
}

/** Opens a crib in which only the source of this name starts, in the background; without a name, no source starts. */
export async function openOneSource(configFile: string, name?: string): Promise<OneSource> {
  let names: readonly string[] = [];
  const narrow = (definition: CribDefinition): CribDefinition => {
    names = definition.sources.map((source) => source.name);
    return { ...withoutSources(definition), sources: definition.sources.filter((source) => source.name === name) };
  };
  const crib = await createObservedCrib({ configFile, watch: false, background: true }, undefined, narrow);
  return { crib, names };
}

/** Creates a crib whose configuration passes through `observe` first, so that a test records which keys are read, and whose definition passes through `narrow`, so that `logs` starts a single source. */
export async function createObservedCrib(
  given: CribOptions,
  observe?: Observe,
  narrow = (definition: CribDefinition) => definition,
): Promise<Crib> {
  requireNode(process.versions.node);
  const options = readCribOptions(given);
  const operatorSetting = readOperatorSetting(process.env);
  const configuration = await configurationOf(options, observe);
  const { fixed, engine } = await startConfigured(options, configuration, narrow);
  const { generation, profiles, trail } = engine;
  const { context } = fixed;
  const { store } = context;
  const { openAtDoor, ...opening } = createOpening(engine, store);
  const { identify, keys, ...operator } = createIdentity(engine, context, operatorSetting);
  const { row: callRow, audit, calls } = createRecords(engine, context);
  const scheduling = createScheduling(engine, context, opening);
  const { tasks, runTasks, ...background } = createBackground(engine, context, { ...opening, ...scheduling });
  const made = { ...opening, openAtDoor, ...operator, callRow, runTasks, configuration };
  const server = createServer(engine, context, made);
  const { reload, follow } = createReload(engine, configuration);
  configuration?.watch(follow, engine.warn);

  return {
    get catalog() {
      return generation().catalog;
    },
    bundles: engine.bundles,
    extensions: engine.extensions,
    get: (name) => generation().catalog.get(name),
    match: (criteria) => matchSpecs(generation(), criteria),
    ...defined(engine.registration, ['register', 'unregister']),
    identify,
    keys,
    ...opening,
    server,
    ...defined(server, FORMER_NAMES),
    ...createCribStops(engine, context),
    sections: () => allSections(engine),
    instructions: () => joinSections(allSections(engine)),
    reload,
    onChange: engine.onChange,
    profiles: () => [...profiles().byName.keys()],
    ...defined(engine, ['sources', 'sourceOutput', 'warnings', 'review']),
    metrics: () => metricsText(engine.extensions.list(), trail?.backlog()),
    approvals: createApprovals(context),
    readiness: createReadiness({ store, trail, sources: engine.sources }),
    store,
    audit,
    calls,
    tasks,
    schedules: scheduling.schedules,
    async close() {
      background.stop();
      await engine.close();
      await background.close();
      await configuration?.close();
    },
  };
}

/** The members of a crib about past calls. */
function createRecords({ trail, keySettings, warn, extensions }: Engine, context: CribContext) {
  const { store, redact } = context;
  const recorded = { context, trail, keySettings, warn, extensions: extensions.list };
  const parkedCall = async (id: string) => store && parkedCallOf(id, { approvals: store.approvals, redact });
  const { row, ...calls } = createCalls({ ...recorded, parkedCall });
  return { row, audit: createAudit(recorded), calls };
}

async function startConfigured(
  options: ReadCribOptions,
  configuration: Configuration | undefined,
  narrow: (definition: CribDefinition) => CribDefinition,
): Promise<{ readonly fixed: FixedDefinition; readonly engine: Engine }> {
  const definition = configuration === undefined ? readDefinition(options) : await configuration.read();
  const fixed = readFixedDefinition(options, configuration ?? { executors: await kindsInCode(options) });
  try {
    return { fixed, engine: await startEngine(fixed, narrow(definition)) };
  } catch (cause) {
    await configuration?.close(); // a source may have opened it
    throw cause;
  }
}

/** Loads the code for configurations only if there is one. */
async function configurationOf(options: ReadCribOptions, observe?: Observe): Promise<Configuration | undefined> {
  const isConfigured = [options.config, options.configFile, options.store, options.secrets].some(
    (part) => part !== undefined,
  );
  if (!isConfigured) return undefined;
  const { openConfiguration } = await import('./configured/configuration.ts');
  return openConfiguration(options, observe);
}

/** The built-in kinds of a crib without a configuration, except those whose executors are passed in code. */
async function kindsInCode({ executors = [], agents = {} }: CribOptions): Promise<readonly Executor[]> {
  const { openUnconfigured } = await import('./configured/configured-executors.ts');
  const kinds = await openUnconfigured({ folder: process.cwd(), env: process.env, agents });
  return kinds
    .map(({ executor }) => executor)
    .filter(({ kind }) => !executors.some((own) => own?.kind === kind && own[REPLACES] !== true));
}

function allSections({ generation, host }: Pick<Engine, 'generation' | 'host'>): readonly Section[] {
  const { bundles, catalog } = generation();
  const active = new Set(bundles.all.map((bundle) => bundle.name));
  return sectionsOf({ active, specs: catalog.specs, bundles, setups: host.setups });
}

/** The members of a crib for authentication. `setting` is the operator token setting of the environment. */
function createIdentity(
  { access, profiles, warn }: Engine,
  { store, privateFolder, hide, revealSecret }: CribContext,
  setting: OperatorSetting | undefined,
): Pick<Crib, 'identify' | 'keys'> &
  Pick<CribServer, 'operatorToken' | 'operatorTokenFile' | 'stateWarnings' | 'signIn'> {
  const operatorToken = createOperatorToken(setting, {
    folder: () => pathOf(privateFolder(), warn),
    hide: (value) => hide('operator token', value),
  });
  const clocks = { steady: systemClock, calendar: laterClock };
  const options: IdentifyOptions = { access, profiles, warn, operatorToken, keys: store?.keys, ...clocks };
  return {
    identify: createIdentify(options),
    keys: createKeys(store?.keys, options),
    signIn: lazySignIn({ access, revealSecret, ...clocks }),
    operatorToken: operatorToken.get,
    operatorTokenFile: operatorToken.file,
    stateWarnings: () => privateFolder().warnings,
  };
}

let shared: Promise<Crib> | undefined;

/** The shared crib of a script, with the configuration of the working directory, `$TOOLCRIB_PLUGINS_DIR` and installed packages. Programs and tests should use `createCrib`. */
export function defaultCrib(): Promise<Crib> {
  shared ??= discoverCrib().catch((cause) => {
    shared = undefined; // the next call tries again
    throw cause;
  });
  return shared;
}

/** The crib of the configuration in the working directory. Without one it has only plugins and installed packages, and writes no files. */
async function discoverCrib(): Promise<Crib> {
  const { findConfig } = await import('./config/load-config.ts');
  const cwd = process.cwd();
  const isThere = (await findConfig({ cwd })) !== undefined;
  return createCrib(isThere ? { configFile: cwd } : { config: {}, store: 'memory' });
}

/** Closes the default crib; the next `defaultCrib()` creates a new one. */
export async function resetDefaultCrib(): Promise<void> {
  const closing = shared;
  shared = undefined;
  await (await closing)?.close();
}
