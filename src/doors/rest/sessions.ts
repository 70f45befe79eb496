import { randomBytes } from 'node:crypto';
import type { Identity } from '../../core/caller.ts';
import { toolError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import { createPendingSignIns, PENDING_MS, type PendingSignIn } from './pending-sign-ins.ts';

/** The header that proves a script of the console as the sender: no form and no link can set it. */
export const CONSOLE_HEADER = 'x-toolcrib-console';

/** Options for creating sessions. */
export interface SessionOptions {
  /** Maximum time of a session. Default: 12 hours. */
  readonly longestMs?: number;
  /** Maximum number of sessions of one caller; a further one ends its oldest. Default: 20. */
  readonly mostEach?: number;
  /** Maximum number of sessions; a further one ends the oldest. Default: 1000. */
  readonly most?: number;
  /** The address of the server for browsers; with https, every cookie is for https only. */
  publicUrl?(): string | undefined;
  /** Milliseconds since 1970. */
  now?(): number;
}

/** An accepted credential and the id of its caller. */
interface SignedIn {
  readonly credential: string;
  readonly caller: string | undefined;
}

/** A browser that signed in with a credential. */
interface BrowserSession {
  readonly credential: string;
  readonly caller: string | undefined;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** The sessions of browsers. Each request checks the credential of its session again, so a session ends with its credential. */
export interface Sessions {
  /** Creates a session and returns it with its Set-Cookie header. A session that the browser had before ends. */
  begin(signedIn: SignedIn, request: Request): BrowserSession & { readonly cookie: string };
  /** The session of the cookie of a request; undefined if it has ended. */
  of(request: Request): BrowserSession | undefined;
  /** True if the request has the cookie of a session, ended or not. */
  hasCookie(request: Request): boolean;
  /** Keeps a sign-in at the issuer that has begun, and returns its Set-Cookie header. */
  keepSignIn(pending: PendingSignIn, request: Request): string;
  /** Takes up the sign-in of this state and browser, once; undefined if there is none. */
  takeSignIn(state: string, request: Request): PendingSignIn | undefined;
  /** Ends the session of a request and returns the Set-Cookie header that removes the cookie. */
  end(request: Request): string;
}

const LONGEST_MS = 12 * 3_600_000;

/** Creates sessions in memory. The cookie is a random value, not the credential: browsers send cookies to every port of a host. */
export function createSessions(options: SessionOptions = {}): Sessions {
  const { longestMs = LONGEST_MS, mostEach = 20, most = 1000, now = Date.now } = options;
  const sessions = new Map<string, BrowserSession>();
  const pending = createPendingSignIns(now);
  const secureOf = (request: Request): string => (isEncrypted(request, options.publicUrl?.()) ? '; Secure' : '');
  const toCookie = (request: Request, value: string): string =>
    `${nameOf(request)}=${value}; Path=/; HttpOnly; SameSite=Strict${secureOf(request)}`;
  const of = (request: Request): BrowserSession | undefined => {
    const value = cookieOf(request);
    const session = value === undefined ? undefined : sessions.get(value);
    if (session === undefined || session.endsAt > now()) return session;
    sessions.delete(value ?? '');
    return undefined;
  };
  return {
    of,
    // The issuer sends the browser back from another site, so the cookie cannot be strict.
    keepSignIn: (begun, request) =>
      `${signInName(request)}=${pending.keep(begun)}; Path=/api/session; HttpOnly; SameSite=Lax; Max-Age=${PENDING_MS / 1000}${secureOf(request)}`,
    takeSignIn: (state, request) => pending.take(state, cookieNamed(signInName(request), request) ?? ''),
    hasCookie: (request) => cookieOf(request) !== undefined,
    begin({ credential, caller }, request) {
      sessions.delete(cookieOf(request) ?? '');
      for (const [value, { endsAt }] of sessions) if (endsAt <= now()) sessions.delete(value);
      const own = [...sessions].filter(([, session]) => session.caller === caller).map(([value]) => value);
      for (const value of own.slice(0, Math.max(0, own.length + 1 - mostEach))) sessions.delete(value);
      const [oldest = ''] = sessions.keys();
      if (sessions.size >= most) sessions.delete(oldest);
      const value = randomBytes(24).toString('base64url');
      const endsAt = Math.min(now() + longestMs, expiryOf(credential));
      sessions.set(value, { credential, caller, endsAt });
      return { credential, caller, endsAt, cookie: toCookie(request, value) };
    },
    end(request) {
      sessions.delete(cookieOf(request) ?? '');
      return `${toCookie(request, '')}; Max-Age=0`;
    },
  };
}

/** The expiry of an accepted JWT, so that the page can tell when its session ends. Other credentials are checked by each request. */
function expiryOf(credential: string): number {
  const [, claims, signature] = credential.split('.');
  if (claims === undefined || signature === undefined) return Number.POSITIVE_INFINITY;
  try {
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    return typeof exp === 'number' ? exp * 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Identifies the caller of a request by its session; undefined if the request has no session, or no proof that it comes from a page of this server. */
export async function identifyBySession(
  request: Request,
  sessions: Sessions,
  crib: Pick<Crib, 'identify'>,
): Promise<Identity | undefined> {
  if (!sessions.hasCookie(request) || !isFromConsole(request)) return undefined;
  const session = sessions.of(request);
  if (session === undefined) return cookieOf(request) === AMBIGUOUS ? SEVERAL : ENDED;
  const identity = await crib.identify(session.credential);
  if (identity.ok || identity.error.code !== 'unauthenticated') return identity;
  sessions.end(request);
  return ENDED;
}

const ENDED: Identity = {
  ok: false,
  error: toolError('unauthenticated', 'The session has ended. Sign in again.'),
};

const SEVERAL: Identity = {
  ok: false,
  error: toolError(
    'unauthenticated',
    'The browser sent several sessions, so none counts. Another server of this host may have set one: remove the cookies of this host, and sign in again.',
  ),
};

/** True if a script of a page of this server sent the request. The header alone is not enough, because a proxy may add it for every client. */
export function isFromConsole(request: Request): boolean {
  const { headers } = request;
  if (headers.get(CONSOLE_HEADER) !== '1') return false;
  const origin = headers.get('origin');
  if (origin !== null) return isOwnOrigin(origin, headers.get('host') ?? new URL(request.url).host);
  return headers.get('sec-fetch-site') === 'same-origin';
}

/** True for a navigation that a page of another origin may have begun. A typed or pasted address has no such page. */
export function isFromOtherPage({ headers, url }: Request): boolean {
  const origin = headers.get('origin');
  if (origin !== null) return !isOwnOrigin(origin, headers.get('host') ?? new URL(url).host);
  return !['same-origin', 'none', null].includes(headers.get('sec-fetch-site'));
}

/** Compares hosts but not schemes: a proxy in front may use https. */
export function isOwnOrigin(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: from } = new URL(origin);
  return /^https?:$/.test(protocol) && new URL(`${protocol}//${host}`).host === from;
}

/** The name of the cookie has the port, because browsers share the cookies of a host between its ports. */
function nameOf(request: Request): string {
  const host = request.headers.get('host') ?? new URL(request.url).host;
  const [, port] = /:(\d{1,5})$/.exec(host) ?? [];
  return port === undefined ? 'toolcrib_session' : `toolcrib_session_${port}`;
}

function cookieOf(request: Request): string | undefined {
  return cookieNamed(nameOf(request), request);
}

/** Stands for several cookies of the same name; it is the value of no session. */
const AMBIGUOUS = ' ';

function cookieNamed(name: string, request: Request): string | undefined {
  const start = `${name}=`;
  const cookies = (request.headers.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
  const [value = '', ...others] = new Set(cookies.filter((cookie) => cookie.startsWith(start)));
  // A server on another port, or of a neighbouring domain, can add a cookie of its own; which one counts is not known.
  if (others.length > 0) return AMBIGUOUS;
  return value === '' || value === start ? undefined : value.slice(start.length);
}

function signInName(request: Request): string {
  return nameOf(request).replace('session', 'sign_in');
}

/** True if the browser uses https. A proxy that ends TLS is known by the public address, or by the origin of the page. */
function isEncrypted(request: Request, publicUrl: string | undefined): boolean {
  const { host } = new URL(request.url);
  const isPublic = publicUrl !== undefined && new URL(publicUrl).host === (request.headers.get('host') ?? host);
  return [request.url, request.headers.get('origin'), isPublic ? publicUrl : undefined].some(
    (address) => address?.toLowerCase().startsWith('https:') === true,
  );
}
