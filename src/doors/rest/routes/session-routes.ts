import type { Identity } from '../../../core/caller.ts';
import type { Crib } from '../../../crib/crib.ts';
import { packageVersion } from '../../../system/package-version.ts';
import { toTime } from '../../shown.ts';
import { type Answer, ok, refuse, refuseFor } from '../answers.ts';
import type { Route, RouteRequest } from '../route.ts';
import { CONSOLE_HEADER, isFromConsole } from '../sessions.ts';
import { choice, flag, list, object, text, time } from '../shapes.ts';
import { SIGN_IN_PATH } from './sign-in-routes.ts';

const ROLES = ['operator', 'approver', 'caller', 'none'] as const;
const PAGES = ['tools', 'approvals', 'calls', 'sources'] as const;

const SESSION = object({
  signedIn: flag('True if the caller has a credential.'),
  role: choice(
    ROLES,
    'operator: everything. caller: its own. approver: a caller that may open no profile, so it sees approvals alone. none: the server needs a credential.',
  ),
  'caller?': object({ 'id?': text(), 'roles?': list(text()) }),
  profiles: list(text(), 'The profiles that the caller may open.'),
  pages: list(choice(PAGES), 'The pages of the console that the caller may see.'),
  'endsAt?': time('The latest end of the session. It ends earlier if its credential is revoked.'),
  methods: list(
    object({
      kind: choice(['token', 'key', 'jwt', 'issuer']),
      says: text(),
      'start?': text('The address that begins the sign-in at the issuer.'),
    }),
    'The ways to sign in.',
  ),
  version: text('The version of the server.'),
});

const CREDENTIAL = text('The operator token, an API key or a JWT.', { minLength: 1, maxLength: 16_384 });

/** Routes of the session of a browser. */
export const SESSION_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/session',
    group: 'session',
    says: 'Tells who the caller is, what it may see, and how it can sign in.',
    who: 'anyone',
    answers: { 200: { says: 'The caller and its session.', schema: SESSION } },
    run: showSession,
  },
  {
    method: 'POST',
    path: '/api/session',
    group: 'session',
    says: `Signs a browser in with a credential and sets a cookie. The cookie opens /api only for requests of our own pages with the header \`${CONSOLE_HEADER}: 1\`.`,
    who: 'anyone',
    body: object({ credential: CREDENTIAL }),
    answers: { 200: { says: 'The browser is signed in.', schema: SESSION } },
    run: signIn,
  },
  {
    method: 'DELETE',
    path: '/api/session',
    group: 'session',
    says: 'Signs the browser out.',
    who: 'anyone',
    answers: { 200: { says: 'The session has ended.', schema: SESSION } },
    run: signOut,
  },
];

async function showSession({ crib, identify, request, sessions }: RouteRequest): Promise<Answer> {
  const identity = await identify(request);
  if (!identity.ok && identity.error.code !== 'unauthenticated') return refuseFor(identity.error);
  const session = sessions.of(request);
  const shown = ok(describeSession(crib, identity, session?.endsAt));
  const isOver = session === undefined && sessions.hasCookie(request) && isFromConsole(request);
  return isOver ? { ...shown, headers: { 'set-cookie': sessions.end(request) } } : shown;
}

async function signIn({ crib, request, sessions, body }: RouteRequest): Promise<Answer> {
  const { credential } = body as { readonly credential: string }; // as its schema demands
  if (!isFromConsole(request)) return refuse(403, { code: 'denied', message: NOT_OURS, retryable: false });
  const identity = await crib.identify(credential);
  if (!identity.ok) return refuseFor(identity.error);
  const given = credential.trim().replace(/^Bearer\s+/i, '');
  if (given === '' || identity.caller.credential?.kind === 'none') return refuse(401, NO_CREDENTIAL);
  const { cookie, endsAt } = sessions.begin({ credential: given, caller: identity.caller.id }, request);
  return { ...ok(describeSession(crib, identity, endsAt)), headers: { 'set-cookie': cookie } };
}

const NOT_OURS = `Only a page of this server may sign a browser in. Send the header "${CONSOLE_HEADER}: 1" from such a page.`;
const NO_CREDENTIAL = {
  code: 'unauthenticated',
  message: 'The credential is empty. Give the operator token, an API key or a JWT.',
  retryable: false,
} as const;

async function signOut({ crib, request, sessions }: RouteRequest): Promise<Answer> {
  if (!isFromConsole(request)) return refuse(403, { code: 'denied', message: NOT_OURS_TO_END, retryable: false });
  const cookie = sessions.end(request);
  return { ...ok(describeSession(crib)), headers: { 'set-cookie': cookie } };
}

const NOT_OURS_TO_END = `Only a page of this server may end a session. Send the header "${CONSOLE_HEADER}: 1" from such a page.`;

/** Describes a caller for the console: the server decides what is shown. */
function describeSession(crib: Crib, identity?: Identity, endsAt?: number): object {
  const caller = identity?.ok === true ? identity : undefined;
  const role = roleOf(identity);
  const { id, roles = [] } = caller?.caller ?? {};
  return {
    signedIn: caller !== undefined && caller.caller.credential?.kind !== 'none',
    role,
    ...(caller !== undefined && { caller: { ...(id !== undefined && { id }), roles } }),
    profiles: caller?.profiles ?? [],
    pages: PAGES_OF[role],
    ...(endsAt !== undefined && Number.isFinite(endsAt) && { endsAt: toTime(endsAt) }),
    methods: methodsOf(crib),
    version: packageVersion(),
  };
}

const PAGES_OF: Readonly<Record<(typeof ROLES)[number], readonly (typeof PAGES)[number][]>> = {
  operator: PAGES,
  approver: ['approvals'],
  caller: ['tools', 'approvals', 'calls'],
  none: [],
};

function roleOf(identity: Identity | undefined): (typeof ROLES)[number] {
  if (identity?.ok !== true) return 'none';
  if (identity.operator) return 'operator';
  return identity.profiles.length === 0 ? 'approver' : 'caller';
}

function methodsOf(crib: Crib): readonly object[] {
  const { keys, jwt } = crib.server.accessSettings() ?? {};
  return [
    { kind: 'token', says: 'The operator token, or the link that the server prints at start' },
    ...(keys === true ? [{ kind: 'key', says: 'An API key of "toolcrib keys create"' }] : []),
    ...(jwt?.signIn !== undefined
      ? [{ kind: 'issuer', says: `Sign in at ${new URL(jwt.issuer).host}`, start: SIGN_IN_PATH }]
      : []),
    ...(jwt !== undefined ? [{ kind: 'jwt', says: `A token of ${jwt.issuer}` }] : []),
  ];
}
