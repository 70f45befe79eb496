import type { CustomExtensionConfig, ExtensionsConfig } from '../../config/types/guards.ts';
import type { Extension } from '../../core/extension.ts';
import { canonicalJson, isRecord } from '../../core/json.ts';
import { defined, didYouMean } from '../../core/read-options.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { HOOKS, isHook } from '../../define/define-extension.ts';
import { EXTENSION_ENTRIES } from '../../extensions/index.ts';
import { importExport, importExports, splitReference } from '../../system/modules/import-module.ts';
import { isClass } from '../../system/modules/tool-class.ts';
import { readExtension } from '../bind-extensions.ts';
import { makeExtension } from '../built-ins.ts';

type Entry = ExtensionsConfig[string];

/** Creates the extensions of a configuration. An unchanged entry stays the same object and keeps its counts. */
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
    // Built-ins in the order of their table, then custom ones in configuration order.
    const own = Object.keys(config).filter((name) => !EXTENSION_ENTRIES.has(name));
    const names = [...EXTENSION_ENTRIES.keys(), ...own];
    return (await Promise.all(names.map((name) => readEntry(name, config[name], folder)))).flat();
  };
}

/** Names of built-ins that the configuration turns off. */
export function turnedOff(config: ExtensionsConfig): readonly string[] {
  const off = [...EXTENSION_ENTRIES].filter(([entry]) => config[entry] === false);
  return off.flatMap(([, records]) => records.map(({ name }) => name));
}

async function makeExtensions(name: string, entry: Entry, folder: string): Promise<readonly Extension[]> {
  if (entry === undefined || entry === false) return [];
  if ('module' in entry) return [await importExtension(name, entry, folder)];
  const records = EXTENSION_ENTRIES.get(name) ?? [];
  return records.flatMap((record) => {
    const own = Object.entries(entry).filter(([key]) => record.options?.properties?.[key] !== undefined);
    // An extension that the entry does not configure stays the built-in one, unless the entry is its own and replaces its usual options.
    const isMeant = own.length > 0 || (record.entry === undefined && record.usual !== undefined);
    return isMeant ? [makeExtension(record, Object.fromEntries(own))] : [];
  });
}

/** Imports a custom extension: the module exports an extension, a function or class that creates one from the options, or hooks. */
async function importExtension(name: string, entry: CustomExtensionConfig, folder: string): Promise<Extension> {
  const { module, priority, unsafeOrder, options = {} } = entry;
  const exported = await importWhatIsMeant(module, folder);
  const made = await makeOf(exported, options);
  if (typeof made !== 'object' || made === null) {
    const guess = typeof exported === 'function' ? didYouMean(exported.name, HOOKS) : '';
    throw new ToolcribError(
      'invalid_config',
      `The extension "${name}": ${module} exports neither an extension nor a function that creates one.${guess}`,
    );
  }
  return readExtension(made, {
    name,
    ...defined({ priority, unsafeOrder }),
  });
}

/** The export of a reference, or the module itself if it exports hooks, or several members without a default. */
async function importWhatIsMeant(module: string, folder: string): Promise<unknown> {
  if (splitReference(module).name !== undefined) return importExport(module, folder);
  const exports = await importExports(module, folder);
  const names = Object.keys(exports);
  const hooks = names.filter(isHook);
  if (!Object.hasOwn(exports, 'default'))
    return hooks.length > 0 || names.length > 1 ? exports : importExport(module, folder);
  const beside = hooks.find((hook) => !isRecord(exports.default) || exports.default[hook] !== exports[hook]);
  if (beside === undefined) return exports.default;
  throw new ToolcribError(
    'invalid_config',
    `${module} exports "${beside}" next to a default export, so it would never be called; move it into the default export.`,
  );
}

async function makeOf(exported: unknown, options: object): Promise<unknown> {
  if (typeof exported !== 'function') return exported;
  return isClass(exported) ? new exported(options) : await exported(options);
}
