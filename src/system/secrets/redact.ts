import { hiding } from './secret.ts';
import type { Secrets } from './secrets.ts';
import { hideTokens } from './token-text.ts';

/** The text without the values of secrets that are known, plain, as base64, in a URL or in JSON, and without our own keys. Built anew only when another secret is known. */
export function createRedact(secrets: Secrets): (text: string) => string {
  let revision = -1;
  let hide = (text: string): string => text;
  return (text) => {
    if (revision !== secrets.revision()) {
      revision = secrets.revision();
      hide = hiding(secrets.known());
    }
    return hideTokens(hide(text));
  };
}
