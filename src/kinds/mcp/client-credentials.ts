import type { AuthProvider, FetchLike } from '@modelcontextprotocol/client';
import type { Clock } from '../../core/ports/crib-context.ts';
import { type ClientToken, fetchClientToken, keepToken, TokenRefused } from '../../system/fetch/client-token.ts';
import { FetchError } from '../../system/fetch/fetch-error.ts';
import type { AllowPrivate } from '../../system/fetch/guarded-fetch.ts';
import { McpFailure } from './mcp-failure.ts';

type Sdk = typeof import('@modelcontextprotocol/client');

/** Options for fetching tokens. */
export interface CredentialsOptions {
  /** The server that the tokens are for. */
  readonly serverUrl: URL;
  /** The token endpoint; discovered from the server if absent. */
  readonly tokenUrl: string | undefined;
  readonly clientId: string;
  /** Returns the client secret for a host; throws if the secret may not be sent to that host. */
  clientSecret(url: URL): Promise<string>;
  readonly scope: string | undefined;
  readonly clock: Clock;
  /** Masks a token in all output from now on. */
  hide(token: string): void;
}

/** A token endpoint and how to use it. */
interface TokenPlace {
  readonly url: URL;
  /** The resource indicator of the server; the token is valid for that server only. */
  readonly resource: string | undefined;
  readonly isPosted: boolean;
}

/** Fetches tokens with the client credentials grant and caches each until it expires or is rejected. All connections of a source share one token. */
export function clientCredentials(sdk: Sdk, options: CredentialsOptions): AuthProvider {
  let place: TokenPlace | undefined =
    options.tokenUrl === undefined
      ? undefined
      : { url: new URL(options.tokenUrl), resource: undefined, isPosted: false };
  const tokens = keepToken(() => fetchToken(sdk, place, options), options.clock);
  let last: string | undefined;

  return {
    async token() {
      if (place === undefined) return undefined; // the server names the endpoint in its 401 answer
      last = await tokens.get();
      return last;
    },
    async onUnauthorized({ response, fetchFn }) {
      place = options.tokenUrl === undefined ? await discover(sdk, options, response, fetchFn) : place;
      last = await tokens.replace(last);
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
  const given = { ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }), fetchFn };
  const found = await sdk.discoverOAuthServerInfo(serverUrl, given).catch((cause: unknown) => {
    throw withCure(cause);
  });
  const { authorizationServerMetadata: metadata, resourceMetadata } = found;
  const url = new URL(metadata?.token_endpoint ?? new URL('/token', found.authorizationServerUrl));
  const resource = await sdk.selectResourceURL(serverUrl, NO_PROVIDER as never, resourceMetadata); // it reads one optional method only
  const methods = metadata?.token_endpoint_auth_methods_supported ?? [];
  const isPosted = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return { url, resource: resource?.href, isPosted };
}

const NO_PROVIDER = {};

/** The server named an address that we may not reach. The operator can allow it by configuring it. */
function withCure(cause: unknown): unknown {
  if (!(cause instanceof FetchError) || cause.failure !== 'refused') return cause;
  const cure = 'if it is the token endpoint, set it as tokenUrl in auth.clientCredentials';
  return new McpFailure('refused', `${cause.message.replace(/\.$/, '')}: ${cure}`, { cause });
}

async function fetchToken(
  sdk: Sdk,
  place: TokenPlace | undefined,
  { clientId, scope, serverUrl, tokenUrl, clock, ...options }: CredentialsOptions,
): Promise<ClientToken> {
  if (place === undefined)
    throw new McpFailure('refused', 'the token endpoint is unknown; set tokenUrl in auth.clientCredentials');
  const { url, resource, isPosted } = place;
  sdk.assertSecureTokenEndpoint(url);
  // A configured address may be private; one that the server names may be private only if it has the server's own origin.
  const isOurs = tokenUrl !== undefined || url.origin === serverUrl.origin;
  const allowPrivate: AllowPrivate = isOurs ? 'first' : [];
  const clientSecret = await options.clientSecret(url);
  try {
    const token = await fetchClientToken(
      { url, clientId, clientSecret, scope, resource, isPosted, reach: { allowPrivate } },
      clock,
    );
    options.hide(token.text);
    return token;
  } catch (cause) {
    if (cause instanceof TokenRefused) throw new McpFailure('refused', cause.message);
    throw isOurs ? cause : withCure(cause);
  }
}
