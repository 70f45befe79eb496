import { randomBytes } from 'node:crypto';

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
