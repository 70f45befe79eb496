import { readCaller } from '../core/caller.ts';
import type { CribContext } from '../core/ports/crib-context.ts';
import { KEPT_DAYS } from '../core/ports/stored-audit.ts';
import { resumeInWords, type StopKind, stopInWords } from '../core/ports/stored-stops.ts';
import { createStops } from '../stops/change-stops.ts';
import { explain } from './catalog/explain.ts';
import type { Crib } from './crib.ts';
import type { Engine } from './engine.ts';
import { chooseProfile } from './open.ts';

/** The members of a crib for emergency stops, and the explanation of a tool, which names them. */
export function createCribStops(engine: Engine, context: CribContext): Pick<Crib, 'stops' | 'explain'> {
  const { generation, profiles, sources, stops: live, trail, extensions, warn } = engine;
  const isRecorded = () => extensions.list().some((extension) => KEPT_DAYS in extension);
  const stops = createStops({
    ...context,
    live,
    trail: () => (isRecorded() ? trail : undefined),
    namesOf: (kind) => namesOf(kind, { generation, profiles, sources }),
    now: Date.now,
    warn,
  });
  return {
    stops,
    explain(given, profileName, tool) {
      const [caller, profile] = [readCaller(given), chooseProfile(profileName, profiles(), {})];
      const explanation = explain(generation(), profile, caller, tool);
      const source = generation().catalog.get(tool)?.source;
      const covering = live.covering({ tool, source, caller: caller.id, profile: profile.name });
      if (covering.length === 0) return explanation;
      const toText = (stop: (typeof covering)[number]): string =>
        `calls are refused, stopped by the operator (${context.redact(stopInWords(stop))}); to end it: ${resumeInWords([stop])}`;
      return { ...explanation, stops: covering.map(toText) };
    },
  };
}

function namesOf(
  kind: StopKind,
  { generation, profiles, sources }: Pick<Engine, 'generation' | 'profiles' | 'sources'>,
): readonly string[] | undefined {
  if (kind === 'caller') return undefined; // callers come and go
  if (kind === 'tool') return generation().catalog.specs.map(({ name }) => name);
  if (kind === 'source') return sources().map(({ name }) => name);
  const { byName, usual, everything } = profiles();
  return [...byName.keys(), usual.name, everything.name];
}
