import type { Retriever } from '../core/retriever.ts';
import { messageOf, ToolcribError, toolError } from '../core/tool-error.ts';
import { wordMatch } from '../retrieval/word-match.ts';
import { systemClock } from '../runtime/clock.ts';
import { createSchemas } from '../runtime/schemas/create-schemas.ts';
import { code } from '../sources/code.ts';
import { type AdmitOptions, admit } from './admit.ts';
import { builtInExtensions } from './built-ins.ts';
import { type BundleBook, createBundleBook } from './bundle-book.ts';
import { Cancellation } from './cancellation.ts';
import { createExtensionSet, type ExtensionSet } from './extension-set.ts';
import { createGeneration, type Generation, type ProfileSet } from './generation.ts';
import { createGenerations, type Generations } from './generations.ts';
import { createInFlight } from './in-flight.ts';
import { type LiveSources, type SourceReport, startSources } from './live-sources.ts';
import type { ChestHost } from './open-chest.ts';
import { type FixedParts, homesOf, type Parts } from './parts.ts';
import { findProblems } from './problems.ts';
import { checkProfileBundles } from './read-profile.ts';
import { createRegistration, type Registration } from './registration.ts';
import { createServices } from './services.ts';
import { createSetups } from './setups.ts';
import { createToolIndex } from './tool-index.ts';
import { createWarnings } from './warnings.ts';

/** How long closing waits for calls that are under way. */
const DRAIN_MS = 10_000;

/** What runs inside a crib: everything that is alive, and how it is put in the place of something else. */
export interface Engine {
  readonly host: ChestHost;
  readonly bundles: BundleBook;
  readonly extensions: ExtensionSet;
  readonly registration: Registration;
  generation(): Generation;
  profiles(): ProfileSet;
  sources(): readonly SourceReport[];
  warnings(): readonly string[];
  warn(message: string): void;
  onChange: Generations['onChange'];
  /** Puts other parts in the place of those it runs with. A mistake in them throws and changes nothing. */
  apply(parts: Parts): Promise<void>;
  /** Reads every source again. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** Starts everything. A mistake throws before anything is started; a source that fails costs only itself. */
export async function startEngine(fixed: FixedParts, first: Parts): Promise<Engine> {
  let parts = first;
  let generations: Generations | undefined;
  let live: LiveSources | undefined;
  let closing: Promise<void> | undefined;
  const warnings = createWarnings();
  const { warn } = warnings;
  const { executors } = fixed;
  const services = createServices(first.services);
  const schemas = createSchemas();
  const admission: AdmitOptions = { executors, schemas, warn };
  const inFlight = createInFlight(systemClock);
  const lifetime = new Cancellation(undefined);
  const generation = (): Generation => required(generations).current();
  const markOld = () => generations?.markOld(); // before the first one is built there is nothing to be old

  // Tools in code first: they own their names, and their mistakes are known before anything is started.
  const codeSource = code([]);
  const registration = createRegistration({
    source: codeSource,
    admit: (tool) => admit(tool, codeSource, admission),
    ownerOf: (name) => live?.ownerOf(name, codeSource),
  });
  registration.takeIn(fixed.tools, 'tools');
  for (const bundle of first.bundles) registration.takeIn(bundle.specs, `bundle ${bundle.name}`);

  const setups = createSetups({ generation, clock: systemClock, services: services.all, options: fixed.options, warn });
  const extensions = createExtensionSet({
    builtIn: [...builtInExtensions({ schemas }), setups.extension],
    given: first.extensions,
    turnedOff: first.turnedOff,
    executors,
    warn,
    onChange: markOld,
  });
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
    context: { clock: systemClock, services: services.all(), warn },
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
  generations = createGenerations(
    () =>
      createGeneration({
        lists: started.lists(),
        bundles: bundles.definitions(),
        surroundings: { env: process.env, platform: process.platform, services: services.all() },
        policyDefaults: extensions.policyDefaults(),
        isTrusted: (name) =>
          name === codeSource.name || parts.sources.some((source) => source.name === name && source.trust === true),
        profiles: parts.profiles,
      }),
    warn,
  );
  const problems = () => [
    ...parts.problems,
    ...findProblems(generation(), parts.profiles.byName.values(), services.all()),
  ];
  const announce = () => {
    for (const report of started.report())
      if (report.state === 'failed') warn(`Source "${report.name}": ${sentence(report.reason)}`);
    for (const problem of problems()) warnings.announce(problem);
  };
  announce();

  const close = async (): Promise<void> => {
    await inFlight.drained(DRAIN_MS);
    lifetime.abort(toolError('unavailable', 'The crib was closed before the call ended.'));
    await setups.close();
    await started.close();
    for (const part of [...extensions.list(), ...executors.values()]) await closePart(part, warn);
  };

  return {
    host: {
      setups,
      generation,
      pipeline: extensions.pipeline,
      isClosed: () => closing !== undefined,
      lifetime,
      track: inFlight.track,
      rewriteListing: extensions.rewriteListing,
      rank: rankWith(fixed.retriever, generation),
      servicesFor: services.chosen,
      stateFor: setups.stateFor,
      warn,
    },
    bundles,
    extensions,
    registration,
    generation,
    profiles: () => parts.profiles,
    sources: () => started.report(),
    warnings: () => [...new Set([...warnings.list(), ...problems()])],
    warn,
    onChange: generations.onChange,
    async apply(next) {
      const prepared = await started.prepare([codeSource, ...next.sources]);
      const base = { bundles: next.bundles, homes: homesOf(next.sources), found: prepared.bundles };
      try {
        // Everything that can be wrong is found before anything is changed.
        requireBundles(next.profiles, bundles.checkBase(base));
        extensions.checkGiven(next.extensions, next.turnedOff);
      } catch (cause) {
        await prepared.cancel();
        throw cause;
      }
      parts = next;
      bundles.replaceBase(base);
      extensions.replaceGiven(next.extensions, next.turnedOff);
      services.replace(next.services);
      await prepared.commit();
      markOld();
      announce();
    },
    async refresh() {
      await started.refresh();
      markOld();
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function requireBundles(profiles: ProfileSet, known: ReadonlySet<string>): void {
  for (const profile of profiles.byName.values()) checkProfileBundles(profile, known);
}

function sentence(reason = 'it failed'): string {
  return reason.endsWith('.') ? reason : `${reason}.`;
}

function rankWith(retriever: Retriever | undefined, generation: () => Generation): Retriever['rank'] {
  return createToolIndex(retriever ?? wordMatch(), () => generation().catalog);
}

function required(generations: Generations | undefined): Generations {
  if (generations !== undefined) return generations;
  throw new ToolcribError('not_started', 'The crib has not been started yet.');
}

interface Closable {
  readonly name?: string;
  readonly kind?: string;
  close?(): Promise<void>;
}

async function closePart(part: Closable, warn: (message: string) => void): Promise<void> {
  try {
    await part.close?.();
  } catch (cause) {
    warn(`Closing ${part.name ?? part.kind} failed: ${messageOf(cause)}`);
  }
}
