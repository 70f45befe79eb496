import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { laterClock, systemClock } from '../runtime/clock.ts';
import { createSchemas } from '../runtime/schemas/create-schemas.ts';
import { waitAtMost } from '../runtime/wait-at-most.ts';
import { code } from '../sources/code.ts';
import { type AdmitOptions, admit, createAdmission } from './admit.ts';
import { createTrail, requireNamedKey } from './audit.ts';
import { createKeySettings } from './audit-extensions.ts';
import { builtInExtensions } from './built-ins.ts';
import { createBundleBook } from './bundle-book.ts';
import { Cancellation, cribClosed } from './cancellation.ts';
import { closePart } from './close-part.ts';
import type { Engine } from './engine.ts';
import { createBinding } from './extension-ports.ts';
import { createExtensionSet } from './extension-set.ts';
import { createGeneration, type Generation } from './generation.ts';
import { createGenerations, type Generations } from './generations.ts';
import { createRecheck } from './identify.ts';
import { createInFlight } from './in-flight.ts';
import { type LiveSources, startSources } from './live-sources.ts';
import { createLostClaims } from './lost-claims.ts';
import { type FixedParts, homesOf, type Parts } from './parts.ts';
import { precheck } from './precheck.ts';
import { findProblems, idleSelectors } from './problems.ts';
import { knowsBundles, requireBundles } from './read-profile.ts';
import { createRegistration } from './registration.ts';
import { requireRules } from './require-rules.ts';
import { reviewTools } from './review-tools.ts';
import { createSearchIndex, type OpenRetriever } from './search-index.ts';
import { createServices } from './services.ts';
import { Setups } from './setups.ts';
import type { SourceReport } from './source-slot.ts';
import { createWarnings } from './warnings.ts';

/** How long closing waits for calls that are under way. */
const DRAIN_MS = 10_000;
/** What starts so soon is worth waiting for: then an edit is one change, not two. */
const QUICK_MS = 100;
/** How long names that a caller cannot see may still come with the list of a source. */
const FIRST_START_MS = 30_000;

/** Starts everything. A mistake throws before anything is started; a source that fails costs only itself. */
export async function startEngine(fixed: FixedParts, first: Parts): Promise<Engine> {
  let parts = first;
  let generations: Generations | undefined;
  let live: LiveSources | undefined;
  let closing: Promise<void> | undefined;
  const begunAt = systemClock.now();
  const { redact } = fixed.equipment;
  const warnings = createWarnings(redact);
  const { warn } = warnings;
  const { executors } = fixed;
  const services = createServices(first.services);
  const schemas = createSchemas();
  const admission: AdmitOptions = { executors, schemas, admission: createAdmission({ executors, schemas }), warn };
  const inFlight = createInFlight(systemClock);
  const lifetime = new Cancellation(undefined);
  const generation = (): Generation => required(generations).current();
  const markOld = () => generations?.markOld(); // before the first one is built there is nothing to be old

  requireRules(first.profiles.byName.values(), schemas);
  // Tools in code first: they own their names, and their mistakes are known before anything is started.
  const codeSource = code([]);
  const registration = createRegistration({
    source: codeSource,
    admit: (tool) => admit(tool, codeSource, admission),
    ownerOf: (name) => live?.ownerOf(name, codeSource),
  });
  registration.takeIn(fixed.tools, 'tools');
  for (const bundle of first.bundles) registration.takeIn(bundle.specs, `bundle ${bundle.name}`);

  const setups = new Setups({ generation, clock: systemClock, services: services.all, options: fixed.options, warn });
  const trail = createTrail({ equipment: fixed.equipment, keySettings: () => auditKeys.now(), warn });
  const bundlesOf = (tool: string) => Array.from(generation().bundles.of(tool), (bundle) => bundle.name);
  const isAudited = () => extensions.list().some(({ name, onEnd }) => name === 'audit' && onEnd !== undefined);
  const lostClaims = createLostClaims(fixed.equipment.store, {
    trail: () => (isAudited() ? trail : undefined),
    sourceOf: (tool) => generation().catalog.get(tool)?.source,
    warn,
  });
  const recheck = createRecheck({
    access: () => parts.access,
    profiles: () => parts.profiles,
    keys: fixed.equipment.store?.keys,
    calendar: laterClock,
  });
  const recording = { audit: trail, isAudited, findLost: lostClaims.look, recheck };
  const extensions = createExtensionSet({
    builtIn: [...builtInExtensions(), setups.gate(), precheck(executors)],
    given: first.extensions,
    turnedOff: first.turnedOff,
    executors,
    bind: createBinding({ ...fixed.equipment, ...recording, clock: systemClock, schemas, bundlesOf, warn }),
    warn,
    onChange: markOld,
  });
  const auditKeys = createKeySettings(extensions.list);
  await requireNamedKey(auditKeys.now(), fixed.equipment);
  const bundles = createBundleBook({
    bundles: first.bundles,
    homes: homesOf(first.sources),
    found: () => live?.bundles() ?? [],
    generation,
    takeIn: registration.takeIn,
    onChange: markOld,
    warn,
  });
  const started = await startSources({
    sources: [codeSource, ...first.sources],
    onDuplicate: first.onDuplicate,
    context: { clock: systemClock, services: services.all(), admission: admission.admission, warn },
    clock: systemClock,
    admit: (tool, source) => admit(tool, source, admission),
    onChange: markOld,
  });
  live = started;
  try {
    // Only now, since sources bring bundles, too.
    requireBundles(first.profiles, new Set(bundles.definitions().map((bundle) => bundle.name)));
  } catch (cause) {
    await started.close();
    throw cause;
  }
  const buildGeneration = (): Generation => {
    const next = createGeneration({
      lists: started.lists(),
      bundles: bundles.definitions(),
      surroundings: { env: process.env, platform: process.platform, services: services.all() },
      policyDefaults: extensions.policyDefaults(),
      isTrusted: (name) =>
        name === codeSource.name || parts.sources.some((source) => source.name === name && source.trust === true),
      profiles: parts.profiles,
    });
    warnings.announceHeld(next.catalog.held); // a name may be claimed long after the start
    return next;
  };
  generations = createGenerations(buildGeneration, warn);
  const heldBack = () => generation().catalog.held.map(({ message }) => message);
  const ownProblems = () => [...parts.problems, ...auditKeys.problems()];
  const isStarting = () => systemClock.now() - begunAt < FIRST_START_MS && started.isStarting();
  // What selectors match is known when all lists are there.
  const listProblems = () =>
    started.isListed()
      ? [
          ...findProblems(generation(), parts.profiles.byName.values(), services.all()),
          ...idleSelectors(generation(), extensions.list()),
          ...started.problems(),
        ]
      : [];
  const announceAll = async (): Promise<void> => {
    const announced = parts;
    for (const report of started.report())
      if (report.state === 'failed') warn(`Source "${report.name}": ${sentence(report.reason)}`);
    for (const problem of ownProblems()) warnings.announce(problem);
    if (!started.isListed()) await started.listed();
    if (parts !== announced || closing !== undefined) return; // a later edit tells
    for (const problem of listProblems()) warnings.announce(problem);
  };
  const announce = (): void => void announceAll().catch((cause: unknown) => warn(messageOf(cause)));
  announce();
  const { retriever, equipment } = fixed;
  const given: OpenRetriever | undefined = retriever === undefined ? undefined : async () => retriever;
  const rank = createSearchIndex({
    generation,
    opener: () => given ?? parts.openRetriever,
    kept: () => (equipment.isStored() ? equipment.store?.snapshots : undefined),
    clock: systemClock,
    warn,
  });

  const close = async (): Promise<void> => {
    await inFlight.drained(DRAIN_MS);
    lifetime.abort(cribClosed());
    lostClaims.close();
    await setups.close();
    await started.close();
    for (const part of [...extensions.list(), ...extensions.retired(), ...executors.values()])
      await closePart(part, warn);
    await trail?.close();
  };

  return {
    host: {
      setups,
      generation,
      pipeline: extensions.pipeline,
      isClosed: () => closing !== undefined,
      isStarting,
      now: systemClock.now,
      lifetime,
      track: inFlight.track,
      rewriteListing: extensions.rewriteListing,
      rank,
      usageOf: (profile, callerId) => parts.usage?.of(profile, callerId),
      servicesFor: services.chosen,
      stateFor: (tool) => setups.stateFor(tool),
      warn,
    },
    bundles,
    extensions,
    registration,
    trail,
    lostClaims,
    keySettings: auditKeys.now,
    generation,
    profiles: () => parts.profiles,
    access: () => parts.access,
    server: () => parts.server,
    sources: () => started.report().map((report) => withoutSecrets(report, redact)),
    sourceOutput(name) {
      const output = started.output(name);
      return output === undefined ? undefined : redact(output);
    },
    warnings: () => [
      ...new Set([...warnings.list(), ...[...heldBack(), ...ownProblems(), ...listProblems()].map(redact)]),
    ],
    warn,
    onChange: generations.onChange,
    onNext: generations.onNext,
    async apply(next) {
      const prepared = started.prepare([codeSource, ...next.sources], next.onDuplicate);
      const base = () => ({ bundles: next.bundles, homes: homesOf(next.sources), found: prepared.bundles() });
      try {
        // Everything that can be wrong is found before anything is changed. What is quick is swapped in one go.
        await waitAtMost(QUICK_MS, prepared.listed(), systemClock);
        if (next.onDuplicate === 'error' || !knowsBundles(next.profiles, bundles.checkBase(base())))
          await prepared.listed(); // only the lists can tell
        await prepared.requireDistinct();
        requireBundles(next.profiles, bundles.checkBase(base()));
        requireRules(next.profiles.byName.values(), schemas);
        extensions.checkGiven(next.extensions, next.turnedOff);
      } catch (cause) {
        await prepared.cancel();
        throw cause;
      }
      parts = next;
      bundles.replaceBase(base());
      extensions.replaceGiven(next.extensions, next.turnedOff);
      services.replace(next.services);
      await prepared.commit();
      markOld();
      announce();
      return { listed: prepared.listed };
    },
    async checkStored(entries) {
      const { checkStored } = await import('./check-stored.ts'); // few ever store anything
      return checkStored(entries, { sources: parts.sources, admission, catalog: generation().catalog });
    },
    review: () => reviewTools(generation().catalog.specs, executors),
    idle: inFlight.drained,
    endCalls: () => lifetime.abortFollowers(cribClosed()),
    listed: async (limitMs) => (isStarting() ? waitAtMost(limitMs, started.listed(), systemClock) : undefined),
    async refresh(isMeant) {
      await started.refresh(isMeant);
      markOld();
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function withoutSecrets(report: SourceReport, redact: (text: string) => string): SourceReport {
  return report.reason === undefined ? report : { ...report, reason: redact(report.reason) };
}

function sentence(reason = 'it failed'): string {
  return reason.endsWith('.') ? reason : `${reason}.`;
}

function required(generations: Generations | undefined): Generations {
  if (generations !== undefined) return generations;
  throw new ToolcribError('not_started', 'The crib has not been started yet.');
}
