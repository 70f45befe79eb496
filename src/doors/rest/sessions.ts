import { randomBytes } from 'node:crypto';
import type { Identity } from '../../core/caller.ts';
import { toolError } from '../../core/tool-error.ts';
import type { Crib } from '../../crib/crib.ts';
import type { SignInStart } from '../../identity/sign-in.ts';

/** The header that proves a script of the console as the sender: no form and no link can set it. */
export const CONSOLE_HEADER = 'x-toolcrib-console';

/** Options for creating sessions. */
export interface SessionOptions {
  /** Maximum time of a session. Default: 12 hours. */
  readonly longestMs?: number;
  /** Maximum number of sessions of one credential; a further one ends the oldest. Default: 20. */
  readonly mostEach?: number;
  /** Maximum number of sessions; a further one ends the oldest. Default: 1000. */
  readonly most?: number;
  /** Milliseconds since 1970. */
  now?(): number;
}

/** A browser that signed in with a credential. */
interface BrowserSession {
  readonly credential: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** The sessions of browsers. Each request checks the credential of its session again, so a session ends with its credential. */
export interface Sessions {
  /** Creates a session and returns it with its Set-Cookie header. A session that the browser had before ends. */
  begin(credential: string, request: Request): BrowserSession & { readonly cookie: string };
  /** The session of the cookie of a request; undefined if it has ended. */
  of(request: Request): BrowserSession | undefined;
  /** True if the request has the cookie of a session, ended or not. */
  hasCookie(request: Request): boolean;
  /** The sign-ins at the issuer that have begun and not ended. */
  readonly pending: PendingSignIns;
  /** Ends the session of a request and returns the Set-Cookie header that removes the cookie. */
  end(request: Request): string;
}

const LONGEST_MS = 12 * 3_600_000;

/** Creates sessions in memory. The cookie is a random value, not the credential: browsers send cookies to every port of a host. */
export function createSessions(options: SessionOptions = {}): Sessions {
  const { longestMs = LONGEST_MS, mostEach = 20, most = 1000, now = Date.now } = options;
  const sessions = new Map<string, BrowserSession>();
  const of = (request: Request): BrowserSession | undefined => {
    const value = cookieOf(request);
    const session = value === undefined ? undefined : sessions.get(value);
    if (session === undefined || session.endsAt > now()) return session;
    sessions.delete(value ?? '');
    return undefined;
  };
  return {
    of,
    pending: createPending(now),
    hasCookie: (request) => cookieOf(request) !== undefined,
    begin(credential, request) {
      sessions.delete(cookieOf(request) ?? '');
      for (const [value, { endsAt }] of sessions) if (endsAt <= now()) sessions.delete(value);
      const own = [...sessions].filter(([, session]) => session.credential === credential).map(([value]) => value);
      for (const value of own.slice(0, Math.max(0, own.length + 1 - mostEach))) sessions.delete(value);
      const [oldest = ''] = sessions.keys();
      if (sessions.size >= most) sessions.delete(oldest);
      const value = randomBytes(24).toString('base64url');
      const endsAt = Math.min(now() + longestMs, expiryOf(credential));
      sessions.set(value, { credential, endsAt });
      return { credential, endsAt, cookie: toCookie(request, value) };
    },
    end(request) {
      sessions.delete(cookieOf(request) ?? '');
      return `${toCookie(request, '')}; Max-Age=0`;
    },
  };
}

/** A sign-in at the issuer, and the page to return to. */
interface PendingSignIn {
  readonly start: SignInStart;
  readonly to: string;
}

/** Sign-ins at the issuer. Each is bound to the browser that began it by a cookie, and is taken up once. */
interface PendingSignIns {
  /** Keeps a sign-in and returns the Set-Cookie header. */
  keep(pending: PendingSignIn, request: Request): string;
  /** Takes up the sign-in of this state and browser; undefined if there is none. */
  take(state: string, request: Request): PendingSignIn | undefined;
}

const PENDING_MS = 600_000;
const MOST_PENDING = 1000;

function createPending(now: () => number): PendingSignIns {
  const kept = new Map<string, PendingSignIn & { readonly browser: string; readonly endsAt: number }>();
  return {
    keep(pending, request) {
      for (const [state, { endsAt }] of kept) if (endsAt <= now()) kept.delete(state);
      const [oldest = ''] = kept.keys();
      if (kept.size >= MOST_PENDING) kept.delete(oldest);
      const browser = randomBytes(24).toString('base64url');
      kept.set(pending.start.state, { ...pending, browser, endsAt: now() + PENDING_MS });
      // The issuer sends the browser back from another site, so the cookie cannot be strict.
      return `${signInName(request)}=${browser}; Path=/api/session; HttpOnly; SameSite=Lax; Max-Age=${PENDING_MS / 1000}${secureOf(request)}`;
    },
    take(state, request) {
      const found = kept.get(state);
      const browser = cookieNamed(signInName(request), request);
      if (found === undefined || browser === undefined || browser !== found.browser) return undefined;
      kept.delete(state);
      return found.endsAt > now() ? found : undefined;
    },
  };
}

function signInName(request: Request): string {
  return nameOf(request).replace('session', 'sign_in');
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
  if (session === undefined) return ENDED;
  const identity = await crib.identify(session.credential);
  if (identity.ok || identity.error.code !== 'unauthenticated') return identity;
  sessions.end(request);
  return ENDED;
}

const ENDED: Identity = {
  ok: false,
  error: toolError('unauthenticated', 'The session has ended. Sign in again.'),
};

/** True if a script of a page of this server sent the request. The header alone is not enough, because a proxy may add it for every client. */
export function isFromConsole(request: Request): boolean {
  const { headers } = request;
  if (headers.get(CONSOLE_HEADER) !== '1') return false;
  const origin = headers.get('origin');
  if (origin !== null) return isOwnOrigin(origin, headers.get('host') ?? new URL(request.url).host);
  return headers.get('sec-fetch-site') === 'same-origin';
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

function cookieNamed(name: string, request: Request): string | undefined {
  const start = `${name}=`;
  const cookies = (request.headers.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
  const value = cookies.find((cookie) => cookie.startsWith(start))?.slice(start.length);
  return value === '' ? undefined : value;
}

function toCookie(request: Request, value: string): string {
  return `${nameOf(request)}=${value}; Path=/; HttpOnly; SameSite=Strict${secureOf(request)}`;
}

function secureOf(request: Request): string {
  const isEncrypted = request.url.startsWith('https:') || request.headers.get('origin')?.startsWith('https:') === true;
  return isEncrypted ? '; Secure' : '';
}
