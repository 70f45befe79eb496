import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../core/tool-error.ts';
import { createFolderWatch, type FolderWatch } from '../../system/watch.ts';
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
  onChange(): void;
  warn(message: string): void;
}

/** Watches the files of a configuration, and those that its sources take secrets and variables from: there others may write, too. */
export function watchConfiguration({ used, onChange, warn }: Watching) {
  const onSecretFile = () => void used.hasChanged().then((hasChanged) => hasChanged && onChange());
  let watched: readonly string[] = [];
  let lastState: string | undefined;
  // Other files lie in the same folders. A log of this process would be an edit by which it grows.
  const onEdit = (): void => {
    const state = stateOf(watched);
    if (state === lastState) return;
    lastState = state;
    onChange();
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
      watched = [...files, ...files.flatMap((file) => BESIDE.map((name) => join(dirname(file), name)))];
      follow(edits, files);
      follow(secretEdits, secretFiles);
    },
    close() {
      edits.close();
      secretEdits.close();
    },
  };
}

/** Other text after an edit of any of the files. */
function stateOf(files: readonly string[]): string {
  return files.map((file) => [file, stampOf(file)].join()).join('\n');
}

function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs].join();
  } catch (cause) {
    return messageOf(cause);
  }
}
