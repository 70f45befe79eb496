import { userInfo } from 'node:os';

/** Whoever has this command line, for records of who did what. */
export function whoIsHere(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return 'cli'; // a user without a name, as in some containers
  }
}
