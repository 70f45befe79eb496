import type { AccessConfig, ServerConfig } from '../config/types/config.ts';
import type { TasksConfig } from '../config/types/tasks.ts';
import type { Bundle } from '../core/bundle.ts';
import type { ProfileSet } from '../core/catalog.ts';
import type { Executor } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import { META_SOURCE } from '../core/meta-tools.ts';
import { type CribContext, NO_CONTEXT } from '../core/ports/crib-context.ts';
import type { Schedule } from '../core/ports/stored-schedules.ts';
import type { Profile } from '../core/profile.ts';
import { describe } from '../core/read-options.ts';
import type { Retriever } from '../core/retriever.ts';
import type { Source } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type DefinedBundle, defineBundle } from '../define/define-bundle.ts';
import { toolsOption } from '../define/read-tool.ts';
import type { Usage } from '../extensions/usage.ts';
import type { ExampleRequests } from '../search/examples/read-examples.ts';
import type { OpenRetriever } from '../search/search-index.ts';
import { readExtension } from './bind-extensions.ts';
import type { Configuration } from './configured/configuration.ts';
import { openBuiltin } from './configured/configured-retrieval.ts';
import { type CribOptions, readExecutors, readProfiles } from './crib-options.ts';
import { metaSources, ownToolsOf } from './own-tools/own-tools.ts';
import type { OnDuplicate } from './sources/name-clashes.ts';

/** The checked parts of a crib that stay the same for its lifetime. */
export interface FixedDefinition {
  readonly tools: readonly unknown[];
  readonly executors: ReadonlyMap<string, Executor>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly retriever: Retriever | undefined;
  readonly context: CribContext;
}

/** The checked parts of a crib that an edit of the configuration can replace. */
export interface CribDefinition {
  readonly bundles: readonly DefinedBundle[];
  readonly profiles: ProfileSet;
  readonly sources: readonly Source[];
  /** False if no source is started: then unmatched selectors are not reported. */
  readonly hasTools: boolean;
  readonly onDuplicate: OnDuplicate;
  readonly extensions: readonly Extension[];
  /** Names of built-in extensions that are turned off. */
  readonly turnedOff: readonly string[];
  readonly services: Readonly<Record<string, unknown>> | undefined;
  /** Authentication settings; without them only this machine has access. */
  readonly access: AccessConfig | undefined;
  readonly server: ServerConfig | undefined;
  readonly tasks: TasksConfig | undefined;
  /** The names of the services of the configuration. Every process with it has them. */
  readonly configuredServices: readonly string[];
  /** The schedules of the configuration, by name. */
  readonly schedules: ReadonlyMap<string, Schedule>;
  /** Opens the retriever, unless code passes one. */
  readonly openRetriever: OpenRetriever;
  /** Further requests of tools, for search alone. */
  readonly examples?: ExampleRequests | undefined;
  /** Usage counts that order equally good matches; undefined if turned off. */
  readonly usage: Usage | undefined;
  /** Warnings about settings that are probably mistakes, or not supported yet. */
  readonly problems: readonly string[];
  /** Mistakes in entries of sources, one sentence each; also part of `problems`. */
  readonly mistakes: readonly string[];
  /** Explains how entries pasted from other programs were read. */
  readonly readings: readonly string[];
}

export function readFixedDefinition(
  options: CribOptions,
  { context = NO_CONTEXT, executors = [] }: Partial<Pick<Configuration, 'context' | 'executors'>> = {},
): FixedDefinition {
  return {
    tools: toolsOption(options.tools) ?? [],
    executors: readExecutors(executors, options.executors),
    options: Object.freeze({ ...options.options }),
    retriever: options.retriever,
    context,
  };
}

export function readDefinition(options: CribOptions): CribDefinition {
  const profiles = readProfiles(options.profiles, options.defaultProfile);
  return {
    bundles: Array.from(options.bundles ?? [], (bundle) => defineBundle(bundle)), // holes become undefined
    profiles,
    sources: [...requireSources(options.sources ?? []), ...metaSources(ownToolsOf(profiles))],
    hasTools: true,
    onDuplicate: 'skip',
    extensions: Array.from(options.extensions ?? [], (extension) => readExtension(extension)), // holes become undefined
    turnedOff: [],
    services: options.services,
    access: undefined,
    server: undefined,
    tasks: undefined,
    configuredServices: [],
    schedules: new Map(),
    openRetriever: openBuiltin,
    usage: undefined,
    problems: [],
    mistakes: [],
    readings: [],
  };
}

/** The definition of a crib that starts no source. Its profiles name no bundles, since bundles of sources would be unknown. */
export function withoutSources(definition: CribDefinition): CribDefinition {
  const { byName, usual, everything } = definition.profiles;
  const withoutBundles = ({ essential: _essential, active: _active, ...profile }: Profile): Profile => profile;
  const profiles: ProfileSet = {
    byName: new Map([...byName].map(([name, profile]) => [name, withoutBundles(profile)])),
    usual: withoutBundles(usual),
    everything,
  };
  return { ...definition, bundles: [], sources: [], profiles, problems: [], mistakes: [], hasTools: false };
}

/** Throws for an invalid source, and for two sources with the same name. */
export function requireSources(sources: readonly Source[]): readonly Source[] {
  const names = new Set(['code', META_SOURCE]);
  for (const source of sources) {
    if (typeof source?.name !== 'string' || typeof source.start !== 'function') {
      throw new ToolcribError('invalid_option', `A source must have a name and start(); got ${describe(source)}.`);
    }
    if (names.has(source.name)) {
      throw new ToolcribError('duplicate', `Two sources are named "${source.name}"; rename one of them.`);
    }
    names.add(source.name);
  }
  return sources;
}

/** The bundle of each source, with all its tools. */
export function homesOf(sources: readonly Source[]): readonly Bundle[] {
  return sources
    .filter((source) => source.bundle !== false)
    .map((source) =>
      Object.freeze({ name: source.bundle || source.name, include: Object.freeze([`source:${source.name}`]) }),
    );
}
