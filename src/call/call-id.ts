import { randomUUID } from 'node:crypto';

/** A UUID of version 7. It begins with the time, so that ids of calls that follow one another lie together in every index. */
export const createCallId: () => string = timedIds();

/** Remembers the text of this millisecond: making it takes longer than all the rest. */
function timedIds(): () => string {
  let knownMs = 0;
  let begin = '';
  return () => {
    const now = Date.now();
    if (now !== knownMs) {
      const hex = now.toString(16).padStart(12, '0');
      begin = `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
      knownMs = now;
    }
    return begin + randomUUID().slice(15);
  };
}
