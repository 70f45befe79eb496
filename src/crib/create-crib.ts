import type { Caller } from '../core/caller.ts';
import { type Changes, compareCatalogs } from '../core/catalog.ts';
import { didYouMean } from '../core/nearest.ts';
import type { Profile } from '../core/profile.ts';
import { type Criteria, compileCriteria, compileGlob, flagsOf } from '../core/selector.ts';
import { messageOf, notAvailable, ToolcribError } from '../core/tool-error.ts';
import { EFFECT_KEYS, type ToolSpec } from '../core/tool-spec.ts';
import type { Configuration } from './configuration.ts';
import type { Crib } from './crib.ts';
import { type CribOptions, readCribOptions } from './crib-options.ts';
import { type Engine, startEngine } from './engine.ts';
import { explain } from './explain.ts';
import type { Generation, ProfileSet } from './generation.ts';
import { createChest } from './open-chest.ts';
import { readFixedParts, readParts } from './parts.ts';
import { readCaller } from './read-caller.ts';
import { requireNode } from './require-node.ts';
import { joinSections, type Section, sectionsOf } from './sections.ts';

/** Puts a crib together. A mistake in what is given throws here; a source that fails costs only itself. */
export async function createCrib(given: CribOptions = {}): Promise<Crib> {
  requireNode(process.versions.node);
  const options = readCribOptions(given);
  const configuration = await configurationOf(options);
  const parts = configuration === undefined ? readParts(options) : await configuration.read();
  const engine = await startEngine(readFixedParts(options), parts);
  const { generation, profiles, registration } = engine;
  const reload = createReload(engine, configuration);
  configuration?.watch(() => void reload().catch((cause) => engine.warn(messageOf(cause))), engine.warn);

  return {
    get catalog() {
      return generation().catalog;
    },
    bundles: engine.bundles,
    extensions: engine.extensions,
    get: (name) => generation().catalog.get(name),
    match: (criteria) => matchSpecs(generation(), criteria),
    register: registration.register,
    unregister: registration.unregister,
    identify: async () => {
      throw notAvailable('crib.identify', 'pass the caller to crib.open');
    },
    open: async (name, given) => {
      const caller = readCaller(given);
      return createChest(engine.host, chooseProfile(name, profiles(), caller), caller);
    },
    openAll: async (caller) =>
      createChest(engine.host, profiles().everything, readCaller({ ...caller, operator: true })),
    explain: (caller, name, tool) =>
      explain(generation(), chooseProfile(name, profiles(), {}), readCaller(caller), tool),
    sections: () => allSections(generation()),
    instructions: () => joinSections(allSections(generation())),
    reload,
    onChange: engine.onChange,
    profiles: () => [...profiles().byName.keys()],
    sources: engine.sources,
    warnings: engine.warnings,
    store: configuration?.store,
    async close() {
      await engine.close();
      await configuration?.close();
    },
  };
}

/** Only what has a configuration loads the code that reads one. */
async function configurationOf(options: CribOptions): Promise<Configuration | undefined> {
  const isConfigured = [options.config, options.configFile, options.store, options.secrets].some(
    (part) => part !== undefined,
  );
  if (!isConfigured) return undefined;
  const { openConfiguration } = await import('./configuration.ts');
  return openConfiguration(options);
}

/** One after the other, so that each reports its own difference. A configuration with a mistake changes nothing. */
function createReload(engine: Engine, configuration: Configuration | undefined): () => Promise<Changes> {
  let last: Promise<unknown> = Promise.resolve();
  const reload = async (): Promise<Changes> => {
    const before = engine.generation().catalog;
    if (configuration !== undefined) await engine.apply(await configuration.read());
    await engine.refresh();
    return compareCatalogs(before, engine.generation().catalog);
  };
  return () => {
    const result = last.then(reload, reload);
    last = result;
    return result;
  };
}

function matchSpecs(generation: Generation, criteria: Criteria): readonly ToolSpec[] {
  const { specs } = generation.catalog;
  const flags = new Set<string>(EFFECT_KEYS);
  for (const spec of specs) for (const flag of flagsOf(spec).keys()) flags.add(flag);
  const matches = compileCriteria(criteria, flags);
  const bundlesOf = (spec: ToolSpec) => generation.bundles.of(spec.name).map((bundle) => bundle.name);
  return specs.filter((spec) => matches(spec, bundlesOf(spec)));
}

function chooseProfile(name: string | undefined, { byName, usual }: ProfileSet, caller: Caller): Profile {
  const profile = name === undefined ? usual : byName.get(name);
  if (profile === undefined) {
    throw new ToolcribError(
      'unknown_profile',
      `There is no profile "${name}".${didYouMean(String(name), byName.keys())}`,
    );
  }
  const allowed = caller.profiles;
  if (allowed !== undefined && !allowed.some((glob) => compileGlob(glob)(profile.name))) {
    throw new ToolcribError('denied', `The caller may not use the profile "${profile.name}".`);
  }
  return profile;
}

function allSections(generation: Generation): readonly Section[] {
  const names = new Set(generation.bundles.all.map((bundle) => bundle.name));
  return sectionsOf(names, generation.catalog.specs, generation.bundles);
}
