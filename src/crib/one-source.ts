import type { Config } from './config/loaded-config.ts';
import { createObservedCrib } from './create-crib.ts';
import type { Crib } from './crib.ts';

/** A crib for one source of a configuration. */
export interface OneSource {
  readonly crib: Crib;
  /** The names of all sources of the configuration. */
  readonly names: readonly string[];
}

/** Opens a crib in which only the source of this name starts, in the background; no source at all where none is named. Profiles, bundles and tools of the configuration are left out: they may name what the others bring. */
export async function openOneSource(configFile: string, name?: string): Promise<OneSource> {
  let names: readonly string[] = [];
  const observe = ({ sources, secrets, store, executors, access }: Config): Config => {
    names = Object.keys(sources);
    const entry = name === undefined ? undefined : Object.entries(sources).find(([one]) => one === name);
    return {
      sources: Object.fromEntries(entry === undefined ? [] : [entry]),
      ...(secrets !== undefined && { secrets }),
      ...(store !== undefined && { store }),
      ...(executors !== undefined && { executors }),
      ...(access !== undefined && { access }),
    };
  };
  const crib = await createObservedCrib({ configFile, watch: false, background: true }, observe);
  return { crib, names: [...new Set([...names, ...crib.sources().map((source) => source.name)])] };
}
