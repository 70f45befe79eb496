import { randomBytes } from 'node:crypto';

/** Browsers that were shown in by the operator's link. They may look at pages and nothing else. */
export interface PageSessions {
  /** The value of a cookie that lets somebody in. */
  begin(): string;
  isKnown(value: string | undefined): boolean;
}

const LONGEST_MS = 12 * 3_600_000;
const MOST = 100;

/** Sessions of this process. The token itself is no cookie: other servers of this machine would be sent it, too. */
export function createPageSessions(): PageSessions {
  const endings = new Map<string, number>();
  return {
    begin() {
      const [oldest] = endings.keys();
      if (endings.size >= MOST && oldest !== undefined) endings.delete(oldest);
      const value = randomBytes(24).toString('base64url');
      endings.set(value, performance.now() + LONGEST_MS);
      return value;
    },
    isKnown: (value) => value !== undefined && (endings.get(value) ?? 0) > performance.now(),
  };
}
