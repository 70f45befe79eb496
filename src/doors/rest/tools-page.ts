import { createHash } from 'node:crypto';
import type { Identity } from '../../core/caller.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { Crib } from '../../crib/crib.ts';
import { openToList, type Route, type RouteRequest } from './route.ts';

const MOST_ROWS = 2000;

/** The route of a plain HTML list of tools. */
export const TOOLS_PAGE: Route = {
  method: 'GET',
  path: '/tools',
  group: 'pages',
  says: 'Shows the tools as an HTML page. ?token= with the operator token signs the browser in and shows all tools.',
  who: 'anyone', // the route identifies the caller itself, because a browser sends no Authorization header
  query: {
    'token?': {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      description: 'The operator token, as in the link that the server prints at start.',
    },
  },
  answers: { 200: { says: 'HTML without scripts.', type: 'text/html' } },
  run: showTools,
};

/** The route that redirects the root to the tools. */
export const START_PAGE: Route = {
  method: 'GET',
  path: '/',
  group: 'pages',
  says: 'Redirects to /tools.',
  who: 'anyone',
  answers: { 302: { says: 'A redirect to /tools.' } },
  run: () => new Response(null, { status: 302, headers: { location: '/tools', 'cache-control': 'no-store' } }),
};

async function showTools(asked: RouteRequest): Promise<Response> {
  const { crib, query, sessions, request } = asked;
  if (typeof query.token === 'string') {
    const identity = await crib.identify(query.token);
    return identity.ok && identity.operator ? beginSession(sessions.begin(query.token, request).cookie) : refused();
  }
  const credential = sessions.of(request)?.credential;
  const asker = credential === undefined ? await asked.identify(request) : await crib.identify(credential);
  if (!asker.ok) return refused();
  const chest = await openToList({ crib, asker }, undefined);
  return listPage(chest.listActive(), asker, crib);
}

/** Redirects, so that the token does not stay in the address bar and the history. */
function beginSession(cookie: string): Response {
  const headers = {
    location: '/tools',
    'set-cookie': cookie,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  };
  return new Response(null, { status: 303, headers });
}

function refused(): Response {
  const body = html`<p>Open <code>/tools?token=</code> with the operator token. <code>toolcrib serve</code> prints at start where to find it.</p>`;
  return toPage('Not signed in', body, 401);
}

function listPage(specs: readonly ToolSpec[], asker: Extract<Identity, { ok: true }>, crib: Crib): Response {
  const shown = specs.slice(0, MOST_ROWS);
  const rest = specs.length - shown.length;
  const whose = asker.operator ? 'All tools' : 'The tools of the default profile';
  const rows = shown.map(
    ({ name, description, source }) => html`<tr><td><code>${name}</code></td><td>${description.slice(0, 500)}</td>
<td>${source}</td><td>${crib.bundles
      .of(name)
      .map((bundle) => bundle.name)
      .join(', ')}</td></tr>
`,
  );
  const more =
    rest === 0 ? html`` : html`<p class="muted">${rest} more tools are not shown. GET /api/tools lists them.</p>`;
  return toPage(
    'Tools',
    html`<p class="muted">${whose}: ${specs.length}. The REST API is described at <a href="/openapi.json">/openapi.json</a>; MCP is at <code>/mcp</code>.</p>
<table><thead><tr><th>Name</th><th>Description</th><th>Source</th><th>Bundles</th></tr></thead><tbody>
${rows}</tbody></table>${more}`,
  );
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-bottom:1px solid #ddd}
code{font:14px ui-monospace,monospace}.muted{color:#666}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#111}th,td{border-color:#333}.muted{color:#999}}`;

/** Content security policy: no scripts, no frames, no external resources, only this style. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Escaped HTML. */
interface Html {
  readonly html: string;
}

/** Template tag that escapes every value except HTML of this tag. */
function html(texts: TemplateStringsArray, ...values: readonly (string | number | Html | readonly Html[])[]): Html {
  const shown = values.map((value) => {
    if (typeof value === 'string' || typeof value === 'number') return toSafeText(String(value));
    return Array.isArray(value) ? value.map((part: Html) => part.html).join('') : (value as Html).html; // neither a text nor a list
  });
  return { html: texts.reduce((text, part, index) => `${text}${shown[index - 1] ?? ''}${part}`) };
}

/** Builds the response of a page. */
function toPage(title: string, body: Html, status = 200): Response {
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${{ html: STYLE }}</style></head><body><h1>${title}</h1>
${body}
</body></html>
`;
  return new Response(page.html, { status, headers: HEADERS });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// Names and descriptions are untrusted: they must neither be markup nor change the text direction.
function toSafeText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
