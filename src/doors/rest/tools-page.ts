import { createHash } from 'node:crypto';
import type { Identity } from '../../core/caller.ts';
import type { ToolSpec } from '../../core/tool-spec.ts';
import type { Crib } from '../../crib/crib.ts';
import { openToList, type Route, type RouteRequest } from './route.ts';

const COOKIE = 'toolcrib_page';
const MOST_ROWS = 2000;

/** A plain list to look at, until the console takes its place. */
export const TOOLS_PAGE: Route = {
  method: 'GET',
  path: '/tools',
  group: 'pages',
  says: 'The tools as a page. With ?token= of the operator, a browser is shown all of them from then on.',
  who: 'anyone', // who asks is found out here, since a browser sends no header
  query: {
    'token?': {
      type: 'string',
      minLength: 1,
      maxLength: 1000,
      description: 'The operator token, as in the link that is printed at start.',
    },
  },
  answers: { 200: { says: 'HTML without scripts.', type: 'text/html' } },
  run: showTools,
};

/** Whoever opens the bare address is shown the tools. */
export const START_PAGE: Route = {
  method: 'GET',
  path: '/',
  group: 'pages',
  says: 'Leads to /tools.',
  who: 'anyone',
  answers: { 302: { says: 'To /tools.' } },
  run: () => new Response(null, { status: 302, headers: { location: '/tools', 'cache-control': 'no-store' } }),
};

async function showTools(asked: RouteRequest): Promise<Response> {
  const { crib, query, sessions, request } = asked;
  if (typeof query.token === 'string') {
    const identity = await crib.identify(query.token);
    return identity.ok && identity.operator ? beginSession(sessions.begin(query.token)) : refused();
  }
  const credential = sessions.credentialOf(cookieOf(request));
  const asker = credential === undefined ? await asked.identify(request) : await crib.identify(credential);
  if (!asker.ok || (credential !== undefined && !asker.operator)) return refused();
  const chest = await openToList({ crib, asker }, undefined);
  return listPage(chest.listActive(), asker, crib);
}

/** The token leaves the address line, and with it the history. */
function beginSession(value: string): Response {
  const cookie = `${COOKIE}=${value}; Path=/tools; HttpOnly; SameSite=Strict`;
  const headers = {
    location: '/tools',
    'set-cookie': cookie,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  };
  return new Response(null, { status: 303, headers });
}

function cookieOf(request: Request): string | undefined {
  const cookies = (request.headers.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
}

function refused(): Response {
  const body = html`<p>Open <code>/tools?token=</code> with the operator token; <code>toolcrib serve</code> says at its start where it is.</p>`;
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
  const more = rest === 0 ? html`` : html`<p class="muted">And ${rest} more: GET /api/tools lists them.</p>`;
  return toPage(
    'Tools',
    html`<p class="muted">${whose}: ${specs.length}. REST is described at <a href="/openapi.json">/openapi.json</a>, MCP is at <code>/mcp</code>.</p>
<table><thead><tr><th>Name</th><th>Description</th><th>Source</th><th>Bundles</th></tr></thead><tbody>
${rows}</tbody></table>${more}`,
  );
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-bottom:1px solid #ddd}
code{font:14px ui-monospace,monospace}.muted{color:#666}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#111}th,td{border-color:#333}.muted{color:#999}}`;

/** No script, no frame, nothing from elsewhere; this one style. */
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

/** Text that is HTML already. */
interface Html {
  readonly html: string;
}

/** HTML in which every value is text, unless it was made here. */
function html(texts: TemplateStringsArray, ...values: readonly (string | number | Html | readonly Html[])[]): Html {
  const shown = values.map((value) => {
    if (typeof value === 'string' || typeof value === 'number') return toSafeText(String(value));
    return Array.isArray(value) ? value.map((part: Html) => part.html).join('') : (value as Html).html; // not a list
  });
  return { html: texts.reduce((text, part, index) => `${text}${shown[index - 1] ?? ''}${part}`) };
}

/** A page. */
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

// Names and descriptions come from anywhere: they may neither be markup nor turn the reading direction.
function toSafeText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
