import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Caller } from '../core/caller.ts';
import { canonicalJson, type JsonObject } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { Store } from '../core/ports/store.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { definitionHash } from '../specs/hashes.ts';
import { laterClock } from '../system/clock.ts';
import { createSeal, type Seal } from '../system/seal.ts';

/** The call that a state belongs to. */
interface StateSubject {
  readonly caller: Caller;
  readonly profile: string;
  /** The name that the client called, which is another one than that of the tool where it called `call_tool`. */
  readonly called: string;
  readonly spec: ToolSpec;
  /** As they came from the client. What they mean depends on the name that was called. */
  readonly arguments: unknown;
}

/** What a client carries from one request of a call to the next, as texts that it can neither read nor change. */
export interface CribRequestStates {
  /** A text for this caller, profile, tool, arguments and definition, that counts once and until then. */
  seal(subject: StateSubject, content: JsonObject, expiresAt: number): Promise<string>;
  /**
   * What was sealed; undefined if it is not ours, was changed, is for something else, over, or used before. Rejects with
   * code `too_many_states` where no more used ones can be kept: one that could be used twice is not used at all.
   */
  open(subject: StateSubject, sealed: string): Promise<JsonObject | undefined>;
}

interface Sealed {
  readonly id: string;
  readonly subject: string;
  readonly expiresAt: number;
  readonly content: JsonObject;
}

const PURPOSE = 'request-state';

/** States under a key of the store, so that any replica can take up what another began; without a store they end with the process. */
export function createRequestStates(
  store: Pick<Store, 'sealKeys' | 'repeats'> | undefined,
  clock: Pick<Clock, 'now'> = laterClock,
): CribRequestStates {
  const sealOf = keptSeal(store);
  const room = createRoom(clock);
  const takeOnce = store === undefined ? takeInMemory(clock) : takeInStore(store.repeats, clock);
  return {
    async seal(subject, content, expiresAt) {
      const sealed: Sealed = { id: randomUUID(), subject: bindingOf(subject), expiresAt, content };
      return (await sealOf()).seal(JSON.stringify(sealed));
    },
    async open(subject, text) {
      const opened = (await sealOf()).open(text);
      if (opened === undefined) return undefined;
      const sealed: Sealed = JSON.parse(opened); // written by us, as its seal proves
      if (sealed.subject !== bindingOf(subject) || sealed.expiresAt <= clock.now()) return undefined;
      const giveBack = room.take(subject.caller.id ?? '', keptUntil(sealed, clock.now()));
      const isFirst = await takeOnce(sealed).catch((cause: unknown) => {
        giveBack();
        throw cause;
      });
      if (isFirst) return sealed.content;
      giveBack(); // it is kept already
      return undefined;
    },
  };
}

/** The key is looked up by the first who needs it; one that could not be read is looked up again. */
function keptSeal(store: Pick<Store, 'sealKeys'> | undefined): () => Promise<Seal> {
  let seal: Promise<Seal> | undefined;
  const make = async (): Promise<Seal> => {
    const key = store === undefined ? randomBytes(32) : Buffer.from(await store.sealKeys.get(PURPOSE), 'base64');
    return createSeal(key, PURPOSE);
  };
  return () => {
    seal ??= make().catch((cause) => {
      seal = undefined;
      throw cause;
    });
    return seal;
  };
}

function bindingOf({ caller, profile, called, spec, arguments: given }: StateSubject): string {
  const parts = [caller.id ?? '', profile, called, spec.name, definitionHash(spec), given ?? {}];
  return hash('sha256', canonicalJson(parts));
}

type TakeOnce = (sealed: Sealed) => Promise<boolean>;

function takeInStore(repeats: Store['repeats'], clock: Pick<Clock, 'now'>): TakeOnce {
  return async (sealed) => {
    const { id } = sealed;
    const now = clock.now();
    const keepMs = Math.ceil(keptUntil(sealed, now) - now);
    const first = await repeats.begin(`${PURPOSE} ${id}`, { id, argumentsHash: '', keepMs });
    return first.state === 'new';
  };
}

function takeInMemory(clock: Pick<Clock, 'now'>): TakeOnce {
  const taken = new Map<string, number>();
  return async (sealed) => {
    const now = clock.now();
    for (const [other, end] of taken) if (end <= now) taken.delete(other);
    if (taken.has(sealed.id)) return false;
    taken.set(sealed.id, keptUntil(sealed, now));
    return true;
  };
}

/** How long it is known that a state was used: longer than it counts, since clocks of replicas differ a little. */
function keptUntil({ expiresAt }: Sealed, now: number): number {
  return now + 2 * (expiresAt - now) + 60_000;
}

/** How many used states are kept, of one caller and of all, by each process. */
const MOST_OF_CALLER = 1000;
const MOST = 20_000;

/** Room for used states. */
interface Room {
  /** Takes a place until then, and returns how to give it back. Throws where there is none. */
  take(owner: string, until: number): () => void;
}

function createRoom(clock: Pick<Clock, 'now'>): Room {
  const places = new Map<string, Set<{ readonly until: number }>>();
  const countOf = (owner: string, now: number): number => {
    const own = places.get(owner) ?? new Set();
    for (const place of own) if (place.until <= now) own.delete(place);
    if (own.size === 0) places.delete(owner);
    return own.size;
  };
  let total = 0;
  const countAll = (now: number): number => {
    if (total >= MOST) total = [...places.keys()].reduce((sum, owner) => sum + countOf(owner, now), 0);
    return total;
  };
  return {
    take(owner, until) {
      const now = clock.now();
      if (countOf(owner, now) >= MOST_OF_CALLER) throw noRoom(`of one caller at most ${MOST_OF_CALLER}`);
      if (countAll(now) >= MOST) throw noRoom(`at most ${MOST}`);
      const place = { until };
      places.set(owner, (places.get(owner) ?? new Set()).add(place));
      total++;
      return () => {
        if (places.get(owner)?.delete(place) === true) total--;
      };
    },
  };
}

function noRoom(bound: string): ToolcribError {
  const message = `Too many questions were answered lately: ${bound} used request states are kept, until they expire. Nothing was done; send the call again later.`;
  return new ToolcribError('too_many_states', message);
}
