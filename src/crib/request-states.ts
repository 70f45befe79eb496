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
  /** The name that the client called; for `call_tool` it differs from the tool's name. */
  readonly called: string;
  readonly spec: ToolSpec;
  /** The raw arguments of the client; their meaning depends on `called`. */
  readonly arguments: unknown;
}

/** State that a client passes from one request of a call to the next, encrypted and authenticated. */
export interface CribRequestStates {
  /** Seals state for this caller, profile, tool, arguments and definition. It can be opened once, until it expires. */
  seal(subject: StateSubject, content: JsonObject, expiresAt: number): Promise<string>;
  /**
   * Opens sealed state; undefined if it is foreign, modified, for another subject, expired, or already used. Rejects with
   * code `too_many_states` if no more used ids can be remembered, since the state could then be used twice.
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

/** Seals with a key from the store, so that any replica can continue a call. Without a store, states are valid only in this process. */
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
      const sealed: Sealed = JSON.parse(opened); // the seal proves that we wrote it
      if (sealed.subject !== bindingOf(subject) || sealed.expiresAt <= clock.now()) return undefined;
      const giveBack = room.take(subject.caller.id ?? '', keptUntil(sealed, clock.now()));
      const isFirst = await takeOnce(sealed).catch((cause: unknown) => {
        giveBack();
        throw cause;
      });
      if (isFirst) return sealed.content;
      giveBack(); // the id is remembered already
      return undefined;
    },
  };
}

/** Loads the key lazily, and retries after a failure. */
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

/** Used ids are remembered longer than the state is valid, since clocks of replicas differ. */
function keptUntil({ expiresAt }: Sealed, now: number): number {
  return now + 2 * (expiresAt - now) + 60_000;
}

/** Maximum number of remembered ids per process: per caller and in total. */
const MOST_OF_CALLER = 1000;
const MOST = 20_000;

/** Limits the number of remembered ids. */
interface Room {
  /** Takes a place until then, and returns a function that releases it. Throws if there is none left. */
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
      if (countOf(owner, now) >= MOST_OF_CALLER) throw noRoom(`at most ${MOST_OF_CALLER} per caller`);
      if (countAll(now) >= MOST) throw noRoom(`at most ${MOST} in total`);
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
  const message = `Too many request states were used recently (${bound}). Nothing was done; send the call again later.`;
  return new ToolcribError('too_many_states', message);
}
