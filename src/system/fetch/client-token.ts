import { isJsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { defined } from '../../core/read-options.ts';
import { beginningOf } from '../../core/visible-text.ts';
import { type GuardedFetchOptions, guardedFetch } from './guarded-fetch.ts';

/** A token request with the client credentials grant of OAuth 2. */
export interface TokenRequest {
  readonly url: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
  /** The resource the token is for; it is valid for this only. */
  readonly resource?: string | undefined;
  /** True to send the client secret in the form instead of a header. */
  readonly isPosted?: boolean;
  /** Allowed addresses, and the signal. */
  readonly reach: Pick<GuardedFetchOptions, 'allowPrivate' | 'isOwn' | 'resolve' | 'signal'>;
}

/** A token with its expiry. */
export interface ClientToken {
  readonly text: string;
  readonly expiresAt: number;
}

/** Thrown if the server does not issue a token. The message names the host and its answer, but no secret. */
export class TokenRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TokenRefused';
  }
}

/** Characters that OAuth 2 allows. With others, the header would be invalid, and the error would show the token. */
const TOKEN = /^[\x20-\x7e]+$/;
const MAX_BYTES = 100_000;
const TIMEOUT_MS = 10_000;

/** Fetches a token. */
export async function fetchClientToken(request: TokenRequest, clock: Clock): Promise<ClientToken> {
  const { url, clientId, clientSecret, scope, resource, isPosted = false, reach } = request;
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...defined({ scope, resource }),
    ...(isPosted && { client_id: clientId, client_secret: clientSecret }),
  });
  const { status, bytes } = await guardedFetch(url, {
    ...reach,
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(!isPosted && { authorization: basic(clientId, clientSecret) }),
    },
    body: form.toString(),
    maxBytes: MAX_BYTES,
    maxRedirects: 0,
    timeoutMs: TIMEOUT_MS,
  });
  const answer = readJson(bytes.toString('utf8'));
  if (status !== 200 || typeof answer.access_token !== 'string' || !TOKEN.test(answer.access_token)) {
    const why = typeof answer.error === 'string' ? beginningOf(answer.error, 100) : `status ${status}`;
    throw new TokenRefused(`${url.host} did not issue a token: ${why}`);
  }
  const livesMs = typeof answer.expires_in === 'number' ? answer.expires_in * 1000 : Number.POSITIVE_INFINITY;
  return { text: answer.access_token, expiresAt: clock.now() + livesMs };
}

/** Tokens are replaced this long before they expire, because they must still be valid when they arrive. */
const EARLY_MS = 30_000;

/** A cached token, replaced shortly before it expires. Requests during a fetch share it. */
export interface KeptToken {
  get(): Promise<string>;
  /** Fetches another token, unless the refused one was replaced already. */
  replace(refused: string | undefined): Promise<string>;
}

/** Caches the tokens that `fetch` returns. */
export function keepToken(fetch: () => Promise<ClientToken>, clock: Clock): KeptToken {
  let token: ClientToken | undefined;
  let fetching: Promise<ClientToken> | undefined;
  const renew = async (): Promise<string> => {
    fetching ??= fetch().finally(() => {
      fetching = undefined;
    });
    token = await fetching;
    return token.text;
  };
  return {
    get: async () => (token !== undefined && clock.now() < token.expiresAt - EARLY_MS ? token.text : renew()),
    replace: async (refused) => (token !== undefined && token.text !== refused ? token.text : renew()),
  };
}

function basic(id: string, secret: string): string {
  const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
