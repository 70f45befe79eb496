import type { AuthProvider, FetchLike } from '@modelcontextprotocol/client';
import type { Clock } from '../../core/ports/crib-context.ts';
import { type ClientToken, fetchClientToken, keepToken, TokenRefused } from '../../system/fetch/client-token.ts';
import { FetchError } from '../../system/fetch/fetch-error.ts';
import type { AllowPrivate } from '../../system/fetch/guarded-fetch.ts';
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

/** Fetches tokens by the client credentials grant and keeps each until it expires or is refused. All connections of a source share one. */
export function clientCredentials(sdk: Sdk, options: CredentialsOptions): AuthProvider {
  let place: TokenPlace | undefined =
    options.tokenUrl === undefined
      ? undefined
      : { url: new URL(options.tokenUrl), resource: undefined, isPosted: false };
  const tokens = keepToken(() => fetchToken(sdk, place, options), options.clock);
  let last: string | undefined;

  return {
    async token() {
      if (place === undefined) return undefined; // the server says where when it refuses us
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
  const resource = await sdk.selectResourceURL(serverUrl, NO_PROVIDER as never, resourceMetadata); // asked for one optional method only
  const methods = metadata?.token_endpoint_auth_methods_supported ?? [];
  const isPosted = methods.includes('client_secret_post') && !methods.includes('client_secret_basic');
  return { url, resource: resource?.href, isPosted };
}

const NO_PROVIDER = {};

/** Where an address that the server named is not for us to reach, the owner can name it. */
function withCure(cause: unknown): unknown {
  if (!(cause instanceof FetchError) || cause.failure !== 'refused') return cause;
  const cure = 'name it as tokenUrl of auth.clientCredentials if tokens are given out there';
  return new McpFailure('refused', `${cause.message.replace(/\.$/, '')}: ${cure}`, { cause });
}

async function fetchToken(
  sdk: Sdk,
  place: TokenPlace | undefined,
  { clientId, scope, serverUrl, tokenUrl, clock, ...options }: CredentialsOptions,
): Promise<ClientToken> {
  if (place === undefined) throw new McpFailure('refused', 'nobody has said where tokens are given out');
  const { url, resource, isPosted } = place;
  sdk.assertSecureTokenEndpoint(url);
  // An address of the configuration may be private; one that a server names only if it has that server's own origin.
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
