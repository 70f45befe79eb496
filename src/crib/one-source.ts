import { createObservedCrib } from './create-crib.ts';
import type { Crib } from './crib.ts';
import { type CribDefinition, withoutSources } from './crib-definition.ts';

/** A crib with a single source of a configuration. */
export interface OneSource {
  readonly crib: Crib;
  /** The names of all sources of the configuration. */
  readonly names: readonly string[];
}

/** Opens a crib in which only the source of this name starts, in the background; without a name, no source starts. */
export async function openOneSource(configFile: string, name?: string): Promise<OneSource> {
  let names: readonly string[] = [];
  const narrow = (definition: CribDefinition): CribDefinition => {
    names = definition.sources.map((source) => source.name);
    return { ...withoutSources(definition), sources: definition.sources.filter((source) => source.name === name) };
  };
  const crib = await createObservedCrib({ configFile, watch: false, background: true }, undefined, narrow);
  return { crib, names };
}
