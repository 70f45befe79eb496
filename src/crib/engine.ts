import { type ApprovalPoller, createPoller } from '../approvals/poller.ts';
import { type AuditSource, createTrail } from '../audit/crib-audit.ts';
import { Cancellation, createInFlight } from '../call/cancellation.ts';
import { precheck } from '../call/precheck.ts';
import type { Generation, ProfileSet } from '../core/catalog.ts';
import type { ExecutorReview } from '../core/executor.ts';
import type { NewTask, StoredTask } from '../core/ports/stored-tasks.ts';
import type { Source } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolResult } from '../core/tool-result.ts';
import { createRecheck } from '../identity/identify.ts';
import { createSchemas } from '../schemas/create-schemas.ts';
import { code } from '../sources/code.ts';
import type { LiveStops } from '../stops/live-stops.ts';
import { laterClock, systemClock } from '../system/clock.ts';
import { createListeners, type Listeners } from '../system/listeners.ts';
import type { TaskSettings } from '../tasks/task-settings.ts';
import { handOver } from './background/hand-over.ts';
import { createKeepTaskWith, type KeepTaskWith } from './background/keep-task-with.ts';
import { createFindLost } from './background/lost-claims.ts';
import { type FollowedTask, waitingScripts } from './background/waiting-scripts.ts';
import { createBinding, createStopsInForce, fromRooms } from './bind-extensions.ts';
import { builtInExtensions, createKeySettings } from './built-ins.ts';
import { type BundleRegistry, createBundleRegistry } from './catalog/bundle-registry.ts';
import type { Generations } from './catalog/generations.ts';
import { Setups } from './catalog/setups.ts';
import { type CribDefinition, type FixedDefinition, homesOf } from './crib-definition.ts';
import { createExtensionSet, type ExtensionSet } from './extension-set.ts';
import type { ChestHost } from './open-chest.ts';
import { createServices } from './services.ts';
import { type AdmitOptions, admit, createAdmission } from './sources/accept-spec.ts';
import type { EntryMistake } from './sources/check-stored.ts';
import type { LiveSources, PreparedSources } from './sources/live-sources.ts';
import { createRegistration, type Registration } from './sources/registration.ts';
import type { TakeLines } from './sources/source-output.ts';
import type { SourceReport } from './sources/source-slot.ts';
import { createWarnings, type Warnings } from './warnings.ts';

/** The parts of an engine that exist before its sources start. */
export interface EngineCore {
  readonly fixed: FixedDefinition;
  /** The current definition; an edit replaces it. */
  definition: CribDefinition;
  /** Set once the sources have started. */
  sources: LiveSources | undefined;
  generations: Generations | undefined;
  readonly warnings: Warnings;
  readonly services: ReturnType<typeof createServices>;
  readonly admission: AdmitOptions;
  readonly inFlight: ReturnType<typeof createInFlight>;
  /** Aborts all calls when the engine closes. */
  readonly lifetime: Cancellation;
  readonly codeSource: Source;
  readonly registration: Registration;
  readonly setups: Setups;
  readonly trail: Engine['trail'];
  readonly poller: ApprovalPoller;
  readonly stops: LiveStops;
  /** Notified when a call of the library is parked. */
  readonly parked: Listeners<[]>;
  /** Notified when a background call was stored. */
  readonly submitted: Listeners<[task: Pick<NewTask, 'id' | 'door'>]>;
  /** Notified when a call waits for a script that no server may run. */
  readonly followed: Listeners<[task: FollowedTask]>;
  /** Notified when the outcome of a task became unknown, because its process is gone. */
  readonly lostTasks: Listeners<[task: StoredTask, result: ToolResult]>;
  /** Creates the function that stores tasks. */
  readonly keepTaskWith: KeepTaskWith;
  readonly extensions: ExtensionSet;
  readonly auditKeys: ReturnType<typeof createKeySettings>;
  readonly bundles: BundleRegistry;
  generation(): Generation;
  /** Marks the current generation as outdated. */
  markOld(): void;
}

/** The part of the core that its other parts may use while it is being built. */
type CoreSoFar = Pick<
  EngineCore,
  'fixed' | 'definition' | 'sources' | 'generations' | 'generation' | 'markOld' | 'warnings' | 'lifetime'
>;

/** Creates everything that works without sources, and starts nothing. Throws for mistakes in the definition. */
export function createEngineCore(fixed: FixedDefinition, first: CribDefinition): EngineCore {
  const core: CoreSoFar = {
    fixed,
    definition: first,
    sources: undefined,
    generations: undefined,
    warnings: createWarnings(fixed.context.redact),
    lifetime: new Cancellation(undefined),
    generation: () => requireStarted(core.generations).current(),
    markOld: () => core.generations?.markOld(), // no generation exists before the first build
  };
  const { warn } = core.warnings;
  const { executors } = fixed;
  const schemas = createSchemas();
  const services = createServices(first.services);
  const admission: AdmitOptions = { executors, schemas, admission: createAdmission({ executors, schemas }), warn };
  const written = registerCode(core, admission);
  const setups = new Setups({
    generation: core.generation,
    clock: systemClock,
    services: services.all,
    options: fixed.options,
    warn,
  });
  const keepTaskWith = createKeepTaskWith(() => core.definition, fixed.context, services);
  const recorded = createRecordedExtensions(core, { schemas, setups, keepTaskWith });
  const bundles = createBundleRegistry({
    bundles: first.bundles,
    homes: homesOf(first.sources),
    found: () => core.sources?.bundles() ?? [],
    generation: core.generation,
    takeIn: written.registration.takeIn,
    onChange: core.markOld,
    warn,
  });
  const inFlight = createInFlight(systemClock);
  const own = { services, admission, inFlight, keepTaskWith, setups, bundles };
  return Object.assign(core, own, written, recorded);
}

/** Registers the tools in code first: they own their names, and their mistakes are found before anything starts. */
function registerCode(core: CoreSoFar, admission: AdmitOptions): Pick<EngineCore, 'codeSource' | 'registration'> {
  const codeSource = code([]);
  const registration = createRegistration({
    source: codeSource,
    admit: (tool) => admit(tool, codeSource, admission),
    ownerOf: (name) => core.sources?.ownerOf(name, codeSource),
  });
  registration.takeIn(core.fixed.tools, 'tools');
  for (const bundle of core.definition.bundles) registration.takeIn(bundle.specs, `bundle ${bundle.name}`);
  return { codeSource, registration };
}

interface RecordedParts extends Pick<EngineCore, 'setups' | 'keepTaskWith'> {
  readonly schemas: ReturnType<typeof createSchemas>;
}

/** Creates the extensions, the audit trail and the poller. */
function createRecordedExtensions(core: CoreSoFar, { schemas, setups, keepTaskWith }: RecordedParts) {
  const { fixed, definition, warnings, generation } = core;
  const { executors, context } = fixed;
  const { warn } = warnings;
  const trail = createTrail({ context, keySettings: () => auditKeys.now(), warn });
  const isAudited = () => extensions.list().some(({ name, onEnd }) => name === 'audit' && onEnd !== undefined);
  const lostTasks: EngineCore['lostTasks'] = createListeners();
  const findLost = createFindLost(context.store, {
    onLostTask: lostTasks.tell,
    trail: () => (isAudited() ? trail : undefined),
    sourceOf: (tool) => generation().catalog.get(tool)?.source,
    keepLooking: () => poller.subscribe(async () => {}).stop, // every poll starts with findLost
    warn,
  });
  const parked = createListeners();
  const submitted: EngineCore['submitted'] = createListeners();
  const followed: EngineCore['followed'] = createListeners();
  const poller = createPoller({ approvals: context.store?.approvals, findLost, warn });
  const stops = createStopsInForce(context, core.lifetime, warn);
  const recheck = createRecheck({
    access: () => core.definition.access,
    profiles: () => core.definition.profiles,
    keys: context.store?.keys,
    calendar: laterClock,
  });
  const bundlesOf = (tool: string) => Array.from(generation().bundles.of(tool), (bundle) => bundle.name);
  const recording = { audit: trail, isAudited, findLost, recheck, stops };
  const following = { keepTask: keepTaskWith(submitted.tell), runHere: followed.tell, redact: context.redact, warn };
  const surroundings = { clock: systemClock, schemas, bundlesOf, warn };
  const extensions = createExtensionSet({
    builtIn: [
      ...[...builtInExtensions(), setups.gate(), precheck(executors)],
      handOver({ store: context.store, poller, keepTask: keepTaskWith(() => {}) }),
      waitingScripts({ store: context.store, poller, ...following }),
    ],
    given: definition.extensions,
    turnedOff: definition.turnedOff,
    executors,
    bind: createBinding({ ...context, ...recording, ...surroundings, ...fromRooms(poller, parked.tell) }),
    warn,
    onChange: core.markOld,
  });
  const auditKeys = createKeySettings(extensions.list);
  return { trail, poller, stops, parked, submitted, followed, lostTasks, extensions, auditKeys };
}

/** Returns a part that exists once the sources have started. Throws before. */
export function requireStarted<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  throw new ToolcribError('not_started', 'The crib has not been started yet.');
}

/** The running parts of a crib, and the functions that replace them after an edit. */
export interface Engine {
  readonly host: ChestHost;
  readonly bundles: BundleRegistry;
  readonly extensions: ExtensionSet;
  readonly registration: Registration;
  readonly trail: ReturnType<typeof createTrail>;
  readonly poller: ApprovalPoller;
  readonly stops: LiveStops;
  onParked: Listeners<[]>['add'];
  onSubmitted: EngineCore['submitted']['add'];
  onFollowed: EngineCore['followed']['add'];
  onLostTask: EngineCore['lostTasks']['add'];
  /** True if only workers start the source, and this process does not. */
  isElsewhere(source: string): boolean;
  taskSettings(): TaskSettings;
  /** The schedules of the configuration. */
  schedules(): CribDefinition['schedules'];
  /** False if no source is started. */
  hasTools(): boolean;
  /** The current audit key settings. */
  keySettings: AuditSource['keySettings'];
  generation(): Generation;
  profiles(): ProfileSet;
  access(): CribDefinition['access'];
  server(): CribDefinition['server'];
  sources(): readonly SourceReport[];
  sourceOutput(name: string): string | undefined;
  followOutput(source: string, onLines: TakeLines): () => void;
  warnings(): readonly string[];
  warn(message: string): void;
  onChange: Generations['onChange'];
  onNext: Generations['onNext'];
  /** Replaces the current definition. New sources may still be loading their lists. Throws for a mistake, and then changes nothing. */
  apply(definition: CribDefinition): Promise<Pick<PreparedSources, 'listed'>>;
  /** Resolves when no source is in its first start, or after `limitMs`; immediately if the crib started long ago. */
  listed(limitMs: number): Promise<void>;
  /** Resolves when every started source has a list or has failed to get one. */
  allListed(): Promise<void>;
  /** Resolves when no program of a source is being installed. */
  installed(): Promise<void>;
  checkStored(entries: readonly unknown[]): Promise<readonly EntryMistake[]>;
  /** Lets the executors check their tools on this machine. */
  review(): Promise<ExecutorReview>;
  /** Mistakes in entries of sources, one sentence each. */
  mistakes(): readonly string[];
  /** Explains how entries pasted from other programs were read. */
  readings(): readonly string[];
  /** Reads all sources again, or some. */
  refresh: LiveSources['refresh'];
  /** Resolves when no call is running, or after `limitMs`. */
  idle(limitMs: number): Promise<void>;
  /** Aborts all running calls. */
  endCalls(): void;
  close(): Promise<void>;
}
