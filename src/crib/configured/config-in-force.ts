import type { Config, LoadedConfig, SourceConfig } from '../config/loaded-config.ts';

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
