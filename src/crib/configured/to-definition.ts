import type { ResultsConfig } from '../../config/types/config.ts';
import type { RetrievalConfig } from '../../config/types/retrieval.ts';
import type { ProfileSet } from '../../core/catalog.ts';
import { canonicalJson } from '../../core/json.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Schedule } from '../../core/ports/stored-schedules.ts';
import { didYouMean } from '../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { defineBundle } from '../../define/define-bundle.ts';
import { offload } from '../../extensions/offload.ts';
import { usage } from '../../extensions/usage.ts';
import { findAccessProblems } from '../../identity/roles.ts';
import { importExport } from '../../system/modules/import-module.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import { makeExtension } from '../built-ins.ts';
import { type Config, inWords, type LoadedConfig } from '../config/loaded-config.ts';
import { recordOf } from '../config/source-schema.ts';
import { type CribDefinition, readDefinition, requireSources } from '../crib-definition.ts';
import { type CribOptions, readProfiles } from '../crib-options.ts';
import { metaSources, OWN_TOOLS, ownToolsOf } from '../own-tools/own-tools.ts';
import { createConfiguredExtensions, turnedOff } from './configured-extensions.ts';
import { configuredRetrieval } from './configured-retrieval.ts';
import type { ConfiguredSources } from './configured-sources.ts';

/** Turns a loaded configuration into a definition. Unchanged parts stay the same objects and keep their state. */
export type ReadDefinition = (loaded: LoadedConfig) => Promise<CribDefinition>;

/** Dependencies of the definition reader. */
export interface DefinitionPorts {
  readonly sourcesOf: ConfiguredSources;
  readonly store: Store;
  readonly secrets: Secrets;
}

/** Merges the options in code with the configuration. A feature that is not supported yet is a warning, not an error. */
export function createDefinitionReader(options: CribOptions, given: DefinitionPorts): ReadDefinition {
  const extensionsOf = createConfiguredExtensions();
  const servicesOf = createServiceImports();
  const offloadOf = remembered(async (config: ResultsConfig) => [makeExtension(offload, config)]);
  const metaOf = remembered((names: readonly string[]) => readMetaSources(names, given.store));
  const schedulesOf = remembered(readSchedulesOf);
  const retrievalOf = remembered((config: RetrievalConfig, folder: string) =>
    configuredRetrieval(config, folder, given.secrets),
  );
  const counts = { ...usage.make(), name: usage.name, priority: usage.priority };
  const { defaultProfile: _profile, profiles: _profiles, ...rest } = options; // merged with those of the configuration
  const code = readDefinition(rest);
  return async (loaded) => {
    const { config, folder } = loaded;
    const bundles = Object.entries(config.bundles ?? {}).map(([name, bundle]) => defineBundle({ ...bundle, name }));
    const profiles = profilesOf(loaded, options);
    const services = await servicesOf(config.services ?? {}, folder);
    const kept = config.results === undefined ? [] : await offloadOf(config.results, folder);
    const counted = config.retrieval?.usage === true ? counts : undefined;
    const mistakes = loaded.problems.map(inWords);
    return {
      bundles: [...code.bundles, ...bundles],
      profiles,
      sources: [
        ...requireSources([...code.sources, ...(await given.sourcesOf(loaded))]),
        ...(await metaOf(namesOfOurs(config, profiles), folder)),
      ],
      hasTools: true,
      onDuplicate: config.onDuplicate ?? 'skip',
      extensions: [
        ...code.extensions,
        ...(await extensionsOf(config.extensions ?? {}, folder)),
        ...kept,
        ...(counted === undefined ? [] : [counted]),
      ],
      turnedOff: turnedOff(config.extensions ?? {}),
      services: { ...services.made, ...options.services },
      access: config.access,
      server: config.server,
      tasks: config.tasks,
      configuredServices: Object.keys(config.services ?? {}),
      schedules: await schedulesOf(config.schedules ?? {}, folder),
      examples: loaded.examples?.requests,
      openRetriever: await retrievalOf(config.retrieval ?? {}, folder),
      usage: counted,
      readings: loaded.readings,
      mistakes,
      problems: [
        ...[...loaded.notes, ...mistakes, ...services.problems],
        ...[...findAccessProblems(config.access, profiles), ...problemsOf(config)],
      ],
    };
  };
}

/** The sources of the crib's own tools with these names. */
async function readMetaSources(names: readonly string[], { results }: Store) {
  return metaSources([
    ...(names.includes('read_result') ? [(await import('../own-tools/read-result.ts')).readResult(results)] : []),
    ...OWN_TOOLS.filter(({ name }) => names.includes(name)),
  ]);
}

/** The schedules of a configuration. Loads their code only if there are any. */
async function readSchedulesOf(config: NonNullable<Config['schedules']>): Promise<ReadonlyMap<string, Schedule>> {
  if (Object.keys(config).length === 0) return new Map();
  const { readSchedules } = await import('../../tasks/schedule.ts');
  return (await readSchedules(config)).schedules;
}

/** The names of the crib's own tools that this configuration uses. */
function namesOfOurs({ results }: Config, profiles: ProfileSet): readonly string[] {
  return [...(results === undefined ? [] : ['read_result']), ...ownToolsOf(profiles).map(({ name }) => name)];
}

/** The profiles of code and configuration. The error for an unknown default profile shows its line in the configuration. */
function profilesOf(loaded: LoadedConfig, { profiles, defaultProfile }: CribOptions): ProfileSet {
  const { config } = loaded;
  try {
    const written = { ...config.profiles, ...profiles };
    return readProfiles(written, defaultProfile ?? config.defaultProfile);
  } catch (cause) {
    const isWritten =
      cause instanceof ToolcribError && cause.code === 'unknown_profile' && defaultProfile === undefined;
    if (!isWritten) throw cause;
    throw new ToolcribError(cause.code, loaded.show(['defaultProfile'], cause.message), { cause });
  }
}

/** Caches the result for a part of the configuration until that part changes. */
function remembered<Part, Made>(
  make: (part: Part, folder: string) => Promise<Made>,
): (part: Part, folder: string) => Promise<Made> {
  let last: { readonly text: string; readonly made: Made } | undefined;
  return async (part, folder) => {
    const text = canonicalJson(part);
    if (last?.text !== text) last = { text, made: await make(part, folder) };
    return last.made;
  };
}

/** Services of a configuration, and the errors of those that failed. */
interface ImportedServices {
  readonly made: Readonly<Record<string, unknown>>;
  readonly problems: readonly string[];
}

/** Imports services by name. A service that fails affects only the tools that need it, and is retried at the next reload. */
function createServiceImports(): (
  references: Readonly<Record<string, string>>,
  folder: string,
) => Promise<ImportedServices> {
  let known = new Map<string, { readonly reference: string; readonly service: unknown }>();
  return async (references, folder) => {
    const next: typeof known = new Map();
    const found = Object.entries(references).map(async ([name, reference]): Promise<readonly string[]> => {
      try {
        const last = known.get(name);
        const service = last?.reference === reference ? last.service : await importService(reference, folder);
        next.set(name, { reference, service });
        return [];
      } catch (cause) {
        return [`The service "${name}" failed to load, and tools that need it cannot be called: ${messageOf(cause)}`];
      }
    });
    const problems = (await Promise.all(found)).flat();
    known = next;
    const made = Object.keys(references).flatMap((name) => {
      const one = next.get(name);
      return one === undefined ? [] : [[name, one.service] as const];
    });
    return { made: Object.fromEntries(made), problems };
  };
}

/** A service is the export of its module, or the result of the exported function. */
async function importService(reference: string, folder: string): Promise<unknown> {
  const exported = await importExport(reference, folder);
  return typeof exported === 'function' ? exported() : exported;
}

/** Warnings about entries that have no effect. */
function problemsOf({ sources, access, retrieval = {}, executors }: Config): readonly string[] {
  const callers = access === undefined ? 'unknown' : 'known';
  const models = Object.keys(executors?.agent?.models ?? {});
  const { enrich, module, options, synonyms, embeddings } = retrieval;
  const missing =
    enrich === undefined || models.includes(enrich)
      ? []
      : [`retrieval.enrich: executors.agent.models has no "${enrich}".${didYouMean(enrich, models)}`];
  const idle = Object.entries(module === undefined ? { options } : { synonyms, embeddings })
    .filter(([, value]) => value !== undefined)
    .map(([key]) => `retrieval.${key} has no effect ${module === undefined ? 'without' : 'beside'} retrieval.module.`);
  const ofSources = Object.entries(sources).flatMap(
    ([name, entry]) => recordOf(entry).problemsOf?.(name, entry, callers) ?? [],
  );
  return [...missing, ...idle, ...ofSources];
}
