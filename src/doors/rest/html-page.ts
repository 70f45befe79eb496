import { createHash } from 'node:crypto';

/** Escaped HTML. */
export interface Html {
  readonly html: string;
}

/** Template tag that escapes every value except HTML of this tag. */
export function html(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | Html | readonly Html[])[]
): Html {
  const shown = values.map((value) => {
    if (typeof value === 'string' || typeof value === 'number') return toSafeText(String(value));
    return Array.isArray(value) ? value.map((part: Html) => part.html).join('') : (value as Html).html; // neither a text nor a list
  });
  return { html: texts.reduce((text, part, index) => `${text}${shown[index - 1] ?? ''}${part}`) };
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

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222;background:#fff}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-bottom:1px solid #ddd}
code{font:14px ui-monospace,monospace;overflow-wrap:anywhere}.muted{color:#666}h2{margin-top:2.5rem}h3{font:600 15px ui-monospace,monospace;margin:2rem 0 .3rem}
nav a{margin-right:.8rem}pre{font:13px/1.45 ui-monospace,monospace;background:#f4f4f4;padding:.6rem .8rem;overflow:auto;border-radius:4px}
summary{cursor:pointer}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#111}th,td{border-color:#333}.muted{color:#999}pre{background:#1d1d1d}a{color:#8ab4f8}}`;

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

/** Builds the response of a page without scripts. */
export function toPage(title: string, body: Html, status = 200): Response {
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${{ html: STYLE }}</style></head><body><h1>${title}</h1>
${body}
</body></html>
`;
  return new Response(page.html, { status, headers: HEADERS });
}
