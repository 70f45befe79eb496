import { isJsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports/crib-context.ts';
import { defined } from '../../core/read-options.ts';
import { beginningOf } from '../../core/visible-text.ts';
import { type GuardedFetchOptions, guardedFetch } from './guarded-fetch.ts';

/** What a token is asked for with, by the client credentials grant of OAuth 2. */
export interface TokenRequest {
  readonly url: URL;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
  /** What the token is for, so that it is good for nothing else. */
  readonly resource?: string | undefined;
  /** True where the secret goes into the form, not into a header. */
  readonly isPosted?: boolean;
  /** Which addresses may be reached, and until when. */
  readonly reach: Pick<GuardedFetchOptions, 'allowPrivate' | 'isOwn' | 'resolve' | 'signal'>;
}

/** A token and until when it is good. */
export interface ClientToken {
  readonly text: string;
  readonly expiresAt: number;
}

/** Thrown where no token is given out. The message names the host and what it said, no secret. */
export class TokenRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TokenRefused';
  }
}

/** The characters that OAuth 2 allows. With others no header can be made, and an error about it would show the token. */
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
    throw new TokenRefused(`${url.host} gives out no token: ${why}`);
  }
  const livesMs = typeof answer.expires_in === 'number' ? answer.expires_in * 1000 : Number.POSITIVE_INFINITY;
  return { text: answer.access_token, expiresAt: clock.now() + livesMs };
}

/** A token is replaced before it expires: it has to arrive, too. */
const EARLY_MS = 30_000;

/** A token that is kept until shortly before it expires. Whoever asks while one is fetched waits for that one. */
export interface KeptToken {
  get(): Promise<string>;
  /** Another one, if this is still the one that was refused. */
  replace(refused: string | undefined): Promise<string>;
}

/** Keeps the tokens that `fetch` brings. */
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
