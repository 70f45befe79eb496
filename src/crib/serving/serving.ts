import { runParkedCalls } from '../../approvals/parked-calls.ts';
import { parkedStateOf } from '../../approvals/parked-state.ts';
import { type Changes, compareCatalogs } from '../../core/catalog.ts';
import type { CribContext } from '../../core/ports/crib-context.ts';
import type { Source } from '../../core/source.ts';
import { idleClock } from '../../system/clock.ts';
import { noteListening } from '../../system/fetch/own-addresses.ts';
import { createActiveSets } from '../catalog/active-sets.ts';
import type { Crib } from '../crib.ts';
import type { Engine } from '../engine.ts';
import { openAgain } from '../open.ts';
import { readKeptResult } from './kept-results.ts';
import { createReadiness } from './readiness.ts';
import { noteServer } from './running-server.ts';

/** The members of a crib that doors need which serve many. */
type Serving = Pick<
  Crib,
  | 'activeSets'
  | 'endCalls'
  | 'idle'
  | 'isStarting'
  | 'keptResult'
  | 'listed'
  | 'noteListening'
  | 'onListings'
  | 'parked'
  | 'readiness'
  | 'reloadSource'
  | 'reloadStored'
  | 'runParked'
  | 'serverSettings'
  | 'warn'
>;

const OPERATOR = { id: 'operator', operator: true };

export function createServing(engine: Engine, context: CribContext, chests: Pick<Crib, 'open' | 'openAll'>): Serving {
  const { store, redact } = context;
  const { profiles, generation, warn } = engine;
  const activeSets = createActiveSets(store, (profile) => chests.open(profile, OPERATOR));
  const refresh = async (isMeant: (source: Source) => boolean): Promise<Changes> => {
    const before = generation().catalog;
    await engine.refresh(isMeant);
    return compareCatalogs(before, generation().catalog);
  };
  return {
    activeSets,
    onListings(listener) {
      const stops = [engine.onNext(listener), activeSets.onChange(listener)];
      return () => {
        for (const stop of stops) stop();
      };
    },
    idle: engine.idle,
    endCalls: engine.endCalls,
    isStarting: engine.host.isStarting,
    listed: engine.listed,
    keptResult: (id, by) => readKeptResult(store?.results, id, by),
    noteListening(place) {
      const stops = [noteListening(place), noteServer(context, place)];
      return () => {
        for (const stop of stops) stop();
      };
    },
    parked: async (callId, by) =>
      store === undefined ? undefined : parkedStateOf(callId, by, { approvals: store.approvals, redact }),
    readiness: createReadiness({ store, trail: engine.trail, sources: engine.sources }),
    reloadSource: async (name) =>
      engine.sources().some((source) => source.name === name) ? refresh((source) => source.name === name) : undefined,
    reloadStored: () => refresh((source) => source.readStored !== undefined),
    runParked() {
      if (store === undefined) return () => {}; // nothing can be parked either
      return runParkedCalls({
        approvals: store.approvals,
        clock: idleClock,
        openAgain: (made) => openAgain(chests, profiles(), made),
        mayBeListedLater: () => engine.sources().some(({ state }) => state !== 'ready'),
        findLost: async () => void (await engine.lostClaims.look()),
        warn,
      });
    },
    serverSettings: () => engine.server() ?? {},
    warn,
  };
}
