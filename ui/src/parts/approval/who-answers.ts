import type { Session } from '../../api/session.ts';
import type { Approval } from './approval-types.ts';

/** Why this session may not answer the request; undefined if it may. The server decides; the page only leaves out what it would refuse. */
export function whyNotAnswer({ caller, approvers, notByCaller }: Approval, session: Session): string | undefined {
  if (session.role === 'operator') return undefined;
  const { id, roles = [] } = session.caller ?? {};
  if (id !== undefined && id === caller.id)
    return approvers.includes('caller') ? undefined : (notByCaller ?? 'A caller cannot approve its own calls.');
  if (roles.some((role) => approvers.includes(`role:${role}`))) return undefined;
  const named = approvers.flatMap((who) => (who.startsWith('role:') ? [`callers with the role ${who.slice(5)}`] : []));
  return `Only ${['operators', ...named].join(' and ')} may answer this request.`;
}
