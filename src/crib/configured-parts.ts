import type { Extension } from '../core/extension.ts';
import { canonicalJson } from '../core/json.ts';
import type { Selector } from '../core/selector.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { defineBundle } from '../runtime/define-bundle.ts';
import { importExport } from '../runtime/modules/import-export.ts';
import { approval, concurrency, rateLimit, retry, timeout } from './built-ins.ts';
import type {
  BuiltInExtensionsConfig,
  Config,
  CustomExtensionConfig,
  ExtensionsConfig,
  ProfileConfig,
} from './config/config.ts';
import type { LoadedConfig } from './config/loaded-config.ts';
import type { ConfiguredSources } from './configured-sources.ts';
import { type CribOptions, readProfiles } from './crib-options.ts';
import { type Parts, readParts, requireSources } from './parts.ts';
import type { ProfileInput } from './read-profile.ts';

/** Reads a configuration into parts, each time it has changed. What says the same as before stays the same object and keeps its state. */
export type ConfiguredParts = (loaded: LoadedConfig) => Promise<Parts>;

/** Joins the parts that code gave with those of a configuration. What is not possible yet is a problem, not a mistake. */
export function createConfiguredParts(options: CribOptions, sourcesOf: ConfiguredSources): ConfiguredParts {
  const extensionsOf = remembered((config: ExtensionsConfig, folder: string) => readExtensions(config, folder));
  const servicesOf = remembered((references: Readonly<Record<string, string>>, folder: string) =>
    importServices(references, folder),
  );
  const code = readParts({ ...options, profiles: {} });
  return async (loaded) => {
    const { config, folder } = loaded;
    const bundles = Object.entries(config.bundles ?? {}).map(([name, bundle]) => defineBundle({ ...bundle, name }));
    const profiles = { ...fromConfig(config.profiles ?? {}), ...options.profiles };
    const services = await servicesOf(config.services ?? {}, folder);
    return {
      bundles: [...code.bundles, ...bundles],
      profiles: readProfiles(profiles, options.defaultProfile ?? config.defaultProfile),
      sources: requireSources([...code.sources, ...(await sourcesOf(config))]),
      extensions: [...code.extensions, ...(await extensionsOf(config.extensions ?? {}, folder))],
      turnedOff: turnedOff(config),
      services: { ...services, ...options.services },
      problems: [...loaded.notes, ...loaded.problems.map(inWords), ...laterParts(config)],
    };
  };
}

/** Makes something of a part of the configuration, and again only when that part says something else. */
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

function inWords({ source, message, file, line }: LoadedConfig['problems'][number]): string {
  return `${file === undefined ? '' : `${file}:${line}: `}Source "${source}": ${message}`;
}

async function readExtensions(config: ExtensionsConfig, folder: string): Promise<readonly Extension[]> {
  return [...tunedExtensions(config), ...(await customExtensions(config, folder))];
}

type Tuned = keyof BuiltInExtensionsConfig;

/** Built-ins that can be tuned, by the names they have in the configuration. */
const TUNABLE: { readonly [Name in Tuned]?: (options: never) => Extension } = {
  approval,
  rateLimit,
  concurrency,
  timeout,
  retry,
};
const NOT_YET: readonly Tuned[] = ['logging', 'metrics', 'audit'];

function tunedExtensions(config: BuiltInExtensionsConfig): readonly Extension[] {
  return Object.entries(TUNABLE).flatMap(([name, make]) => {
    const options = config[name as Tuned]; // a key of the table
    if (options === undefined || options === false) return [];
    const { webhook: _webhook, ...rest } = options as { webhook?: unknown }; // reported as not available
    return [make(rest as never)]; // checked against the schema of its options
  });
}

function turnedOff({ extensions = {} }: Config): readonly string[] {
  return Object.keys(TUNABLE).filter((name) => extensions[name] === false);
}

/** Extensions of somebody's own: the module exports one, or makes one of the entry's options. */
async function customExtensions(extensions: ExtensionsConfig, folder: string): Promise<readonly Extension[]> {
  const entries = Object.entries(extensions).filter(
    ([, entry]) => typeof entry === 'object' && entry !== null && 'module' in entry,
  );
  return Promise.all(
    entries.map(async ([name, entry]) => {
      const { module, priority, unsafeOrder, options = {} } = entry as CustomExtensionConfig; // it has a module
      const exported = await importExport(module, folder);
      const made: unknown = typeof exported === 'function' ? await exported(options) : exported;
      if (typeof made !== 'object' || made === null) {
        throw new ToolcribError(
          'invalid_config',
          `The extension "${name}": ${module} does not export an extension, nor a function that makes one.`,
        );
      }
      return {
        ...(made as Extension),
        name,
        ...(priority !== undefined && { priority }),
        ...(unsafeOrder !== undefined && { unsafeOrder }),
      }; // judged with the others
    }),
  );
}

/** A service is what its module exports, or what the function it exports makes. */
async function importServices(
  references: Readonly<Record<string, string>>,
  folder: string,
): Promise<Readonly<Record<string, unknown>>> {
  const entries = Object.entries(references).map(async ([name, reference]) => {
    try {
      const exported = await importExport(reference, folder);
      return [name, typeof exported === 'function' ? await exported() : exported] as const;
    } catch (cause) {
      throw new ToolcribError('invalid_config', `The service "${name}": ${messageOf(cause)}`, { cause });
    }
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Rules are not judged yet. Until they are, what they would judge always asks, or is not there: stricter, never looser. */
function fromConfig(profiles: Readonly<Record<string, ProfileConfig>>): Readonly<Record<string, ProfileInput>> {
  const read = ([name, profile]: [string, ProfileConfig]): [string, ProfileInput] => {
    const { rules = [], delegate: _delegate, policy, ...rest } = profile;
    const { price: _price, budgets: _budgets, ...limits } = policy ?? {};
    const toolsOf = (otherwise: string): readonly Selector[] =>
      rules.filter((rule) => rule.otherwise === otherwise).flatMap((rule) => selectorsOf(rule.tools));
    const approve = [...selectorsOf(profile.approve), ...toolsOf('approve')];
    const exclude = [...selectorsOf(profile.exclude), ...toolsOf('deny')];
    return [
      name,
      { ...rest, policy: limits, ...(approve.length > 0 && { approve }), ...(exclude.length > 0 && { exclude }) },
    ];
  };
  return Object.fromEntries(Object.entries(profiles).map(read));
}

function selectorsOf(value: string | readonly Selector[] | undefined): readonly Selector[] {
  return typeof value === 'string' ? [value] : (value ?? []);
}

/** What the configuration says and this version cannot do. */
function laterParts(config: Config): readonly string[] {
  const profiles = Object.entries(config.profiles ?? {});
  const having = (key: 'rules' | 'delegate') =>
    profiles.filter(([, profile]) => profile[key] !== undefined).map(([name]) => name);
  const budgets = profiles.filter(([, profile]) => profile.policy?.budgets !== undefined).map(([name]) => name);
  const parts = [
    ...NOT_YET.filter((name) => config.extensions?.[name]).map((name) => `extensions.${name} has no effect`),
    ...(typeof config.extensions?.approval === 'object' && config.extensions.approval.webhook
      ? ['extensions.approval.webhook is not called']
      : []),
    ...having('rules').map(
      (name) => `the rules of profile "${name}" are not judged: what they name always asks, or is left out`,
    ),
    ...having('delegate').map((name) => `profile "${name}" cannot delegate`),
    ...budgets.map((name) => `the budgets of profile "${name}" are not kept`),
    ...(['executors', 'results', 'access', 'server', 'retrieval'] as const)
      .filter((key) => config[key] !== undefined)
      .map((key) => `"${key}" has no effect`),
    ...(config.onDuplicate === 'error'
      ? ['onDuplicate: error has no effect; names that clash are held back and reported']
      : []),
  ];
  return parts.map((part) => `Not available in this version: ${part}.`);
}
