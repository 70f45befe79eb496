import { messageOf } from '../../../core/tool-error.ts';
import { refuse } from '../answers.ts';
import { html, toPage } from '../html-page.ts';
import type { Route, RouteRequest } from '../route.ts';
import { shortText, text } from '../shapes.ts';

/** The path that begins a sign-in at the issuer. */
export const SIGN_IN_PATH = '/api/session/issuer';
const CALLBACK_PATH = '/api/session/callback';
const FIRST_PAGE = '/tools';
/** A longer address does not fit into the cookie of a sign-in. */
const MAX_PAGE_LENGTH = 2000;

/** Routes that sign a browser in at the issuer of `access.jwt`. Browsers navigate to them. */
export const SIGN_IN_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: SIGN_IN_PATH,
    group: 'session',
    says: 'Sends the browser to the issuer of access.jwt to sign in (authorization code with PKCE).',
    who: 'anyone',
    query: { 'to?': shortText('The page of this server to return to. Default: /tools.', 2000) },
    answers: { 302: { says: 'A redirect to the issuer.' } },
    run: beginSignIn,
  },
  {
    method: 'GET',
    path: CALLBACK_PATH,
    ignoresOtherQuery: true,
    group: 'session',
    says: 'Receives the browser from the issuer, exchanges the code for tokens, and begins a session.',
    who: 'anyone',
    query: {
      'code?': text('The code of the issuer.', { maxLength: 4000 }),
      'state?': text('The state of the sign-in.', { maxLength: 1000 }),
      'error?': text('The reason why the issuer signs the user not in.', { maxLength: 1000 }),
      'iss?': text('The issuer.', { maxLength: 2000 }),
    },
    answers: {
      200: { says: 'A page that leads back to the console.', type: 'text/html' },
      401: { says: 'A page with the reason.', type: 'text/html' },
    },
    run: endSignIn,
  },
];

async function beginSignIn({ crib, request, query, sessions }: RouteRequest) {
  const { to } = query as { readonly to?: string }; // as its schema demands
  try {
    const start = await crib.server.signIn.begin(`${originOf({ crib, request })}${CALLBACK_PATH}`);
    if (start === undefined)
      return refuse(404, { code: 'not_found', message: 'Sign-in at an issuer is not configured.', retryable: false });
    const cookie = sessions.keepSignIn({ start, to: pageIn(to) }, request);
    const headers = {
      location: start.url,
      'set-cookie': cookie,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    };
    return new Response(null, { status: 302, headers });
  } catch (cause) {
    crib.server.warn(`A sign-in could not begin: ${messageOf(cause)}`);
    const message = 'The issuer is not available at the moment. Try again later.';
    return refuse(503, { code: 'unavailable', message, retryable: true });
  }
}

interface Returned {
  readonly code?: string;
  readonly state?: string;
  readonly error?: string;
  readonly iss?: string;
}

async function endSignIn({ crib, request, query, sessions }: RouteRequest): Promise<Response> {
  const { code, state = '', error, iss } = query as Returned; // as its schema demands
  const pending = sessions.takeSignIn(state, request);
  if (pending === undefined) return failed('This sign-in has expired, or it began in another browser.');
  if (iss !== undefined && iss !== crib.server.accessSettings()?.jwt?.issuer) return failed('Another issuer answered.');
  if (code === undefined || code === '')
    return failed(error === 'access_denied' ? 'The issuer denied access.' : 'The issuer sent no code.');
  try {
    for (const token of await crib.server.signIn.finish(pending.start, code)) {
      const identity = await crib.identify(token);
      if (!identity.ok) continue;
      return signedIn(pending.to, sessions.begin({ credential: token, caller: identity.caller.id }, request).cookie);
    }
    crib.server.warn(
      'A sign-in failed: none of the tokens of the issuer is accepted. Compare access.jwt.audience with the audience of its tokens.',
    );
    return failed('The server does not accept the tokens of the issuer. The log of the server has the reason.');
  } catch (cause) {
    crib.server.warn(messageOf(cause));
    return failed('The code of the issuer could not be exchanged. The log of the server has the reason.');
  }
}

/** Leads back with a page instead of a redirect: a browser does not send a strict cookie in a chain that began at another site. */
function signedIn(to: string, cookie: string): Response {
  const page = toPage(
    'Signed in',
    html`<meta http-equiv="refresh" content="0;url=${to}"><p><a href="${to}">Continue</a></p>`,
  );
  page.headers.set('set-cookie', cookie);
  return page;
}

function failed(why: string): Response {
  return toPage('Not signed in', html`<p>${why}</p><p><a href="${FIRST_PAGE}">Back to the console</a></p>`, 401);
}

/** The address of this server as the browser knows it. The Host header was checked. */
function originOf({ crib, request }: Pick<RouteRequest, 'crib' | 'request'>): string {
  const { publicUrl } = crib.server.serverSettings();
  if (publicUrl !== undefined) return new URL(publicUrl).origin;
  const { protocol, host } = new URL(request.url);
  return `${protocol}//${request.headers.get('host') ?? host}`;
}

/** A page of this server; anything else leads to the first page. */
function pageIn(to: string | undefined): string {
  const base = 'http://crib.invalid';
  if (to === undefined || !/^\/(?![/\\])/.test(to) || !URL.canParse(to, base)) return FIRST_PAGE;
  const { origin, pathname, search, hash } = new URL(to, base);
  const page = `${pathname}${search}${hash}`;
  return origin === base && !pathname.startsWith('//') && page.length <= MAX_PAGE_LENGTH ? page : FIRST_PAGE;
}
