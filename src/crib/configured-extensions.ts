import type { Extension } from '../core/extension.ts';
import { canonicalJson } from '../core/json.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { importExport } from '../runtime/modules/import-export.ts';
import { configuredAudit } from './audit-extensions.ts';
import { approval, breaker, concurrency, rateLimit, retry, timeout } from './built-ins.ts';
import type { BuiltInExtensionsConfig, CustomExtensionConfig, ExtensionsConfig } from './config/config.ts';
import { configuredMetrics, logging } from './record-extensions.ts';

type Tuned = keyof BuiltInExtensionsConfig;
type Entry = ExtensionsConfig[string];

/** Built-ins that can be tuned, by the names they have in the configuration. */
const TUNABLE: { readonly [Name in Tuned]?: (options: never) => Extension | readonly Extension[] } = {
  approval,
  rateLimit,
  breaker,
  concurrency,
  timeout,
  retry,
  logging,
  metrics: configuredMetrics,
  audit: configuredAudit,
};

/** What goes with an entry that is off. */
const ALONG_WITH: Readonly<Record<string, readonly string[]>> = { metrics: ['trace'], audit: ['auditIntent'] };

/** The extensions a configuration names. An entry that says what it said before stays the same object and keeps its counts. */
export function createConfiguredExtensions(): (
  config: ExtensionsConfig,
  folder: string,
) => Promise<readonly Extension[]> {
  const known = new Map<string, { readonly text: string; readonly made: readonly Extension[] }>();
  const readEntry = async (name: string, entry: Entry, folder: string): Promise<readonly Extension[]> => {
    const text = canonicalJson(entry);
    const before = known.get(name);
    if (before?.text === text) return before.made;
    const made = await makeExtensions(name, entry, folder);
    known.set(name, { text, made });
    return made;
  };
  return async (config, folder) => {
    // Built-ins in the order of their table, then those of somebody's own in the order of the configuration.
    const own = Object.keys(config).filter((name) => !Object.hasOwn(TUNABLE, name));
    const names = [...Object.keys(TUNABLE), ...own];
    return (await Promise.all(names.map((name) => readEntry(name, config[name], folder)))).flat();
  };
}

/** Names of built-ins that the configuration turns off. */
export function turnedOff(config: ExtensionsConfig): readonly string[] {
  const names = Object.keys(TUNABLE).filter((name) => config[name] === false);
  return names.flatMap((name) => [name, ...(ALONG_WITH[name] ?? [])]);
}

async function makeExtensions(name: string, entry: Entry, folder: string): Promise<readonly Extension[]> {
  if (entry === undefined || entry === false) return [];
  if ('module' in entry) return [await importExtension(name, entry, folder)];
  return [TUNABLE[name as Tuned]?.(entry as never) ?? []].flat(); // checked against the schema of its options
}

/** An extension of somebody's own: the module exports one, or makes one of the entry's options. */
async function importExtension(name: string, entry: CustomExtensionConfig, folder: string): Promise<Extension> {
  const { module, priority, unsafeOrder, options = {} } = entry;
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
}
