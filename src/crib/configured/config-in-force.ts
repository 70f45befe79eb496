import { dirname, join } from 'node:path';
import { createFolderWatch, type FolderWatch, stampOf } from '../../system/watch.ts';
import { CONFIG_FILE_NAMES, type Config, type LoadedConfig, type SourceConfig } from '../config/loaded-config.ts';
import type { SourceSecrets } from './source-secrets.ts';

/** The current configuration of a running crib. */
export interface ConfigInForce {
  /** The last configuration that was not rejected. */
  loaded(): LoadedConfig;
  /** The current configuration, with the previous version of entries that are invalid now, as their sources still run. */
  config(): Config;
  /** Tries an edit: its entries apply from now on, and removed entries apply until it is accepted. */
  tryOut(next: LoadedConfig): void;
  accept(): void;
  /** Restores the state before the edit. */
  refuse(): void;
}

type Entries = Readonly<Record<string, SourceConfig>>;

/** The state between two edits. */
interface Standing {
  readonly loaded: LoadedConfig;
  /** The last valid entry of each source. */
  readonly sources: Entries;
  readonly declared: LoadedConfig['declared'];
}

export function createConfigInForce(first: LoadedConfig): ConfigInForce {
  let standing: Standing = { loaded: first, sources: first.config.sources, declared: first.declared };
  let tried: LoadedConfig | undefined;
  let merged: Config | undefined;
  const loaded = () => tried ?? standing.loaded;
  const config = () => {
    const now = loaded().config;
    merged ??= { ...now, sources: { ...standing.sources, ...now.sources } };
    return merged;
  };
  const change = (next: LoadedConfig | undefined) => {
    tried = next;
    merged = undefined;
  };
  return {
    loaded,
    config,
    tryOut: change,
    accept() {
      if (tried !== undefined) standing = afterEdit(tried, standing);
      change(undefined);
    },
    refuse: () => change(undefined),
  };
}

function afterEdit(next: LoadedConfig, before: Standing): Standing {
  const broken = new Set(next.problems.map(({ source }) => source));
  const isKept = ({ name, from }: { readonly name: string; readonly from: string }) =>
    (broken.has(name) || broken.has(from)) && !Object.hasOwn(next.config.sources, name);
  const kept = before.declared.filter(isKept);
  const sources: Record<string, SourceConfig> = { ...next.config.sources };
  for (const { name } of kept) {
    const entry = before.sources[name];
    if (entry !== undefined) sources[name] = entry;
  }
  return { loaded: next, sources, declared: [...next.declared, ...kept] };
}

/** New files next to a configuration that count as an edit: another configuration, and packages with tools. */
const BESIDE = [...CONFIG_FILE_NAMES, 'package.json'];

interface Watching {
  readonly used: SourceSecrets;
  /** False if the configuration has changed since it was read. */
  isCurrent(): Promise<boolean>;
  onChange(): void;
  warn(message: string): void;
}

/** Watches the files of a configuration, and the files with secrets and variables of its sources. */
export function watchConfiguration({ used, isCurrent, onChange, warn }: Watching) {
  const onSecretFile = () => void used.hasChanged().then((hasChanged) => hasChanged && onChange());
  let stamps: ReadonlyMap<string, string> = new Map();
  let isListening = false;
  // Other files in these folders do not count; otherwise a log file of this process would trigger endless edits.
  const onEdit = (): void => {
    const now = new Map(Array.from(stamps.keys(), (file) => [file, stampOf(file)]));
    const isEdit = [...now].some(([file, stamp]) => stamp !== stamps.get(file));
    stamps = now;
    if (isEdit) onChange();
  };
  const edits = createFolderWatch({ onChange: onEdit, warn });
  const secretEdits = createFolderWatch({ onChange: onSecretFile, warn });
  const follow = (watch: FolderWatch, files: readonly string[]): void => {
    const folders = new Set(files.map((file) => dirname(file)));
    for (const folder of folders) watch.listen(folder);
    watch.keepOnly(folders);
  };
  return {
    listen(files: readonly string[], secretFiles: readonly string[]) {
      follow(edits, files);
      const watched = [...files, ...files.flatMap((file) => BESIDE.map((name) => join(dirname(file), name)))];
      stamps = new Map(watched.map((file) => [file, stamps.get(file) ?? stampOf(file)]));
      follow(secretEdits, secretFiles);
      if (isListening) return;
      isListening = true;
      void isCurrent().then((isSame) => isSame || onChange(), onChange); // an edit before watching started
    },
    close() {
      edits.close();
      secretEdits.close();
    },
  };
}
