import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isRecord } from '../../core/json.ts';
import type { SignInStart } from '../../identity/sign-in.ts';

/** A sign-in at the issuer, and the page to return to. */
export interface PendingSignIn {
  readonly start: Omit<SignInStart, 'url'>;
  readonly to: string;
}

/**
 * Sign-ins at the issuer. Each is kept by the browser that began it, in a cookie that only this process can read and
 * write: a client that begins many of them takes no place from others. Each is taken up once.
 */
export interface PendingSignIns {
  /** Seals a sign-in into the value of a cookie. */
  keep(pending: PendingSignIn): string;
  /** Takes up the sign-in of this state from the value of a cookie; undefined if it is of another one, over or forged. */
  take(state: string, sealed: string): PendingSignIn | undefined;
}

/** Maximum time of a sign-in. */
export const PENDING_MS = 600_000;
/** Number of ended sign-ins that are remembered. The issuer accepts a code once, too. */
const MOST_TAKEN = 10_000;
const CIPHER = 'aes-256-gcm';
const IV_LENGTH = 12;
const TAG_LENGTH = 16;

/** Creates the sign-ins of a server, with a key of their own. */
export function createPendingSignIns(now: () => number): PendingSignIns {
  const key = randomBytes(32);
  const taken = new Map<string, number>();
  return {
    keep({ start: { state, nonce, verifier, redirectUri, issuer }, to }) {
      const kept = { start: { state, nonce, verifier, redirectUri, issuer }, to, endsAt: now() + PENDING_MS };
      return seal(JSON.stringify(kept), key);
    },
    take(state, sealed) {
      const text = unseal(sealed, key);
      const kept: unknown = text === undefined ? undefined : JSON.parse(text);
      if (!isRecord(kept)) return undefined;
      const { start, to, endsAt } = kept as unknown as PendingSignIn & { readonly endsAt: number }; // as sealed above
      if (start.state !== state || endsAt <= now() || taken.has(state)) return undefined;
      for (const [old, until] of taken) if (until <= now() || taken.size >= MOST_TAKEN) taken.delete(old);
      taken.set(state, endsAt);
      return { start, to };
    },
  };
}

function seal(text: string, key: Buffer): string {
  const iv = randomBytes(IV_LENGTH);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_LENGTH });
  const hidden = [cipher.update(text, 'utf8'), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...hidden]).toString('base64url');
}

/** The sealed text; undefined if this key did not seal it. */
function unseal(sealed: string, key: Buffer): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length <= IV_LENGTH + TAG_LENGTH) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_LENGTH), { authTagLength: TAG_LENGTH });
  decipher.setAuthTag(bytes.subarray(IV_LENGTH, IV_LENGTH + TAG_LENGTH));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_LENGTH + TAG_LENGTH)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
