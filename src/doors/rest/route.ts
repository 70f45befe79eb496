import type { Identity } from '../../core/caller.ts';
import type { JsonSchema, MaybePromise } from '../../core/json.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import type { Answer } from './answers.ts';
import type { Identify, PageSessions } from './authenticate.ts';
import type { EventFeed } from './event-feed.ts';

/** Who may ask: everybody; everybody `identify` lets in; only who came with a credential; only an operator. */
export type Who = 'anyone' | 'caller' | 'credential' | 'operator';

/** What an answer of a route looks like. */
export interface RouteAnswer {
  readonly says: string;
  /** The shape of its JSON; absent where it is never JSON. */
  readonly schema?: JsonSchema;
  /** The media type of what is not JSON. */
  readonly type?: string;
}

/** One thing that can be asked: what is checked, what is documented and what is done stand together. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `{name}` for a part that varies. */
  readonly path: string;
  /** The group it is documented under. */
  readonly group: string;
  readonly says: string;
  readonly who: Who;
  /** The parameters it takes by name; `?` marks those that may be absent. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  readonly body?: JsonSchema;
  /** Its answers by status; those of refusals are the same everywhere. */
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  run(asked: RouteRequest): MaybePromise<Answer | Response>;
}

/** Who somebody turned out to be. */
export type RouteCaller = Extract<Identity, { readonly ok: true }>;

/** A request that was let in, with what it carries checked by the schemas of its route. */
export interface RouteRequest {
  readonly crib: Crib;
  /** Nobody in particular where everybody may ask. */
  readonly asker: RouteCaller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly request: Request;
  readonly feed: EventFeed;
  readonly sessions: PageSessions;
  /** Who sends a request, where the route itself has to know. */
  readonly identify: Identify;
}

/** How many profiles are named at most. */
const MOST_NAMED = 20;

/** The chest in which somebody lists: an operator who names no profile sees all tools. */
export function openToList(
  { crib, asker }: Pick<RouteRequest, 'crib' | 'asker'>,
  profile: string | undefined,
): Promise<Chest> {
  if (profile === undefined && asker.operator) return crib.openAll(asker.caller);
  return hideReason(asker, profile, crib.server.openAtDoor(profile, asker.caller));
}

/** The chest in which somebody calls; what is active makes no difference to a call. */
export function openToCall({ crib, asker }: RouteRequest, profile: string | undefined): Promise<Chest> {
  if (profile === undefined && asker.operator) return crib.openAll(asker.caller);
  return hideReason(asker, profile, crib.open(profile, asker.caller));
}

/** A profile that is not for who asks is answered like one that is not there; only those that it may use are named. */
async function hideReason(
  { caller, profiles }: RouteCaller,
  profile: string | undefined,
  opening: Promise<Chest>,
): Promise<Chest> {
  try {
    return await opening;
  } catch (cause) {
    const isHidden = cause instanceof ToolcribError && ['unknown_profile', 'denied'].includes(cause.code);
    if (!isHidden) throw cause;
    const isKnown = caller.credential?.kind !== 'none' && profiles.length > 0;
    const yours = isKnown ? ` Yours: ${profiles.slice(0, MOST_NAMED).join(', ')}.` : '';
    const message =
      profile === undefined
        ? `The default profile is not for you; name another.${yours}`
        : `There is no profile "${profile}".`;
    throw new ToolcribError('unknown_profile', message, { cause });
  }
}

/** Where a page ended, as text that means nothing to others. */
export function toCursor(name: string, index: number): string {
  return Buffer.from(JSON.stringify([name, index])).toString('base64url');
}

/** What comes after that: after the entry of that name, or where it stood if it is gone. What is no cursor begins anew. */
export function afterCursor<T extends { readonly name: string }>(
  items: readonly T[],
  cursor: string | undefined,
): readonly T[] {
  const place: unknown = cursor === undefined ? undefined : readCursor(cursor);
  if (!Array.isArray(place)) return items;
  const [name, index] = place;
  const at = items.findIndex((item) => item.name === name);
  if (at >= 0) return items.slice(at + 1);
  return Number.isSafeInteger(index) && index >= 0 ? items.slice(index) : items;
}

/** The JSON in a cursor; undefined if there is none. */
export function readCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
