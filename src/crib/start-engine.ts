import { requireNamedKey } from '../audit/crib-audit.ts';
import { cribClosed } from '../call/cancellation.ts';
import type { Generation } from '../core/catalog.ts';
import { CONFIRM } from '../core/extension.ts';
import { createSearchIndex, type OpenRetriever } from '../search/search-index.ts';
import { systemClock, waitAtMost } from '../system/clock.ts';
import { taskSettings } from '../tasks/task-settings.ts';
import { createGeneration, createGenerations, type Generations } from './catalog/generations.ts';
import { createEngineProblems, type EngineProblems, reviewTools } from './catalog/problems.ts';
import { knowsBundles, requireBundles, requireRules } from './catalog/read-profile.ts';
import { closeEngine } from './close-engine.ts';
import { type CribDefinition, type FixedDefinition, homesOf } from './crib-definition.ts';
import { createEngineCore, type Engine, type EngineCore } from './engine.ts';
import type { ChestHost } from './open-chest.ts';
import { admit } from './sources/accept-spec.ts';
import { type LiveSources, startSources } from './sources/live-sources.ts';
import { requireCleanName } from './sources/name-clashes.ts';
import { createSourceOutputs, type SourceOutputs } from './sources/source-output.ts';
import type { SourceReport } from './sources/source-slot.ts';

/** An edit waits this long for new sources, so that it is one change instead of two. */
const QUICK_MS = 100;
/** Time after the start in which listings wait for sources. */
const FIRST_START_MS = 30_000;
/** Longest possible start of a source. Until then an unknown name may still appear. */
const LONGEST_START_MS = 600_000;

/** An engine whose sources have started. */
interface StartedCore extends EngineCore {
  readonly sources: LiveSources;
  readonly generations: Generations;
}

/** Starts the engine. A mistake throws before anything starts. A source that fails does not affect the others. */
export async function startEngine(fixed: FixedDefinition, first: CribDefinition): Promise<Engine> {
  const begunAt = systemClock.now();
  const core = createEngineCore(fixed, first);
  requireRules(first.profiles.byName.values(), core.admission.schemas);
  await requireNamedKey(core.auditKeys.now(), fixed.context);
  const { redact } = fixed.context;
  const outputs = createSourceOutputs(redact);
  const started = await startCore(core, outputs);
  let closing: Promise<void> | undefined;
  const isClosed = () => closing !== undefined;
  const startedWithin = (ms: number) => systemClock.now() - begunAt < ms && started.sources.isStarting();
  const isStarting = () => startedWithin(LONGEST_START_MS);
  const problems = createEngineProblems(core, isClosed);
  problems.announce();
  return {
    ...membersOf(started),
    host: createHost(core, { isClosed, isStarting }),
    sources: () => started.sources.report().map((report) => withoutSecrets(report, redact)),
    sourceOutput(name) {
      const output = started.sources.output(name);
      return output === undefined ? undefined : redact(output);
    },
    followOutput: (source, onLines) =>
      outputs.follow({ source, printed: started.sources.output(source) ?? '', onLines }),
    warnings: problems.list,
    apply: (next) => applyDefinition(next, started, problems),
    async checkStored(entries) {
      const { checkStored } = await import('./sources/check-stored.ts'); // loaded lazily, as it is rarely used
      const { definition, admission, generation } = core;
      return checkStored(entries, { sources: definition.sources, admission, catalog: generation().catalog });
    },
    async review() {
      const { problems: found, notes } = await reviewTools(core.generation().catalog.specs, fixed.executors);
      return { problems: found, notes: [...core.extensions.replaced().map(replacedGuard), ...notes] };
    },
    mistakes: () => core.definition.mistakes.map(redact),
    readings: () => core.definition.readings.map(redact),
    listed: async (limitMs) =>
      startedWithin(FIRST_START_MS) ? waitAtMost(limitMs, started.sources.listed(), systemClock) : undefined,
    allListed: () => started.sources.listed(),
    installed: () => started.sources.installed(),
    async refresh(isMeant) {
      await started.sources.refresh(isMeant);
      core.markOld();
    },
    close() {
      closing ??= closeEngine(started);
      return closing;
    },
  };
}

/** Starts the sources and builds the first generation of what they list. */
async function startCore(core: EngineCore, outputs: SourceOutputs): Promise<StartedCore> {
  const { definition, codeSource, services, admission, warnings } = core;
  const { redact } = core.fixed.context;
  const sources = await startSources({
    sources: [codeSource, ...definition.sources],
    onDuplicate: definition.onDuplicate,
    context: {
      clock: systemClock,
      services: services.all(),
      admission: admission.admission,
      warn: warnings.warn,
      onOutput: outputs.take,
    },
    clock: systemClock,
    // Tools in code were checked when they were registered.
    admit: (tool, source) =>
      source === codeSource ? tool : requireCleanName(admit(tool, source, admission), source, redact),
    onChange: core.markOld,
  });
  core.sources = sources;
  try {
    // Only now, since sources may bring bundles.
    requireBundles(definition.profiles, new Set(core.bundles.definitions().map((bundle) => bundle.name)));
  } catch (cause) {
    await sources.close();
    throw cause;
  }
  const generations = createGenerations(() => buildGeneration(core, sources), warnings.warn);
  return Object.assign(core, { sources, generations });
}

function buildGeneration(core: EngineCore, sources: LiveSources): Generation {
  const { definition, bundles, services, extensions, codeSource, warnings } = core;
  const next = createGeneration({
    lists: sources.lists(),
    bundles: bundles.definitions(),
    surroundings: { env: process.env, platform: process.platform, services: services.all() },
    policyDefaults: extensions.policyDefaults(),
    isTrusted: (name) =>
      name === codeSource.name || definition.sources.some((source) => source.name === name && source.trust === true),
    profiles: definition.profiles,
  });
  // A name clash may appear long after the start.
  warnings.announce(
    'held back',
    next.catalog.held.map(({ message }) => message),
  );
  return next;
}

/** The members of an engine that come from its core. */
function membersOf(core: StartedCore) {
  const { bundles, extensions, registration, trail, poller, stops, parked, auditKeys, generation, generations } = core;
  const { inFlight, lifetime, warnings } = core;
  return {
    bundles,
    extensions,
    registration,
    trail,
    poller,
    stops,
    onParked: parked.add,
    onSubmitted: core.submitted.add,
    onFollowed: core.followed.add,
    onLostTask: core.lostTasks.add,
    isElsewhere: (name: string) =>
      core.definition.sources.some((source) => source.name === name && source.isElsewhere === true),
    taskSettings: () => taskSettings(core.definition.tasks),
    schedules: () => core.definition.schedules,
    hasTools: () => core.definition.hasTools,
    keySettings: auditKeys.now,
    generation,
    profiles: () => core.definition.profiles,
    access: () => core.definition.access,
    server: () => core.definition.server,
    warn: warnings.warn,
    onChange: generations.onChange,
    onNext: generations.onNext,
    idle: inFlight.drained,
    endCalls: () => lifetime.abortFollowers(cribClosed()),
  };
}

/** The engine as chests see it. */
function createHost(core: EngineCore, phase: Pick<ChestHost, 'isClosed' | 'isStarting'>): ChestHost {
  const { setups, generation, extensions, lifetime, inFlight, services, warnings } = core;
  const { retriever, context } = core.fixed;
  const given: OpenRetriever | undefined = retriever === undefined ? undefined : async () => retriever;
  const rank = createSearchIndex({
    generation,
    opener: () => given ?? core.definition.openRetriever,
    examples: () => core.definition.examples,
    kept: () => (context.isStored() ? context.store?.snapshots : undefined),
    clock: systemClock,
    warn: warnings.warn,
  });
  return {
    ...phase,
    setups,
    generation,
    profiles: () => core.definition.profiles,
    pipeline: extensions.pipeline,
    now: systemClock.now,
    lifetime,
    inFlight,
    rewriteListing: extensions.rewriteListing,
    rank,
    usageOf: (profile, callerId) => core.definition.usage?.of(profile, callerId),
    servicesFor: services.chosen,
    stateFor: (tool) => setups.stateFor(tool),
    async confirm(...asked) {
      const asking = extensions.list().find((extension) => extension[CONFIRM] !== undefined);
      return (await asking?.[CONFIRM]?.(...asked)) ?? false; // without the approval extension the answer is no
    },
    keepTask: core.keepTaskWith(core.submitted.tell),
    warn: warnings.warn,
  };
}

/** Checks a new definition completely before it changes anything. Sources that start quickly are part of the same change. */
async function applyDefinition(
  next: CribDefinition,
  core: StartedCore,
  problems: EngineProblems,
): ReturnType<Engine['apply']> {
  const { bundles, extensions, services, admission } = core;
  const prepared = core.sources.prepare([core.codeSource, ...next.sources], next.onDuplicate);
  const base = () => ({ bundles: next.bundles, homes: homesOf(next.sources), found: prepared.bundles() });
  try {
    await waitAtMost(QUICK_MS, prepared.listed(), systemClock);
    if (next.onDuplicate === 'error' || !knowsBundles(next.profiles, bundles.checkBase(base())))
      await prepared.listed(); // needs the lists of the sources
    await prepared.requireDistinct();
    requireBundles(next.profiles, bundles.checkBase(base()));
    requireRules(next.profiles.byName.values(), admission.schemas);
    extensions.checkGiven(next.extensions, next.turnedOff);
  } catch (cause) {
    await prepared.cancel();
    throw cause;
  }
  core.definition = next;
  bundles.replaceBase(base());
  extensions.replaceGiven(next.extensions, next.turnedOff);
  services.replace(next.services);
  await prepared.commit();
  core.markOld();
  problems.announce();
  return { listed: prepared.listed };
}

function replacedGuard(name: string): string {
  return `The built-in guard "${name}" is replaced by an extension of the same name and does not guard calls. If this is not intended, rename the extension.`;
}

function withoutSecrets(report: SourceReport, redact: (text: string) => string): SourceReport {
  const { reason, malformed } = report;
  const hidden = malformed === undefined ? report : { ...report, malformed: malformed.map(redact) };
  return reason === undefined ? hidden : { ...hidden, reason: redact(reason) };
}
