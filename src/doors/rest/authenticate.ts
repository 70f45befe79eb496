import type { Identity } from '../../core/caller.ts';
import { toolError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import type { RequestHead } from '../node-request.ts';
import { type Answer, refuseFor } from './answers.ts';
import type { RouteCaller, Who } from './route.ts';
import { identifyBySession, type Sessions } from './sessions.ts';

/** Returns true if a caller without a credential counts as local. */
export type AdmitsLocal = () => boolean;

/** Identifies the caller of a request. */
export type Identify = (request: Request) => Promise<Identity>;

/** Identifies the caller by the headers of a request. */
export type IdentifyByHeaders = (request: RequestHead) => Promise<Identity>;

const ANONYMOUS: RouteCaller = Object.freeze({ ok: true, caller: Object.freeze({}), profiles: [], operator: false });

/** Identifies callers by the Authorization header alone. If other machines can connect, no caller is `local`. */
export function createWhoAsks(crib: Pick<Crib, 'identify'>, admitsLocal: AdmitsLocal): IdentifyByHeaders {
  return async (request) => {
    const credential = request.headers.get('authorization');
    const identity = await crib.identify(credential);
    return hasCredential(request) || admitsLocal() ? identity : NEEDED;
  };
}

/** Identifies callers by the Authorization header, else by the session of a browser. For routes under /api only. */
export function createWhoAsksApi(crib: Pick<Crib, 'identify'>, identify: Identify, sessions: Sessions): Identify {
  return async (request) => {
    const bySession = hasCredential(request) ? undefined : await identifyBySession(request, sessions, crib);
    return bySession ?? identify(request);
  };
}

/** The caller if it may use the route, else the refusal. */
export function letIn(identity: Identity, who: Who): RouteCaller | Answer {
  if (who === 'anyone') return identity.ok ? identity : ANONYMOUS;
  if (!identity.ok) return refuseFor(identity.error);
  if (who === 'caller' || identity.operator) return identity;
  if (identity.caller.credential?.kind === 'none') return refuseFor(OPERATOR_NEEDED);
  return who === 'credential' ? identity : refuseFor(NO_OPERATOR);
}

function hasCredential(request: RequestHead): boolean {
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
