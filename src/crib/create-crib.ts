import type { Bundle } from '../core/bundle.ts';
import type { Caller } from '../core/caller.ts';
import { compareCatalogs } from '../core/catalog.ts';
import { describe } from '../core/known-keys.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Profile } from '../core/profile.ts';
import { type Criteria, compileCriteria, compileGlob, flagsOf } from '../core/selector.ts';
import type { Source } from '../core/source.ts';
import { messageOf, notAvailable, ToolcribError, toolError } from '../core/tool-error.ts';
import { EFFECT_KEYS, type ToolSpec } from '../core/tool-spec.ts';
import { wordMatch } from '../retrieval/word-match.ts';
import { systemClock } from '../runtime/clock.ts';
import { defineBundle } from '../runtime/define-bundle.ts';
import { createSchemas } from '../runtime/schemas/create-schemas.ts';
import { code } from '../sources/code.ts';
import { type AdmitOptions, admit } from './admit.ts';
import { builtInExtensions } from './built-ins.ts';
import { createBundleBook } from './bundle-book.ts';
import { Cancellation } from './cancellation.ts';
import { type ChestHost, createChest } from './chest.ts';
import type { Crib } from './crib.ts';
import { type CribOptions, readCribOptions, readExecutors, readProfiles } from './crib-options.ts';
import { explain } from './explain.ts';
import { createExtensionSet } from './extension-set.ts';
import { createGeneration, type Generation } from './generation.ts';
import { createGenerations, type Generations } from './generations.ts';
import { createInFlight } from './in-flight.ts';
import { type LiveSources, startSources } from './live-sources.ts';
import { findProblems } from './problems.ts';
import { readCaller } from './read-caller.ts';
import { checkProfileBundles } from './read-profile.ts';
import { createRegistration } from './registration.ts';
import { requireNode } from './require-node.ts';
import { joinSections, sectionsOf } from './sections.ts';
import { createServices } from './services.ts';
import { createSetups } from './setups.ts';
import { createToolIndex } from './tool-index.ts';
import { createWarnings } from './warnings.ts';

/** How long closing waits for calls that are under way. */
const DRAIN_MS = 10_000;

/** Puts a crib together. A mistake in what is given throws here; a source that fails costs only itself. */
export async function createCrib(given: CribOptions = {}): Promise<Crib> {
  requireNode(process.versions.node);
  const options = readCribOptions(given);
  const { profiles, usual, everything } = readProfiles(options);
  const executors = readExecutors(options.executors);
  const services = createServices(options.services);
  const warnings = createWarnings();
  const { warn } = warnings;
  const schemas = createSchemas();
  const admission: AdmitOptions = { executors, schemas, warn };
  const inFlight = createInFlight(systemClock);
  let closing: Promise<void> | undefined;
  const lifetime = new Cancellation(undefined);

  // Tools in code first: they own their names, and their mistakes are known before anything is started.
  const codeSource = code([]);
  const sources = [codeSource, ...requireSources(options.sources ?? [])];
  let live: LiveSources | undefined;
  const registration = createRegistration({
    source: codeSource,
    admit: (tool) => admit(tool, codeSource, admission),
    ownerOf: (name) => live?.ownerOf(name, codeSource),
  });
  registration.takeIn(options.tools ?? [], 'tools');
  const definedBundles = (options.bundles ?? []).map((bundle) => defineBundle(bundle));
  for (const bundle of definedBundles) registration.takeIn(bundle.specs, `bundle ${bundle.name}`);

  const generation = (): Generation => {
    if (generations === undefined) throw new ToolcribError('not_started', 'The crib has not been started yet.');
    return generations.current();
  };
  let generations: Generations | undefined;
  const markOld = () => generations?.markOld(); // before the first one is built there is nothing to be old
  const setups = createSetups({
    generation,
    clock: systemClock,
    services: services.all,
    options: Object.freeze({ ...options.options }),
    warn,
  });
  const extensions = createExtensionSet({
    builtIn: [...builtInExtensions({ schemas }), setups.extension],
    given: options.extensions ?? [],
    executors,
    warn,
    onChange: markOld,
  });
  const bundles = createBundleBook({
    bundles: definedBundles,
    homes: sources.flatMap(homeOf),
    generation,
    takeIn: registration.takeIn,
    onChange: markOld,
  });
  const bundleNames = new Set(bundles.definitions().map((bundle) => bundle.name));
  for (const profile of profiles.values()) checkProfileBundles(profile, bundleNames);

  live = await startSources({
    sources,
    context: { clock: systemClock, services: services.all, warn },
    clock: systemClock,
    admit: (tool, source) => admit(tool, source, admission),
    onChange: markOld,
  });
  const started = live;
  generations = createGenerations(
    () =>
      createGeneration({
        lists: started.lists(),
        bundles: bundles.definitions(),
        surroundings: { env: process.env, platform: process.platform, services: services.all },
        policyDefaults: extensions.policyDefaults(),
        isTrusted: (name) => sources.some((source) => source.name === name && source.trust === true),
      }),
    warn,
  );
  const built = generations;
  const problems = () => findProblems(generation(), profiles.values(), services.all);
  for (const report of started.report())
    if (report.state === 'failed') warn(`Source "${report.name}": ${report.reason}.`);
  for (const problem of problems()) warnings.announce(problem);

  const chestHost: ChestHost = {
    setups,
    generation,
    pipeline: extensions.pipeline,
    isClosed: () => closing !== undefined,
    lifetime,
    track: inFlight.track,
    rewriteListing: extensions.rewriteListing,
    rank: createToolIndex(options.retriever ?? wordMatch(), () => generation().catalog),
    servicesFor: services.chosen,
    stateFor: setups.stateFor,
    warn,
  };

  const closeAll = async (): Promise<void> => {
    await inFlight.drained(DRAIN_MS);
    lifetime.abort(toolError('unavailable', 'The crib was closed before the call ended.'));
    await setups.close();
    await started.close();
    for (const part of [...extensions.list(), ...executors.values()]) await closePart(part, warn);
  };

  let reloading: Promise<unknown> = Promise.resolve();
  const reload = async () => {
    const before = generation().catalog;
    await started.refresh();
    markOld();
    return compareCatalogs(before, generation().catalog);
  };

  return {
    get catalog() {
      return generation().catalog;
    },
    bundles,
    extensions,
    get: (name) => generation().catalog.get(name),
    match: (criteria) => matchSpecs(generation(), criteria),
    register: registration.register,
    unregister: registration.unregister,
    identify: async () => {
      throw notAvailable('crib.identify', 'pass the caller to crib.open');
    },
    open: async (name, given) => {
      const caller = readCaller(given);
      return createChest(chestHost, chooseProfile(name, usual, profiles, caller), caller);
    },
    openAll: async (caller) => createChest(chestHost, everything, readCaller({ ...caller, operator: true })),
    explain: (caller, name, tool) =>
      explain(generation(), chooseProfile(name, usual, profiles, undefined), readCaller(caller), tool),
    sections: () => allSections(generation()),
    instructions: () => joinSections(allSections(generation())),
    reload() {
      const result = reloading.then(reload, reload); // one after the other, so that each reports its own difference
      reloading = result;
      return result;
    },
    onChange: (listener) => built.onChange(listener),
    profiles: () => [...profiles.keys()],
    sources: () => started.report(),
    warnings: () => [...new Set([...warnings.list(), ...problems()])],
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

function requireSources(sources: readonly Source[]): readonly Source[] {
  const names = new Set(['code']);
  for (const source of sources) {
    if (typeof source?.name !== 'string' || typeof source.start !== 'function') {
      throw new ToolcribError('invalid_option', `A source has a name and start; got ${describe(source)}.`);
    }
    if (names.has(source.name))
      throw new ToolcribError('duplicate', `There are two sources named "${source.name}"; rename one of them.`);
    names.add(source.name);
  }
  return sources;
}

/** The bundle a source makes of its tools. */
function homeOf(source: Source): readonly Bundle[] {
  return source.bundle === false
    ? []
    : [Object.freeze({ name: source.bundle ?? source.name, include: Object.freeze([`source:${source.name}`]) })];
}

function matchSpecs(generation: Generation, criteria: Criteria): readonly ToolSpec[] {
  const { specs } = generation.catalog;
  const flags = new Set<string>(EFFECT_KEYS);
  for (const spec of specs) for (const flag of flagsOf(spec).keys()) flags.add(flag);
  const matches = compileCriteria(criteria, flags);
  return specs.filter((spec) =>
    matches(
      spec,
      generation.bundles.of(spec.name).map((bundle) => bundle.name),
    ),
  );
}

function chooseProfile(
  name: string | undefined,
  usual: Profile,
  profiles: ReadonlyMap<string, Profile>,
  caller: Caller | undefined,
): Profile {
  const profile = name === undefined ? usual : profiles.get(name);
  if (profile === undefined) {
    throw new ToolcribError(
      'unknown_profile',
      `There is no profile "${name}".${didYouMean(String(name), profiles.keys())}`,
    );
  }
  const allowed = caller?.profiles;
  if (allowed !== undefined && !allowed.some((glob) => compileGlob(glob)(profile.name))) {
    throw new ToolcribError('denied', `The caller may not use the profile "${profile.name}".`);
  }
  return profile;
}

function allSections(generation: Generation) {
  return sectionsOf(
    new Set(generation.bundles.all.map((bundle) => bundle.name)),
    generation.catalog.specs,
    generation.bundles,
  );
}

async function closePart(
  part: { readonly name?: string; readonly kind?: string; close?(): Promise<void> },
  warn: (message: string) => void,
): Promise<void> {
  try {
    await part.close?.();
  } catch (cause) {
    warn(`Closing ${part.name ?? part.kind} failed: ${messageOf(cause)}`);
  }
}
