import { hash, randomBytes } from 'node:crypto';
import type { AccessConfig, JwtConfig } from '../config/types/config.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { listOf } from '../core/visible-text.ts';
import { guardedFetch } from '../system/fetch/guarded-fetch.ts';
import { isSecretTemplate, secretsIn } from '../system/secrets/secret-template.ts';
import { discoverIssuer, endpointIn } from './issuer-keys.ts';
import { createJwtVerifier, type JwtClocks } from './jwt.ts';

/** A sign-in that has begun. The values stay at the server; only `url` goes to the browser. */
export interface SignInStart {
  /** The address of the issuer to send the browser to. */
  readonly url: string;
  /** Names the sign-in when the browser comes back. */
  readonly state: string;
  /** Bound into the tokens of this sign-in. */
  readonly nonce: string;
  /** Proves that this server began the sign-in (PKCE). */
  readonly verifier: string;
  readonly redirectUri: string;
  /** The issuer that it began at: no other one gets the code. */
  readonly issuer: string;
}

/** Sign-in of people at the issuer of `access.jwt`, by authorization code with PKCE. */
export interface IssuerSignIn {
  /** Begins a sign-in; undefined if `access.jwt.signIn` is not configured. Rejects if the issuer is not available. */
  begin(redirectUri: string): Promise<SignInStart | undefined>;
  /** Exchanges the code of the issuer for tokens: the access token, if it is a JWT, and the verified ID token. Rejects with the reason. */
  finish(start: Omit<SignInStart, 'url'>, code: string): Promise<readonly string[]>;
}

/** Dependencies of the sign-in. */
interface SignInPorts extends JwtClocks {
  access(): AccessConfig | undefined;
  /** The value of a secret that may be sent to this host. */
  revealSecret(name: string, host: string): Promise<string>;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 200_000;
const SCOPES = 'openid profile';

/** Time for which the description of the issuer counts, so that clients that begin many sign-ins do not flood it. */
const DESCRIBED_MS = 30_000;

/** Creates the sign-in. It asks the issuer for nothing before the first sign-in. */
export function createSignIn({ access, revealSecret, ...clocks }: SignInPorts): IssuerSignIn {
  const describe = createDescriptions(clocks);
  return {
    async begin(redirectUri) {
      const jwt = access()?.jwt;
      if (jwt?.signIn === undefined) return undefined;
      const found = await describe(jwt);
      const url = endpointIn(found, 'authorization_endpoint', jwt.issuer);
      if (!/^https?:$/.test(url.protocol)) throw refused(`${jwt.issuer} names an address that is not a web page`);
      const [state, nonce, verifier] = [secretText(), secretText(), secretText()];
      const parameters = {
        response_type: 'code',
        client_id: jwt.signIn.clientId,
        redirect_uri: redirectUri,
        scope: scopesOf(jwt.signIn.scopes),
        state,
        nonce,
        code_challenge: hash('sha256', verifier, 'base64url'),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { url: url.href, state, nonce, verifier, redirectUri, issuer: jwt.issuer };
    },
    async finish({ nonce, verifier, redirectUri, issuer }, code) {
      const jwt = access()?.jwt;
      if (jwt?.signIn === undefined) throw refused('access.jwt.signIn is not configured any more');
      if (jwt.issuer !== issuer) throw refused(`it began at ${issuer}, and access.jwt has another issuer now`);
      const url = endpointIn(await describe(jwt), 'token_endpoint', jwt.issuer);
      const { clientId, secret } = jwt.signIn;
      const authorization =
        secret === undefined ? {} : { authorization: basic(clientId, await revealSecret(nameOf(secret), url.host)) };
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        client_id: clientId,
        code_verifier: verifier,
      };
      const { access_token: accessToken, id_token: idToken } = await exchange(url, form, { authorization, jwt });
      if (typeof idToken !== 'string') throw refused(`${url.host} sent no ID token; "openid" must be among the scopes`);
      await requireNonce(idToken, nonce, { ...jwt, clientId, clocks });
      return [...(isJwt(accessToken) ? [accessToken] : []), idToken];
    },
  };
}

/** Fetches the description of the issuer, one request at a time. A failure is not kept. */
function createDescriptions({ steady }: JwtClocks): (jwt: JwtConfig) => ReturnType<typeof discoverIssuer> {
  let held:
    | { readonly issuer: string; readonly at: number; readonly found: ReturnType<typeof discoverIssuer> }
    | undefined;
  return ({ issuer }) => {
    const age = held?.issuer === issuer ? steady.now() - held.at : DESCRIBED_MS;
    if (held !== undefined && age >= 0 && age < DESCRIBED_MS) return held.found;
    const asked = { issuer, at: steady.now(), found: discoverIssuer({ issuer }) };
    held = asked;
    asked.found.catch(() => {
      if (held === asked) held = undefined;
    });
    return asked.found;
  };
}

function secretText(): string {
  return randomBytes(32).toString('base64url');
}

function scopesOf(scopes: string | readonly string[] | undefined): string {
  return scopes === undefined ? SCOPES : [...new Set(['openid', ...listOf(scopes)])].join(' ');
}

interface Exchanging {
  readonly authorization: Readonly<Record<string, string>>;
  readonly jwt: JwtConfig;
}

async function exchange(
  url: URL,
  form: Readonly<Record<string, string>>,
  { authorization, jwt }: Exchanging,
): Promise<Readonly<Record<string, unknown>>> {
  const isOwnOrigin = url.origin === new URL(jwt.issuer).origin;
  const { status, bytes } = await guardedFetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded', ...authorization },
    body: new URLSearchParams(form).toString(),
    maxBytes: MAX_BYTES,
    maxRedirects: 0,
    timeoutMs: TIMEOUT_MS,
    ...(isOwnOrigin && { allowPrivate: 'first' as const }),
  });
  const answer = readJson(bytes.toString('utf8'));
  if (status === 200) return answer;
  const why = typeof answer.error === 'string' ? answer.error.slice(0, 100) : `status ${status}`;
  throw refused(`${url.host} did not accept the code: ${why}`);
}

function readJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Verifies that the ID token is for this client and for this sign-in, so that no other token can take its place. */
async function requireNonce(
  idToken: string,
  nonce: string,
  {
    clientId,
    clocks,
    algorithms,
    audience: _audience,
    ...jwt
  }: JwtConfig & { readonly clientId: string; readonly clocks: JwtClocks },
): Promise<void> {
  const allowed = algorithms === undefined ? {} : { algorithms: listOf(algorithms) };
  const verified = await createJwtVerifier({ ...jwt, ...allowed, audience: [clientId] }, clocks)(idToken);
  if (typeof verified === 'string') throw refused(`the ID token is refused: ${verified}`);
  const claims = readJson(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
  if (claims.nonce !== nonce) throw refused('the ID token is of another sign-in: its nonce is different');
}

/** The name in a reference to a secret. */
function nameOf(secret: unknown): string {
  return isSecretTemplate(secret) ? (secretsIn(secret)[0] ?? '') : String(secret);
}

function isJwt(token: unknown): token is string {
  return typeof token === 'string' && token.split('.', 4).length === 3;
}

function basic(id: string, secret: string): string {
  const text = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

function refused(why: string): ToolcribError {
  return new ToolcribError('sign_in_refused', `The sign-in failed: ${why}.`);
}
