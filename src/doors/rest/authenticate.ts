import { randomBytes } from 'node:crypto';
import type { Identity } from '../../core/caller.ts';
import { toolError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { type Answer, refuseFor } from './answers.ts';
import type { RouteCaller, Who } from './route.ts';

/** Whether somebody without a credential is taken for somebody at this machine. */
export type AdmitsLocal = () => boolean;

/** Finds out who sends a request. */
export type Identify = (request: Request) => Promise<Identity>;

const NOBODY: RouteCaller = Object.freeze({ ok: true, caller: Object.freeze({}), profiles: [], operator: false });

/** Who asks, by the header alone. Where others than this machine can come in, nobody is `local`. */
export function createWhoAsks(crib: Pick<Crib, 'identify'>, admitsLocal: AdmitsLocal): Identify {
  return async (request) => {
    const credential = request.headers.get('authorization');
    const identity = await crib.identify(credential);
    return hasCredential(request) || admitsLocal() ? identity : NEEDED;
  };
}

/** The asker if this route is for them, else why not. */
export function letIn(identity: Identity, who: Who, request: Request): RouteCaller | Answer {
  if (who === 'anyone') return identity.ok ? identity : NOBODY;
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
  error: toolError('unauthenticated', 'A credential is needed, as "Authorization: Bearer ...".'),
};
const OPERATOR_NEEDED = toolError(
  'unauthenticated',
  'This is for operators: send the operator token as "Authorization: Bearer ...".',
);
const NO_OPERATOR = toolError('denied', 'This is for operators.');

/** Browsers that came by the operator's link. They may look at pages and nothing else. */
export interface PageSessions {
  /** The value of a cookie that stands for the credential. */
  begin(credential: string): string;
  /** The credential that a cookie stands for; undefined if there is none. It is judged anew by every request, so that a cookie ends with its credential. */
  credentialOf(value: string | undefined): string | undefined;
}

interface Session {
  readonly credential: string;
  readonly endsAt: number;
}

const LONGEST_MS = 12 * 3_600_000;
const MOST = 100;

/** Sessions of this process. The token itself is not a cookie: other servers of this machine would be sent it, too. */
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
