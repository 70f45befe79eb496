import type { Clock } from '../../core/ports/crib-context.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { fetchClientToken, type KeptToken, keepToken, type TokenRequest } from '../../system/fetch/client-token.ts';
import { toSecretText } from '../../system/secrets/secret-template.ts';
import type { Secrets } from '../../system/secrets/secrets.ts';
import { fillOrigin, fillPath } from './address.ts';
import { BadArgument, encode, type Filling, fillParameter } from './fill-text.ts';
import type { HttpAuth, HttpClientCredentials } from './http-run.ts';
import { fillCookies, fillHeaders, type RequestPlan } from './request-plan.ts';

/** A request without its credentials. */
export interface BuiltRequest {
  /** Scheme, host and port. */
  readonly origin: URL;
  readonly path: string;
  readonly query: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string | Uint8Array | undefined;
}

const NO_SECRETS: ReadonlyMap<string, string> = new Map();

/** The origin that a call is sent to. */
export function originOf(plan: RequestPlan, { input, spec }: ToolCall): URL {
  return new URL(fillOrigin(plan.address.origin, { input, secrets: NO_SECRETS }, spec));
}

/** The secrets of a run, resolved for the host of the call only. */
export async function findSecrets(
  { secrets: names }: RequestPlan,
  secrets: Secrets,
  host: string,
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return NO_SECRETS;
  const fill = async (secret: string) =>
    [secret, await secrets.fill({ secretTemplate: [{ secret }] }, { host })] as const;
  return new Map(await Promise.all(names.map(fill)));
}

const ACCEPT = 'application/json, text/*;q=0.9, */*;q=0.8';

/** Fills a plan with the arguments of a call. */
export function buildRequest(
  plan: RequestPlan,
  call: ToolCall,
  { origin, secrets }: { readonly origin: URL; readonly secrets: ReadonlyMap<string, string> },
): BuiltRequest {
  const filling: Filling = { input: call.input, secrets };
  const body = plan.fillBody(filling);
  const { traceparent } = call;
  return {
    origin,
    path: fillPath(plan.address.segments, filling),
    query: [...plan.address.query, ...plan.query].flatMap((parameter) => fillParameter(parameter, filling)),
    headers: {
      accept: ACCEPT,
      ...(traceparent !== undefined && { traceparent }),
      ...(body !== undefined && { 'content-type': body.contentType }),
      ...fillHeaders(plan.headers, filling),
    },
    cookies: fillCookies(plan.cookies, filling),
    body: body?.bytes,
  };
}

/** The URL of a request with its credentials. Its origin is always the one that the run names. */
export function addressOf({ origin, path, query }: BuiltRequest, credentials: Credentials): URL {
  const pairs = withCredentials(query, credentials.query).join('&');
  const url = new URL(`${origin.href.slice(0, -1)}${path}${pairs === '' ? '' : `?${pairs}`}`);
  if (url.origin !== origin.origin) throw new BadArgument('', 'would send the call to another host');
  return url;
}

/** The headers of a request with its credentials. */
export function headersOf(
  { headers, cookies }: BuiltRequest,
  credentials: Credentials,
): Readonly<Record<string, string>> {
  const own = withCredentials(cookies, credentials.cookies);
  const all = [...(headers.cookie === undefined ? [] : [headers.cookie]), ...own];
  return { ...headers, ...credentials.headers, ...(all.length > 0 && { cookie: all.join('; ') }) };
}

/** The pairs of a request with those of its credentials, which replace pairs of their names. */
function withCredentials(pairs: readonly string[], credentials: readonly string[]): readonly string[] {
  if (credentials.length === 0) return pairs;
  const nameOf = (pair: string) => pair.split('=', 1)[0];
  const names = new Set(credentials.map(nameOf));
  return [...pairs.filter((pair) => !names.has(nameOf(pair))), ...credentials];
}

/** The parts of a request that carry credentials. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly string[];
  readonly cookies: readonly string[];
  /** The fetched token among them, which can be fetched again. */
  readonly token?: { readonly text: string; readonly kept: KeptToken };
}

/** Resolves credentials for one host; each secret goes only to its own hosts. */
export interface Authorizer {
  authorize(auth: readonly HttpAuth[], host: string): Promise<Credentials>;
}

/** Options for an authorizer. */
export interface AuthorizerPorts {
  readonly secrets: Secrets;
  readonly clock: Clock;
  /** Called for each token, because the rules may change. */
  reach(): TokenRequest['reach'];
}

const NONE: Credentials = { headers: {}, query: [], cookies: [] };

/** Creates an authorizer that caches tokens: one for each set of credentials, shared by all tools. */
export function createAuthorizer({ secrets, clock, reach }: AuthorizerPorts): Authorizer {
  const tokens = new Map<string, KeptToken>();

  const tokenOf = (credentials: HttpClientCredentials): KeptToken => {
    const key = JSON.stringify(credentials); // names, not values: a changed secret is read again at the next fetch
    const known = tokens.get(key);
    if (known !== undefined) return known;
    const kept = keepToken(() => fetchToken(credentials), clock);
    tokens.set(key, kept);
    return kept;
  };

  const fetchToken = async ({ tokenUrl, clientId, clientSecret, scope }: HttpClientCredentials) => {
    const url = new URL(tokenUrl);
    const fill = (text: string) => secrets.fill(toSecretText(text), { host: url.host });
    const filled = { clientId: await fill(clientId), clientSecret: await fill(clientSecret) };
    const token = await fetchClientToken({ url, ...filled, scope, reach: reach() }, clock);
    secrets.hide(`token of ${url.host}`, token.text);
    return token;
  };

  const find = async (auth: HttpAuth, host: string): Promise<Credentials> => {
    const fill = (text: string) => secrets.fill(toSecretText(text), { host });
    if ('bearer' in auth) return bearer(await fill(auth.bearer));
    if ('basic' in auth) {
      const pair = `${await fill(auth.basic.username)}:${await fill(auth.basic.password)}`;
      const text = Buffer.from(pair).toString('base64');
      secrets.hide(`credentials for ${host}`, text);
      return { ...NONE, headers: { authorization: `Basic ${text}` } };
    }
    if ('apiKey' in auth) return apiKey(auth.apiKey, await fill(auth.apiKey.value));
    // A token is worth as much as its client secret, so it goes only to the hosts of that secret.
    await Promise.all([fill(auth.clientCredentials.clientId), fill(auth.clientCredentials.clientSecret)]);
    const kept = tokenOf(auth.clientCredentials);
    const text = await kept.get();
    return { ...bearer(text), token: { text, kept } };
  };

  return {
    async authorize(auth, host) {
      if (auth.length === 0) return NONE;
      const found = await Promise.all(auth.map((one) => find(one, host)));
      return found.reduce(join, NONE);
    },
  };
}

function bearer(token: string): Credentials {
  return { ...NONE, headers: { authorization: `Bearer ${token}` } };
}

type ApiKey = Extract<HttpAuth, { readonly apiKey: unknown }>['apiKey'];

function apiKey({ in: place, name }: ApiKey, value: string): Credentials {
  switch (place) {
    case 'header':
      return { ...NONE, headers: { [name.toLowerCase()]: value } };
    case 'query':
      return { ...NONE, query: [`${encode(name)}=${encode(value)}`] };
    case 'cookie':
      return { ...NONE, cookies: [`${name}=${encode(value)}`] };
  }
}

function join(a: Credentials, b: Credentials): Credentials {
  const token = b.token ?? a.token;
  return {
    headers: { ...a.headers, ...b.headers },
    query: [...a.query, ...b.query],
    cookies: [...a.cookies, ...b.cookies],
    ...(token !== undefined && { token }),
  };
}
