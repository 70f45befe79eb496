import { createHash } from 'node:crypto';

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
export interface Html {
  readonly html: string;
}

/** HTML in which every value is text, unless it was made here. */
export function html(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | Html | readonly Html[])[]
): Html {
  const shown = values.map((value) => {
    if (typeof value === 'string' || typeof value === 'number') return toSafeText(String(value));
    return Array.isArray(value) ? value.map((part: Html) => part.html).join('') : (value as Html).html; // not a list
  });
  return { html: texts.reduce((text, part, index) => `${text}${shown[index - 1] ?? ''}${part}`) };
}

/** A page. */
export function toPage(title: string, body: Html, status = 200): Response {
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
