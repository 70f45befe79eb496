import type { JsonSchema } from '../../core/json.ts';
import { packageVersion } from '../../system/package-version.ts';
import { REST_ERRORS } from './answers.ts';
import { type Html, html, toPage } from './html-page.ts';
import type { Route, RouteAnswer, Who } from './route.ts';

/** Creates the route of the reference page, a page without scripts that is made from the table of routes. */
export function referencePage(routes: () => readonly Route[]): Route {
  let body: Html | undefined; // made once, because every client may ask for it
  return {
    method: 'GET',
    path: '/docs',
    group: 'pages',
    says: 'Shows this reference as an HTML page.',
    who: 'anyone',
    answers: { 200: { says: 'HTML without scripts and outside assets.', type: 'text/html' } },
    run() {
      body ??= describe(routes().filter(({ group }) => group !== 'later'));
      return toPage('Toolcrib REST reference', body);
    },
  };
}

const ALLOWED: Readonly<Record<Who, string>> = {
  anyone: 'every request',
  caller: 'every caller',
  credential: 'callers with a credential',
  operator: 'operators',
};

function describe(routes: readonly Route[]): Html {
  const groups = [...Map.groupBy(routes, ({ group }) => group)];
  return html`<p class="muted">Version ${packageVersion()}. The same as a document: <a href="/openapi.json">/openapi.json</a>. The tools of a profile as typed operations: <code>/openapi/PROFILE.json</code>. MCP is at <code>/mcp</code>.</p>
<p>Send <code>Authorization: Bearer ...</code> with an API key, a JWT or the operator token. Every refusal is <code>{ ok: false, status: "failed", error: { code, message, retryable } }</code>. Besides the codes of calls there are ${Object.keys(REST_ERRORS).join(', ')}.</p>
<nav>${groups.map(([group]) => html`<a href="#${group}">${group}</a> `)}</nav>
${groups.map(
  ([group, members]) => html`<h2 id="${group}">${group}</h2>
${members.map(describeRoute)}`,
)}`;
}

function describeRoute({ method, path, says, who, query = {}, body, answers }: Route): Html {
  const parameters = Object.entries(query);
  return html`<h3 id="${idOf(method, path)}">${method} ${path}</h3>
<p>${says} <span class="muted">For ${ALLOWED[who]}.</span></p>
${
  parameters.length === 0
    ? html``
    : html`<table><thead><tr><th>Query</th><th>Type</th><th>Meaning</th></tr></thead><tbody>
${parameters.map(([key, schema]) => parameterRow(key, schema))}</tbody></table>`
}
${body === undefined ? html`` : html`<details><summary>Body</summary><pre>${toText(body)}</pre></details>`}
${Object.entries(answers).map(([status, answer]) => describeAnswer(status, answer))}`;
}

function parameterRow(key: string, { description = '', ...schema }: JsonSchema): Html {
  return html`<tr><td><code>${key}</code></td><td><code>${typeOf(schema)}</code></td><td>${String(description)}</td></tr>
`;
}

function describeAnswer(status: string, { says, schema, type }: RouteAnswer): Html {
  const media = type === undefined ? '' : ` (${type})`;
  if (schema === undefined) return html`<p>${status}: ${says}${media}</p>`;
  return html`<details><summary>${status}: ${says}${media}</summary><pre>${toText(schema)}</pre></details>`;
}

function typeOf({ type, enum: words }: JsonSchema): string {
  return Array.isArray(words) ? words.join(' | ') : String(type ?? 'any');
}

function toText(schema: JsonSchema): Html {
  // Line breaks are made here; texts inside are escaped by the tag.
  const lines = JSON.stringify(schema, null, 2).split('\n');
  return { html: lines.map((line) => html`${line}`.html).join('\n') };
}

function idOf(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replaceAll(/[^a-z]+/gi, '-')}`.replace(/-$/, '');
}
