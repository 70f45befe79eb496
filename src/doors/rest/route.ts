import type { Identity } from '../../core/caller.ts';
import type { JsonSchema, MaybePromise } from '../../core/json.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Crib } from '../../crib/crib.ts';
import type { Answer } from './answers.ts';
import type { Identify } from './authenticate.ts';
import type { ConsoleFiles } from './console-files.ts';
import type { EventFeed } from './event-feed.ts';
import type { RecentUse } from './recent-use.ts';
import type { Sessions } from './sessions.ts';

/** The allowed callers of a route: everyone; every caller that `identify` accepts; callers with a credential; operators. */
export type Who = 'anyone' | 'caller' | 'credential' | 'operator';

/** The documentation of an answer. */
export interface RouteAnswer {
  readonly says: string;
  /** The schema of its JSON; absent if it is never JSON. */
  readonly schema?: JsonSchema;
  /** The media type of an answer that is not JSON. */
  readonly type?: string;
}

/** A route: its validation, its documentation and its code in one place. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path, with `{name}` for parameters. */
  readonly path: string;
  /** The group (tag) in the documentation. */
  readonly group: string;
  readonly says: string;
  readonly who: Who;
  /** Query parameters by name; `?` marks optional ones. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  /** True for pages, whose scripts read the query: it is neither validated nor passed on. */
  readonly isPage?: true;
  /** True to ignore other query parameters, which another server may add. */
  readonly ignoresOtherQuery?: true;
  readonly body?: JsonSchema;
  /** Successful answers by status; refusals are the same for all routes. */
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  run(asked: RouteRequest): MaybePromise<Answer | Response>;
}

/** An identified caller. */
export type RouteCaller = Extract<Identity, { readonly ok: true }>;

/** An accepted request, validated by the schemas of its route. */
export interface RouteRequest {
  readonly crib: Crib;
  /** Anonymous on routes for everyone, if the credential is missing or invalid. */
  readonly asker: RouteCaller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly request: Request;
  readonly feed: EventFeed;
  readonly files: ConsoleFiles;
  readonly sessions: Sessions;
  readonly use: RecentUse;
  /** Identifies a caller, for routes that do it themselves. */
  readonly identify: Identify;
}

/** Maximum number of profiles in an error message. */
const MOST_NAMED = 20;

/** Opens the chest for a listing. An operator without a profile sees all tools. */
export function openToList(
  { crib, asker }: Pick<RouteRequest, 'crib' | 'asker'>,
  profile: string | undefined,
): Promise<Chest> {
  if (profile === undefined && asker.operator) return crib.openAll(asker.caller);
  return hideReason(asker, profile, crib.server.openAtDoor(profile, asker.caller));
}

/** Opens the chest for a call, which does not depend on the active bundles. */
export function openToCall({ crib, asker }: RouteRequest, profile: string | undefined): Promise<Chest> {
  if (profile === undefined && asker.operator) return crib.openAll(asker.caller);
  return hideReason(asker, profile, crib.open(profile, asker.caller));
}

/** Answers a forbidden profile like an unknown one, and names only profiles that the caller may use. */
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
    const yours = isKnown ? ` Your profiles: ${profiles.slice(0, MOST_NAMED).join(', ')}.` : '';
    const message =
      profile === undefined
        ? `You may not use the default profile; name another one.${yours}`
        : `The profile "${profile}" was not found.`;
    throw new ToolcribError('unknown_profile', message, { cause });
  }
}

/** An opaque cursor for the end of a page. */
export function toCursor(name: string, index: number): string {
  return Buffer.from(JSON.stringify([name, index])).toString('base64url');
}

/** The items after a cursor: after the item of that name, or after its old place if it is gone. An invalid cursor starts at the beginning. */
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

/** The JSON in a cursor; undefined if it is invalid. */
export function readCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
