import type { Bundle } from '../core/bundle.ts';
import type { Executor } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import { describe } from '../core/known-keys.ts';
import type { Retriever } from '../core/retriever.ts';
import type { Source } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { type DefinedBundle, defineBundle } from '../runtime/define-bundle.ts';
import type { ToolInput } from '../runtime/define-tool.ts';
import { type CribOptions, readExecutors, readProfiles } from './crib-options.ts';
import type { ProfileSet } from './generation.ts';

/** What a crib is made of, checked: the part that stays as long as it lives. */
export interface FixedParts {
  readonly tools: readonly ToolInput[];
  readonly executors: ReadonlyMap<string, Executor>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly retriever: Retriever | undefined;
}

/** The part that a changed configuration changes. */
export interface Parts {
  readonly bundles: readonly DefinedBundle[];
  readonly profiles: ProfileSet;
  readonly sources: readonly Source[];
  readonly extensions: readonly Extension[];
  /** Names of built-in extensions that are not wanted. */
  readonly turnedOff: readonly string[];
  readonly services: Readonly<Record<string, unknown>> | undefined;
  /** What is said but hardly meant, or not possible yet. */
  readonly problems: readonly string[];
}

export function readFixedParts(options: CribOptions): FixedParts {
  return {
    tools: options.tools ?? [],
    executors: readExecutors(options.executors),
    options: Object.freeze({ ...options.options }),
    retriever: options.retriever,
  };
}

export function readParts(options: CribOptions): Parts {
  return {
    bundles: Array.from(options.bundles ?? [], (bundle) => defineBundle(bundle)), // holes included
    profiles: readProfiles(options.profiles, options.defaultProfile),
    sources: requireSources(options.sources ?? []),
    extensions: options.extensions ?? [],
    turnedOff: [],
    services: options.services,
    problems: [],
  };
}

/** Throws for what is no source, or two of one name. */
export function requireSources(sources: readonly Source[]): readonly Source[] {
  const names = new Set(['code']);
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
