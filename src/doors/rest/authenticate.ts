import { randomBytes } from 'node:crypto';
import type { Identity } from '../../core/caller.ts';
import { toolError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { type Answer, refuseFor } from './answers.ts';
import type { RouteCaller, Who } from './route.ts';

/** Returns true if a caller without a credential counts as local. */
export type AdmitsLocal = () => boolean;

/** Identifies the caller of a request. */
export type Identify = (request: Request) => Promise<Identity>;

const ANONYMOUS: RouteCaller = Object.freeze({ ok: true, caller: Object.freeze({}), profiles: [], operator: false });

/** Identifies callers by the Authorization header alone. If other machines can connect, no caller is `local`. */
export function createWhoAsks(crib: Pick<Crib, 'identify'>, admitsLocal: AdmitsLocal): Identify {
  return async (request) => {
    const credential = request.headers.get('authorization');
    const identity = await crib.identify(credential);
    return hasCredential(request) || admitsLocal() ? identity : NEEDED;
  };
}

/** The caller if it may use the route, else the refusal. */
export function letIn(identity: Identity, who: Who, request: Request): RouteCaller | Answer {
  if (who === 'anyone') return identity.ok ? identity : ANONYMOUS;
  if (!identity.ok) return refuseFor(identity.error);
  if (who === 'caller' || identity.operator) return identity;
  if (!hasCredential(request)) return refuseFor(OPERATOR_NEEDED);
  return who === 'credential' ? identity : refuseFor(NO_OPERATOR);
}

function hasCredential(request: Request): boolean {
  return (request.headers.get('authorization') ?? '').trim() !== '';
}

const NEEDED: Identity = {
  ok: false,
  error: toolError('unauthenticated', 'Authentication required: send a credential as "Authorization: Bearer ...".'),
};
const OPERATOR_NEEDED = toolError(
  'unauthenticated',
  'Only operators may use this route: send the operator token as "Authorization: Bearer ...".',
);
const NO_OPERATOR = toolError('denied', 'Only operators may use this route.');

/** Sessions of browsers that opened the operator's link. A session opens pages only, not the API. */
export interface PageSessions {
  /** Creates a session and returns its cookie value. */
  begin(credential: string): string;
  /** The credential of a session; undefined if the session does not exist. Every request checks the credential again, so the session ends with it. */
  credentialOf(value: string | undefined): string | undefined;
}

interface Session {
  readonly credential: string;
  readonly endsAt: number;
}

const LONGEST_MS = 12 * 3_600_000;
const MOST = 100;

/** Sessions in memory. The cookie does not contain the token: browsers send cookies to every port of a host. */
export function createPageSessions(): PageSessions {
  const sessions = new Map<string, Session>();
  return {
    begin(credential) {
      const [oldest] = sessions.keys();
      if (sessions.size >= MOST && oldest !== undefined) sessions.delete(oldest);
      const value = randomBytes(24).toString('base64url');
      sessions.set(value, { credential, endsAt: performance.now() + LONGEST_MS });
      return value;
    },
    credentialOf(value) {
      const session = value === undefined ? undefined : sessions.get(value);
      return session !== undefined && session.endsAt > performance.now() ? session.credential : undefined;
    },
  };
}
