import type { AuthProvider, FetchLike } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../core/json.ts';
import type { Clock } from '../../core/ports.ts';
import { type AllowPrivate, guardedFetch } from '../fetch/guarded-fetch.ts';
import { McpFailure } from './mcp-failure.ts';

type Sdk = typeof import('@modelcontextprotocol/client');

/** What tokens are fetched with. */
export interface CredentialsOptions {
  /** The server that the tokens are for. */
  readonly serverUrl: URL;
  /** Where tokens are given out; the server is asked if absent. */
  readonly tokenUrl: string | undefined;
  readonly clientId: string;
  /** The proof, for one host; throws for a host that may not have it. */
  clientSecret(url: URL): Promise<string>;
  readonly scope: string | undefined;
  readonly clock: Clock;
  /** From now on this value is shown to nobody. */
  hide(token: string): void;
}

/** Where tokens are given out, and how. */
interface TokenPlace {
  readonly url: URL;
  /** What the server calls itself, so that a token is good for nothing else. */
  readonly resource: string | undefined;
  readonly isPosted: boolean;
}

interface Token {
  readonly text: string;
  readonly expiresAt: number;
}

/** A token is replaced before it expires: it has to arrive, too. */
const EARLY_MS = 30_000;
const MAX_BYTES = 100_000;
const TIMEOUT_MS = 10_000;

/** Fetches tokens by the client credentials grant and keeps each until it expires or is refused. All connections of a source share one. */
export function clientCredentials(sdk: Sdk, options: CredentialsOptions): AuthProvider {
  const { clock } = options;
  let place: TokenPlace | undefined =
    options.tokenUrl === undefined
      ? undefined
      : { url: new URL(options.tokenUrl), resource: undefined, isPosted: false };
  let token: Token | undefined;
  let fetching: Promise<Token> | undefined;

  const renew = (from: TokenPlace): Promise<Token> => {
    fetching ??= fetchToken(sdk, from, options).finally(() => {
      fetching = undefined;
    });
    return fetching;
  };

  return {
    async token() {
      if (place === undefined) return token?.text; // the server says where when it refuses us
      if (token === undefined || clock.now() >= token.expiresAt - EARLY_MS) token = await renew(place);
      return token.text;
    },
    async onUnauthorized({ response, fetchFn }) {
      place = options.tokenUrl === undefined ? await discover(sdk, options, response, fetchFn) : place;
      token = undefined;
      if (place !== undefined) token = await renew(place);
    },
  };
}

async function discover(
  sdk: Sdk,
  options: CredentialsOptions,
  response: Response,
  fetchFn: FetchLike,
): Promise<TokenPlace> {
  const { serverUrl } = options;
  const { resourceMetadataUrl } = sdk.extractWWWAuthenticateParams(response);
  const found = await sdk.discoverOAuthServerInfo(serverUrl, {
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    fetchFn,
  });
  const { authorizationServerMetadata: metadata, resourceMetadata } = found;
  const url = new URL(metadata?.token_endpoint ?? new URL('/token', found.authorizationServerUrl));
  const resource = await sdk.selectResourceURL(serverUrl, NO_PROVIDER as never, resourceMetadata); // asked for one optional method only
  const methods = metadata?.token_endpoint_auth_methods_supported ?? [];
  const isPosted = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return { url, resource: resource?.href, isPosted };
}

const NO_PROVIDER = {};

async function fetchToken(
  sdk: Sdk,
  { url, resource, isPosted }: TokenPlace,
  options: CredentialsOptions,
): Promise<Token> {
  sdk.assertSecureTokenEndpoint(url);
  const { clientId, scope, clock, serverUrl } = options;
  const secret = await options.clientSecret(url);
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
    ...(isPosted && { client_id: clientId, client_secret: secret }),
  });
  // An address of the configuration may be private; one that a server names only if it is that server's own host.
  const isOurs = options.tokenUrl !== undefined || url.hostname === serverUrl.hostname;
  const allowPrivate: AllowPrivate = isOurs ? 'first' : [];
  const { status, bytes } = await guardedFetch(url, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(!isPosted && { authorization: basic(clientId, secret) }),
    },
    body: form.toString(),
    allowPrivate,
    maxBytes: MAX_BYTES,
    maxRedirects: 0,
    timeoutMs: TIMEOUT_MS,
  });
  const answer = readJson(bytes.toString('utf8'));
  if (status !== 200 || typeof answer.access_token !== 'string' || answer.access_token === '') {
    const why = typeof answer.error === 'string' ? answer.error.slice(0, 100) : `status ${status}`;
    throw new McpFailure('refused', `${url.host} gives out no token: ${why}`);
  }
  options.hide(answer.access_token);
  const livesMs = typeof answer.expires_in === 'number' ? answer.expires_in * 1000 : Number.POSITIVE_INFINITY;
  return { text: answer.access_token, expiresAt: clock.now() + livesMs };
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
