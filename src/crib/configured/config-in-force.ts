import { dirname, join } from 'node:path';
import { createFolderWatch, type FolderWatch, stampOf } from '../../system/watch.ts';
import { CONFIG_FILE_NAMES, type Config, type LoadedConfig, type SourceConfig } from '../config/loaded-config.ts';
import type { SourceSecrets } from './source-secrets.ts';

/** The configuration that a running crib goes by, from one edit to the next. */
export interface ConfigInForce {
  /** The one that was read last and not refused. */
  loaded(): LoadedConfig;
  /** The same with what entries said before that cannot be read now: their sources still run, under their own words. */
  config(): Config;
  /** Tries an edit: it counts from now on, and what it takes out counts until it is accepted. */
  tryOut(next: LoadedConfig): void;
  accept(): void;
  /** Everything is as it was before the edit. */
  refuse(): void;
}

type Entries = Readonly<Record<string, SourceConfig>>;

/** What holds between two edits. */
interface Standing {
  readonly loaded: LoadedConfig;
  /** What each source was told, those included whose entries cannot be read now. */
  readonly sources: Entries;
  readonly declared: LoadedConfig['declared'];
}

/** Starts with the configuration of the start. */
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

/** What comes into being beside a configuration and counts: another one, and packages that bring tools. */
const BESIDE = [...CONFIG_FILE_NAMES, 'package.json'];

interface Watching {
  readonly used: SourceSecrets;
  /** False if the configuration says something else by now than what was read. */
  isCurrent(): Promise<boolean>;
  onChange(): void;
  warn(message: string): void;
}

/** Watches the files of a configuration, and those that its sources take secrets and variables from: there others may write, too. */
export function watchConfiguration({ used, isCurrent, onChange, warn }: Watching) {
  const onSecretFile = () => void used.hasChanged().then((hasChanged) => hasChanged && onChange());
  let stamps: ReadonlyMap<string, string> = new Map();
  let isListening = false;
  // Other files lie in the same folders. A log of this process would be an edit by which it grows.
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
      void isCurrent().then((isSame) => isSame || onChange(), onChange); // an edit before anything listened
    },
    close() {
      edits.close();
      secretEdits.close();
    },
  };
}
