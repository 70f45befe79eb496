import { ToolcribError } from '../../core/tool-error.ts';
import type { Chest } from '../../crib/chest.ts';
import type { Asked } from './route.ts';

/** The chest in which somebody lists: an operator who names no profile sees all tools. */
export function openToList({ crib, asker }: Asked, profile: string | undefined): Promise<Chest> {
  if (profile === undefined && asker.operator) return crib.openAll(asker.caller);
  return hideReason(profile, crib.server.openAtDoor(profile, asker.caller));
}

/** The chest in which somebody calls; what is active makes no difference to a call. */
export function openToCall({ crib, asker }: Asked, profile: string | undefined): Promise<Chest> {
  if (profile === undefined && asker.operator) return crib.openAll(asker.caller);
  return hideReason(profile, crib.open(profile, asker.caller));
}

/** A profile that is not for who asks is answered like one that is not there; and no other is named. */
async function hideReason(profile: string | undefined, opening: Promise<Chest>): Promise<Chest> {
  try {
    return await opening;
  } catch (cause) {
    const isHidden = cause instanceof ToolcribError && ['unknown_profile', 'denied'].includes(cause.code);
    if (!isHidden) throw cause;
    const message =
      profile === undefined ? 'The default profile is not for you; name another.' : `There is no profile "${profile}".`;
    throw new ToolcribError('unknown_profile', message, { cause });
  }
}
