import { canonicalJson } from '../core/json.ts';
import type { Clock } from '../core/ports/ports.ts';
import { messageOf, ToolcribError } from '../core/tool-error.ts';
import { fetchKeys, type IssuerAddress, type PublishedKey } from './fetch-keys.ts';

/** The keys that share an id, or all of them for tokens that name none. The same object as long as they are the same. */
export interface KeyGroup {
  readonly keys: readonly PublishedKey[];
  readonly text: string;
}

/** What an issuer published at one moment. */
interface KeySet {
  groupOf(kid: string | undefined): KeyGroup | undefined;
}

/** The keys of an issuer, fetched when they are needed and kept for a while. */
export interface IssuerKeys {
  /** Those of the last minutes; where the issuer does not answer, those of the last hour. Rejects if there are none. */
  current(): Promise<KeySet>;
  /** Those of this moment, because one is missing; those of the last fetch if there were too many. */
  renewed(): Promise<KeySet>;
}

/** A key that was withdrawn is accepted this long. */
const FRESH_MS = 600_000;
/** The same while the issuer does not answer. */
const STALE_MS = 3_600_000;
/** So many fetches in such a time, so that made-up key ids are no flood for the issuer. */
const MAX_FETCHES = 5;
const PER_MS = 150_000;
/** The pause after one that failed. */
const RETRY_MS = 5_000;

/** Nothing is fetched before the first token comes. */
export function createIssuerKeys(address: IssuerAddress, clock: Pick<Clock, 'now'>): IssuerKeys {
  let held: { readonly set: HeldSet; readonly at: number } | undefined;
  let failed: { readonly at: number; readonly cause: unknown } | undefined;
  let fetchedAt: readonly number[] = [];
  let underWay: Promise<void> | undefined;
  const isWithin = (at: number | undefined, ms: number): boolean => {
    const age = at === undefined ? -1 : clock.now() - at;
    return age >= 0 && age < ms; // a clock that runs backwards makes nothing fresh
  };
  const fetchOnce = async (): Promise<void> => {
    try {
      held = { set: toKeySet(await fetchKeys(address), held?.set), at: clock.now() };
      fetchedAt = [...fetchedAt, held.at];
      failed = undefined;
    } catch (cause) {
      failed = { at: clock.now(), cause };
    } finally {
      underWay = undefined;
    }
  };
  const renew = async (): Promise<void> => {
    fetchedAt = fetchedAt.filter((at) => isWithin(at, PER_MS));
    const mustWait = fetchedAt.length >= MAX_FETCHES || isWithin(failed?.at, RETRY_MS);
    if (underWay === undefined && mustWait) return;
    underWay ??= fetchOnce();
    await underWay;
  };
  return {
    async current() {
      if (!isWithin(held?.at, FRESH_MS)) await renew();
      if (held !== undefined && isWithin(held.at, STALE_MS)) return held.set;
      throw unavailable(address.issuer, failed?.cause);
    },
    async renewed() {
      await renew();
      if (held === undefined || failed !== undefined) throw unavailable(address.issuer, failed?.cause);
      return held.set;
    },
  };
}

interface HeldSet extends KeySet {
  readonly groups: ReadonlyMap<string | undefined, KeyGroup>;
}

function toKeySet(keys: readonly PublishedKey[], before: HeldSet | undefined): HeldSet {
  const byId: Map<string | undefined, readonly PublishedKey[]> = Map.groupBy(keys, (key) => key.kid);
  byId.set(undefined, keys);
  const groups = new Map(
    Array.from(byId, ([kid, members]) => {
      const text = canonicalJson(members);
      const known = before?.groups.get(kid);
      return [kid, known?.text === text ? known : { keys: members, text }];
    }),
  );
  return { groups, groupOf: (kid) => groups.get(kid) };
}

function unavailable(issuer: string, cause: unknown): ToolcribError {
  return new ToolcribError('issuer_unavailable', `The keys of ${issuer} cannot be had: ${messageOf(cause)}`, { cause });
}
