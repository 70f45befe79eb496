import type { Route, RouteRequest } from '../route.ts';
import { isFromOtherPage } from '../sessions.ts';

const HTML = { 200: { says: 'The console as HTML. It contains no data: its script asks the API.', type: 'text/html' } };

const PAGES: Readonly<Record<string, string>> = {
  '/tools/{name}': 'Opens the console at a tool.',
  '/approvals': 'Opens the console at the approvals.',
  '/approvals/{id}': 'Opens the console at an approval.',
  '/calls': 'Opens the console at the calls.',
  '/calls/{id}': 'Opens the console at a call.',
  '/sources': 'Opens the console at the sources.',
  '/sources/{id}': 'Opens the console at a source.',
};

/** Routes of the console: one page for all addresses, and its files. */
export const CONSOLE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/',
    group: 'pages',
    says: 'Redirects to /tools.',
    who: 'anyone',
    answers: { 302: { says: 'A redirect to /tools.' } },
    run: () => new Response(null, { status: 302, headers: { location: '/tools', 'cache-control': 'no-store' } }),
  },
  {
    method: 'GET',
    path: '/tools',
    group: 'pages',
    says: 'Opens the console at the tools. ?token= with the operator token signs the browser in.',
    who: 'anyone',
    isPage: true,
    query: {
      'token?': {
        type: 'string',
        minLength: 1,
        maxLength: 1000,
        description: 'The operator token, as in the link that the server prints at start.',
      },
    },
    answers: { ...HTML, 303: { says: 'A redirect to the same page without the token.' } },
    run: openTools,
  },
  ...Object.entries(PAGES).map(
    ([path, says]): Route => ({
      method: 'GET',
      path,
      group: 'pages',
      says,
      who: 'anyone',
      isPage: true,
      answers: HTML,
      run: ({ files }) => files.page(),
    }),
  ),
  {
    method: 'GET',
    path: '/assets/{file}',
    group: 'pages',
    says: 'Returns a file of the console.',
    who: 'anyone',
    answers: { 200: { says: 'The file.', type: 'application/octet-stream' } },
    run: ({ files, params, request }) => files.asset(params.file ?? '', request),
  },
];

async function openTools({ crib, request, sessions, files }: RouteRequest): Promise<Response> {
  const [token, ...more] = new URL(request.url).searchParams.getAll('token');
  if (token === undefined) return files.page();
  // Another page could sign the browser in with a credential of its own.
  const counts = more.length === 0 && token !== '' && !isFromOtherPage(request);
  const identity = counts ? await crib.identify(token) : undefined;
  if (identity?.ok !== true || !identity.operator) return toTools('?signin=failed');
  return toTools('', sessions.begin({ credential: token, caller: identity.caller.id }, request).cookie);
}

/** Redirects, so that the token does not stay in the address bar and the history. */
function toTools(query: string, cookie?: string): Response {
  const headers = {
    location: `/tools${query}`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    ...(cookie !== undefined && { 'set-cookie': cookie }),
  };
  return new Response(null, { status: 303, headers });
}
