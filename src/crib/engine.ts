import { type ApprovalPoller, createPoller } from '../approvals/poller.ts';
import { type AuditSource, createTrail } from '../audit/crib-audit.ts';
import { Cancellation, createInFlight } from '../call/cancellation.ts';
import { precheck } from '../call/precheck.ts';
import type { Generation, ProfileSet } from '../core/catalog.ts';
import type { ExecutorReview } from '../core/executor.ts';
import type { Source } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { createRecheck } from '../identity/identify.ts';
import { createSchemas } from '../schemas/create-schemas.ts';
import { code } from '../sources/code.ts';
import { laterClock, systemClock } from '../system/clock.ts';
import { createListeners, type Listeners } from '../system/listeners.ts';
import { createBinding, fromRooms } from './bind-extensions.ts';
import { builtInExtensions, createKeySettings } from './built-ins.ts';
import { type BundleRegistry, createBundleRegistry } from './catalog/bundle-registry.ts';
import type { Generations } from './catalog/generations.ts';
import { Setups } from './catalog/setups.ts';
import { type CribDefinition, type FixedDefinition, homesOf } from './crib-definition.ts';
import { createExtensionSet, type ExtensionSet } from './extension-set.ts';
import { createFindLost } from './lost-claims.ts';
import type { ChestHost } from './open-chest.ts';
import { createServices } from './services.ts';
import { type AdmitOptions, admit, createAdmission } from './sources/accept-spec.ts';
import type { EntryMistake } from './sources/check-stored.ts';
import type { LiveSources, PreparedSources } from './sources/live-sources.ts';
import { createRegistration, type Registration } from './sources/registration.ts';
import type { TakeLines } from './sources/source-output.ts';
import type { SourceReport } from './sources/source-slot.ts';

/** What an engine has before its sources start. */
export interface EngineCore {
  readonly fixed: FixedDefinition;
  /** What is in force; an edit puts another definition in its place. */
  definition: CribDefinition;
  /** Set once they have started. */
  sources: LiveSources | undefined;
  generations: Generations | undefined;
  readonly warnings: Warnings;
  readonly services: ReturnType<typeof createServices>;
  readonly admission: AdmitOptions;
  readonly inFlight: ReturnType<typeof createInFlight>;
  /** Ends with the engine, and all calls with it. */
  readonly lifetime: Cancellation;
  readonly codeSource: Source;
  readonly registration: Registration;
  readonly setups: Setups;
  readonly trail: Engine['trail'];
  readonly poller: ApprovalPoller;
  /** Told when a call of a library was parked. */
  readonly parked: Listeners<[]>;
  readonly extensions: ExtensionSet;
  readonly auditKeys: ReturnType<typeof createKeySettings>;
  readonly bundles: BundleRegistry;
  generation(): Generation;
  /** Says that the generation of this moment is old. */
  markOld(): void;
}

/** What parts of an engine ask of each other, before and after all of them are there. */
type CoreSoFar = Pick<
  EngineCore,
  'fixed' | 'definition' | 'sources' | 'generations' | 'generation' | 'markOld' | 'warnings'
>;

/** Makes everything that works without sources. Throws for a mistake in what is given; nothing is started. */
export function createEngineCore(fixed: FixedDefinition, first: CribDefinition): EngineCore {
  const core: CoreSoFar = {
    fixed,
    definition: first,
    sources: undefined,
    generations: undefined,
    warnings: createWarnings(fixed.context.redact),
    generation: () => requireStarted(core.generations).current(),
    markOld: () => core.generations?.markOld(), // before the first one is built there is nothing to be old
  };
  const { warn } = core.warnings;
  const { executors } = fixed;
  const schemas = createSchemas();
  const services = createServices(first.services);
  const admission: AdmitOptions = { executors, schemas, admission: createAdmission({ executors, schemas }), warn };
  const { codeSource, registration } = registerCode(core, admission);
  const setups = new Setups({
    generation: core.generation,
    clock: systemClock,
    services: services.all,
    options: fixed.options,
    warn,
  });
  const recorded = createRecordedExtensions(core, { schemas, setups });
  const bundles = createBundleRegistry({
    bundles: first.bundles,
    homes: homesOf(first.sources),
    found: () => core.sources?.bundles() ?? [],
    generation: core.generation,
    takeIn: registration.takeIn,
    onChange: core.markOld,
    warn,
  });
  const inFlight = createInFlight(systemClock);
  const lifetime = new Cancellation(undefined);
  const made = { services, admission, inFlight, lifetime, codeSource, registration, setups, ...recorded, bundles };
  return Object.assign(core, made);
}

/** Tools in code come first: they own their names, and their mistakes are known before anything is started. */
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

/** The extensions, and the record of calls that they write. */
function createRecordedExtensions(
  core: CoreSoFar,
  { schemas, setups }: { readonly schemas: ReturnType<typeof createSchemas>; readonly setups: Setups },
): Pick<EngineCore, 'trail' | 'poller' | 'parked' | 'extensions' | 'auditKeys'> {
  const { fixed, definition, warnings, generation } = core;
  const { executors, context } = fixed;
  const { warn } = warnings;
  const trail = createTrail({ context, keySettings: () => auditKeys.now(), warn });
  const isAudited = () => extensions.list().some(({ name, onEnd }) => name === 'audit' && onEnd !== undefined);
  const findLost = createFindLost(context.store, {
    trail: () => (isAudited() ? trail : undefined),
    sourceOf: (tool) => generation().catalog.get(tool)?.source,
    keepLooking: () => poller.subscribe(async () => {}).stop, // every look begins with it
    warn,
  });
  const parked = createListeners();
  const poller = createPoller({ approvals: context.store?.approvals, findLost, warn });
  const recheck = createRecheck({
    access: () => core.definition.access,
    profiles: () => core.definition.profiles,
    keys: context.store?.keys,
    calendar: laterClock,
  });
  const bundlesOf = (tool: string) => Array.from(generation().bundles.of(tool), (bundle) => bundle.name);
  const recording = { audit: trail, isAudited, findLost, recheck };
  const extensions = createExtensionSet({
    builtIn: [...builtInExtensions(), setups.gate(), precheck(executors)],
    given: definition.extensions,
    turnedOff: definition.turnedOff,
    executors,
    bind: createBinding({
      ...context,
      ...recording,
      ...fromRooms(poller, parked.tell),
      clock: systemClock,
      schemas,
      bundlesOf,
      warn,
    }),
    warn,
    onChange: core.markOld,
  });
  const auditKeys = createKeySettings(extensions.list);
  return { trail, poller, parked, extensions, auditKeys };
}

/** What is there once sources have started. */
export function requireStarted<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  throw new ToolcribError('not_started', 'The crib has not been started yet.');
}

/** What went wrong without failing anything. Each sentence is said once and kept for `crib.warnings()`. */
interface Warnings {
  warn(message: string): void;
  /** Says what is wrong with something now, without keeping it: it can be found out anew. What was said when this was last asked is not repeated. */
  announce(about: Topic, messages: readonly string[]): void;
  list(): readonly string[];
}

type Topic = 'configuration' | 'sources' | 'lists' | 'held back';

const MANY = 1000;

/** `redact` takes the values of secrets out of what is said. */
function createWarnings(redact: (text: string) => string): Warnings {
  const said = new Set<string>();
  const standing = new Map<Topic, ReadonlySet<string>>();
  const emit = (message: string) => process.emitWarning(message, 'ToolcribWarning');
  return {
    warn(told) {
      const message = redact(told);
      if (said.has(message) || said.size >= MANY) return;
      said.add(message);
      emit(message);
    },
    announce(about, found) {
      const messages = new Set(found.map(redact));
      const before = standing.get(about);
      standing.set(about, messages);
      for (const message of messages) if (before?.has(message) !== true && !said.has(message)) emit(message);
    },
    list: () => [...said],
  };
}

/** What runs inside a crib: everything that is alive, and how it is put in the place of something else. */
export interface Engine {
  readonly host: ChestHost;
  readonly bundles: BundleRegistry;
  readonly extensions: ExtensionSet;
  readonly registration: Registration;
  readonly trail: ReturnType<typeof createTrail>;
  readonly poller: ApprovalPoller;
  onParked: Listeners<[]>['add'];
  /** What extensions say about the keys of the audit now. */
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
  /** Puts another definition in the place of the one it runs with; sources that were started for it may still learn their lists. A mistake in them throws and changes nothing. */
  apply(definition: CribDefinition): Promise<Pick<PreparedSources, 'listed'>>;
  /** Resolves when no source is in its first start, or after `limitMs`; at once where the crib has started long ago. */
  listed(limitMs: number): Promise<void>;
  /** Resolves when every source that was started has a list or could not get one. */
  allListed(): Promise<void>;
  /** Resolves when no program of a source is being installed any more. */
  installed(): Promise<void>;
  checkStored(entries: readonly unknown[]): Promise<readonly EntryMistake[]>;
  /** What executors say about their tools on this machine. */
  review(): Promise<ExecutorReview>;
  /** Mistakes in entries of sources, in sentences. */
  mistakes(): readonly string[];
  /** How entries that were pasted from other programs were read, in sentences. */
  readings(): readonly string[];
  /** Reads every source again, or only some. */
  refresh: LiveSources['refresh'];
  /** Resolves when no call is under way, or after `limitMs`. */
  idle(limitMs: number): Promise<void>;
  /** Ends all calls that are under way. */
  endCalls(): void;
  close(): Promise<void>;
}
