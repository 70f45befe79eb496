import type { Identity } from '../../core/ports/identity.ts';
import { toolError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { type Answer, refuseFor } from './answers.ts';
import type { Asker, Who } from './route.ts';

/** Whether somebody without a credential is taken for somebody at this machine. */
export type AdmitsLocal = () => boolean;

/** Finds out who sends a request. */
export type Identify = (request: Request) => Promise<Identity>;

const NOBODY: Asker = Object.freeze({ ok: true, caller: Object.freeze({}), profiles: [], operator: false });

/** Who asks, by the header alone. Where others than this machine can come in, nobody is `local`. */
export function createWhoAsks(crib: Pick<Crib, 'identify'>, admitsLocal: AdmitsLocal): Identify {
  return async (request) => {
    const credential = request.headers.get('authorization');
    const identity = await crib.identify(credential);
    return hasCredential(request) || admitsLocal() ? identity : NEEDED;
  };
}

/** The asker if this route is for them, else why not. */
export function letIn(identity: Identity, who: Who, request: Request): Asker | Answer {
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
