import type { WrittenConfig } from '../config/types/config.ts';
import type { ProfileSet } from '../core/catalog.ts';
import { type Executor, REPLACES } from '../core/executor.ts';
import type { HostAgent } from '../core/ports/host-agent.ts';
import { describe, didYouMean, readOptions } from '../core/read-options.ts';
import type { Retriever } from '../core/retriever.ts';
import type { Source } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { BundleInput, DefinedBundle } from '../define/define-bundle.ts';
import type { ExtensionInput } from '../define/define-extension.ts';
import { type AnyTool, type NamedTools, toolsOption } from '../define/read-tool.ts';
import { functionExecutor } from '../kinds/function/function.ts';
import { readStoreUrl } from '../store/store-url.ts';
import type { SecretDeclaration } from '../system/secrets/secrets.ts';
import { type ProfileInput, readProfile } from './catalog/read-profile.ts';

/** Options for creating a crib. */
export interface CribOptions {
  /** Tools in any form: specs, plain objects, classes and instances, tools of OpenAI, LangChain and the AI SDK; as a list or by name. */
  readonly tools?: readonly AnyTool[] | NamedTools;
  readonly bundles?: readonly (BundleInput | DefinedBundle)[];
  readonly profiles?: Readonly<Record<string, ProfileInput>>;
  /** The profile used if none is named. If absent: the profile `default`, else the only profile, else all tools. */
  readonly defaultProfile?: string;
  readonly sources?: readonly Source[];
  /** Custom extensions. One with the name of a built-in replaces it. */
  readonly extensions?: readonly ExtensionInput[];
  readonly executors?: readonly Executor[];
  /** Agents of the host, by the name in `run: { kind: agent, host }`: functions that answer, with tools that run through the crib. */
  readonly agents?: Readonly<Record<string, HostAgent>>;
  /** Services for tools that list them in `needs`. */
  readonly services?: Readonly<Record<string, unknown>>;
  /** Options for the `setup` of every bundle. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly retriever?: Retriever;
  /** The configuration file, or the folder of a `toolcrib.yaml`. It is merged with these options. */
  readonly configFile?: string;
  /** The configuration as an object. Relative paths start from the working directory. */
  readonly config?: WrittenConfig;
  /** Applies edits of the configuration and its files while running; default true. */
  readonly watch?: boolean;
  /** Lets `createCrib` resolve before MCP servers with unknown tools have answered; default false. */
  readonly background?: boolean;
  /** True for a worker: it starts sources with `runOn: worker`. A list names those that it starts. Default false: their calls are handed to workers. */
  readonly worker?: boolean | readonly string[];
  readonly secrets?: Readonly<Record<string, SecretDeclaration>>;
  /** `memory`, a path from the working directory, or a URL (`sqlite:path`, `postgres://...`), also as `{ url }`. */
  readonly store?: string | { readonly url: string };
}

/** Options checked by `readCribOptions`. */
export interface ReadCribOptions extends Omit<CribOptions, 'store'> {
  readonly store?: { readonly url: string };
}

const KEYS = [
  'tools',
  'bundles',
  'profiles',
  'defaultProfile',
  'sources',
  'extensions',
  'executors',
  'agents',
  'services',
  'options',
  'retriever',
  'config',
  'configFile',
  'watch',
  'background',
  'worker',
  'secrets',
  'store',
] as const;
/** Options of an earlier design, and their replacements. */
const OLD_OPTIONS: readonly (readonly [names: readonly string[], now: string])[] = [
  [['tool_classes', 'toolClasses'], 'bundles'],
  [['essential_toolsets', 'essentialToolsets'], 'profiles: { NAME: { essential: [...] } }'],
  [['active_toolsets', 'activeToolsets'], 'profiles: { NAME: { active: [...] } }'],
];

function refuseOldOptions(value: unknown): void {
  const given = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  for (const [names, now] of OLD_OPTIONS) {
    const old = names.find((name) => given.includes(name));
    if (old !== undefined) throw new ToolcribError('unknown_option', `createCrib has no "${old}"; write ${now}.`);
  }
}

/** Checks the options of `createCrib`. Throws for unknown or invalid ones. */
export function readCribOptions(value: unknown): ReadCribOptions {
  refuseOldOptions(value);
  const given = readOptions<CribOptions>(value, KEYS, 'createCrib');
  for (const key of ['tools', 'bundles', 'sources', 'extensions', 'executors'] as const) {
    const isList = Array.isArray(given[key]) || (key === 'tools' && toolsOption(given.tools) !== undefined);
    if (given[key] !== undefined && !isList) {
      throw new ToolcribError(
        'invalid_option',
        `The option "${key}" of createCrib must be a list, got ${describe(given[key])}.`,
      );
    }
  }
  for (const key of ['options', 'secrets', 'config'] as const) requireObject(given[key], key);
  for (const [name, agent] of Object.entries(requireObject(given.agents, 'agents')))
    if (typeof agent !== 'function')
      throw new ToolcribError('invalid_option', `The agent "${name}" must be a function, got ${describe(agent)}.`);
  if (given.configFile !== undefined && typeof given.configFile !== 'string') {
    throw new ToolcribError(
      'invalid_option',
      `The option "configFile" of createCrib must be a path, got ${describe(given.configFile)}.`,
    );
  }
  if (given.configFile !== undefined && given.config !== undefined) {
    throw new ToolcribError('invalid_option', 'createCrib accepts config or configFile, not both.');
  }
  if (!isWorkerOption(given.worker)) {
    const got = describe(given.worker);
    throw new ToolcribError(
      'invalid_option',
      `The option "worker" of createCrib must be true, false, or a list of names of sources, got ${got}.`,
    );
  }
  if (given.retriever !== undefined) requireRetriever(given.retriever);
  const { store, ...rest } = given;
  return store === undefined ? rest : { ...rest, store: { url: readStore(store) } };
}

function isWorkerOption(worker: unknown): boolean {
  if (worker === undefined || typeof worker === 'boolean') return true;
  return Array.isArray(worker) && worker.every((name) => typeof name === 'string');
}

function readStore(store: unknown): string {
  if (typeof store === 'string') return readStoreUrl(store);
  if (typeof store !== 'object' || store === null || Array.isArray(store)) throw notAStore(store);
  const { url } = readOptions<{ readonly url: string }>(store, ['url'], 'The option "store" of createCrib');
  if (typeof url === 'string') return url;
  throw notAStore(url);
}

function notAStore(got: unknown): ToolcribError {
  const message = `The option "store" of createCrib must be 'memory', a path, a URL, or { url }; got ${describe(got)}.`;
  return new ToolcribError('invalid_option', message);
}

/** The profile with all tools, for the operator. */
const EVERYTHING = readProfile('all', {});

/** Checks all profiles and selects the default. */
export function readProfiles(given: CribOptions['profiles'], defaultProfile: string | undefined): ProfileSet {
  const entries = Object.entries(requireObject(given, 'profiles'));
  const byName = new Map(entries.map(([name, profile]) => [name, readProfile(name, profile)]));
  if (defaultProfile !== undefined && typeof defaultProfile !== 'string') {
    throw new ToolcribError('invalid_option', `defaultProfile must be a name, got ${describe(defaultProfile)}.`);
  }
  if (defaultProfile !== undefined && !byName.has(defaultProfile)) {
    throw new ToolcribError(
      'unknown_profile',
      `defaultProfile names "${defaultProfile}", which does not exist.${didYouMean(defaultProfile, byName.keys())}`,
    );
  }
  const only = byName.size === 1 ? [...byName.values()][0] : undefined;
  return { byName, usual: byName.get(defaultProfile ?? 'default') ?? only ?? EVERYTHING, everything: EVERYTHING };
}

/** Executors by kind, always with one for functions. `own` are executors of the crib and its configuration, `given` those passed in code. */
export function readExecutors(
  own: readonly Executor[],
  given: readonly Executor[] = [],
): ReadonlyMap<string, Executor> {
  const byKind = new Map<string, Executor>();
  const missing = own.some(({ kind }) => kind === 'function') ? [] : [functionExecutor()];
  for (const executor of [...missing, ...own]) addExecutor(byKind, requireExecutor(executor));
  const fakes = new Set<string>();
  for (const executor of given) {
    const { kind, [REPLACES]: replaces } = requireExecutor(executor);
    if (replaces !== true || fakes.has(kind)) addExecutor(byKind, executor);
    else byKind.set(kind, inPlaceOf(byKind.get(kind), executor));
    if (replaces === true) fakes.add(kind);
  }
  return byKind;
}

function requireExecutor(executor: Executor): Executor {
  if (typeof executor?.kind === 'string' && typeof executor.execute === 'function') return executor;
  throw new ToolcribError(
    'invalid_option',
    `An executor must have kind, runSchema and execute(); got ${describe(executor)}.`,
  );
}

function addExecutor(byKind: Map<string, Executor>, executor: Executor): void {
  if (byKind.has(executor.kind)) {
    const message = `Two executors have the kind "${executor.kind}"; keep one. In tests, use fakeExecutor() of toolcrib/testing to replace an executor.`;
    throw new ToolcribError('duplicate', message);
  }
  byKind.set(executor.kind, executor);
}

/** A fake that checks specs like the executor it replaces, and closes that one with itself. */
function inPlaceOf(replaced: Executor | undefined, fake: Executor): Executor {
  if (replaced === undefined) return fake;
  const { runSchema, check } = replaced;
  const review = () => ({
    problems: [],
    notes: [`The executor of kind "${fake.kind}" is replaced by a fake.`],
  });
  return {
    ...fake,
    runSchema,
    ...(check && { check: check.bind(replaced) }),
    review,
    close: async () => replaced.close?.(),
  };
}

function requireObject<T extends object>(value: T | undefined, key: string): T | Record<string, never> {
  if (value === undefined) return {};
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new ToolcribError(
    'invalid_option',
    `The option "${key}" of createCrib must be an object, got ${describe(value)}.`,
  );
}

function requireRetriever(retriever: Retriever): void {
  const missing = (['add', 'remove', 'rank'] as const).find((name) => typeof retriever?.[name] !== 'function');
  if (missing !== undefined)
    throw new ToolcribError(
      'invalid_option',
      `A retriever must have add, remove and rank; this one has no ${missing}.`,
    );
}
