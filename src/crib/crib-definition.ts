import type { AccessConfig, ServerConfig } from '../config/types/config.ts';
import type { Bundle } from '../core/bundle.ts';
import type { ProfileSet } from '../core/catalog.ts';
import type { Executor } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import { META_SOURCE } from '../core/meta-tools.ts';
import { type CribContext, NO_CONTEXT } from '../core/ports/crib-context.ts';
import type { Profile } from '../core/profile.ts';
import { describe } from '../core/read-options.ts';
import type { Retriever } from '../core/retriever.ts';
import type { Source } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type DefinedBundle, defineBundle } from '../define/define-bundle.ts';
import { toolsOption } from '../define/read-tool.ts';
import type { Usage } from '../extensions/usage.ts';
import type { OpenRetriever } from '../search/search-index.ts';
import { SEARCH_META_TOOLS } from '../search/search-meta-tools.ts';
import { readExtension } from './bind-extensions.ts';
import type { Configuration } from './configured/configuration.ts';
import { openBuiltin } from './configured/configured-retrieval.ts';
import { type CribOptions, readExecutors, readProfiles } from './crib-options.ts';
import type { OnDuplicate } from './sources/name-clashes.ts';
import { metaSources, someoneSearches } from './sources/registration.ts';

/** What a crib is made of, checked: the part that stays as long as it lives. */
export interface FixedDefinition {
  readonly tools: readonly unknown[];
  readonly executors: ReadonlyMap<string, Executor>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly retriever: Retriever | undefined;
  readonly context: CribContext;
}

/** The part that a changed configuration changes. */
export interface CribDefinition {
  readonly bundles: readonly DefinedBundle[];
  readonly profiles: ProfileSet;
  readonly sources: readonly Source[];
  /** False where no source is started, so that a selector that matches nothing says nothing. */
  readonly hasTools: boolean;
  readonly onDuplicate: OnDuplicate;
  readonly extensions: readonly Extension[];
  /** Names of built-in extensions that are not wanted. */
  readonly turnedOff: readonly string[];
  readonly services: Readonly<Record<string, unknown>> | undefined;
  /** Who may come in; absent means only this machine. */
  readonly access: AccessConfig | undefined;
  readonly server: ServerConfig | undefined;
  /** What searches; only where code brings no retriever of its own. */
  readonly openRetriever: OpenRetriever;
  /** Decides between tools that fit equally well, where that is wanted. */
  readonly usage: Usage | undefined;
  /** What is said but hardly meant, or not possible yet. */
  readonly problems: readonly string[];
  /** Entries of sources that cannot be read, a sentence for each mistake; they stand among the problems, too. */
  readonly mistakes: readonly string[];
  /** How entries that were pasted from other programs were read. */
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
    bundles: Array.from(options.bundles ?? [], (bundle) => defineBundle(bundle)), // holes included
    profiles,
    sources: [
      ...requireSources(options.sources ?? []),
      ...metaSources(someoneSearches(profiles) ? SEARCH_META_TOOLS : []),
    ],
    hasTools: true,
    onDuplicate: 'skip',
    extensions: Array.from(options.extensions ?? [], (extension) => readExtension(extension)), // holes included
    turnedOff: [],
    services: options.services,
    access: undefined,
    server: undefined,
    openRetriever: openBuiltin,
    usage: undefined,
    problems: [],
    mistakes: [],
    readings: [],
  };
}

/** The definition of a crib that starts no source. Its profiles name no bundle, since those of sources are not there. */
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

/** Throws for what is no source, or two of one name. */
export function requireSources(sources: readonly Source[]): readonly Source[] {
  const names = new Set(['code', META_SOURCE]);
  for (const source of sources) {
    if (typeof source?.name !== 'string' || typeof source.start !== 'function') {
      throw new ToolcribError('invalid_option', `A source has a name and start; got ${describe(source)}.`);
    }
    if (names.has(source.name)) {
      throw new ToolcribError('duplicate', `There are two sources named "${source.name}"; rename one of them.`);
    }
    names.add(source.name);
  }
  return sources;
}

/** The bundles that sources make of their tools. */
export function homesOf(sources: readonly Source[]): readonly Bundle[] {
  return sources
    .filter((source) => source.bundle !== false)
    .map((source) =>
      Object.freeze({ name: source.bundle || source.name, include: Object.freeze([`source:${source.name}`]) }),
    );
}
