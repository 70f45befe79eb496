/** A text with references to secrets, as plain data: `Bearer ${secret:github}`. */
export interface SecretTemplate {
  readonly secretTemplate: readonly SecretTemplatePart[];
}

/** A piece of text, or the name of a secret. */
export type SecretTemplatePart = string | { readonly secret: string };

/** A text, possibly with secrets that are filled in at the moment of use. */
export type SecretText = string | SecretTemplate;

/** A piece of text, or the content of `${...}`. */
export type TextPiece = string | { readonly reference: string };

// In this order: an escape, a reference, an unclosed opening.
const REFERENCES = /\$\$\{|\$\{([^}]*)\}|\$\{/g;

/** Splits a text at its `${...}`; `$${` means a plain `${`. Undefined if a `${` is not closed. */
export function splitReferences(text: string): readonly TextPiece[] | undefined {
  if (!text.includes('${')) return [text];
  const pieces: TextPiece[] = [];
  let plain = '';
  let end = 0;
  for (const match of text.matchAll(REFERENCES)) {
    plain += text.slice(end, match.index);
    end = match.index + match[0].length;
    if (match[0] === '$${') {
      plain += '${';
      continue;
    }
    if (match[1] === undefined) return undefined;
    if (plain !== '') pieces.push(plain);
    plain = '';
    pieces.push({ reference: match[1] });
  }
  plain += text.slice(end);
  if (plain !== '') pieces.push(plain);
  return pieces;
}

const SECRET = /^secret:(.*)$/s;

/** The name of the secret in a reference; undefined for other references. */
export function secretNameOf(reference: string): string | undefined {
  return SECRET.exec(reference)?.[1]?.trim();
}

/** Parses `${secret:NAME}` in a text; `$${` means a plain `${`, other references stay as written. */
export function toSecretText(text: string): SecretText {
  const pieces = splitReferences(text);
  if (pieces === undefined) return text;
  return joinSecretText(
    pieces.map((piece) => {
      if (typeof piece === 'string') return piece;
      const secret = secretNameOf(piece.reference);
      return secret === undefined ? `\${${piece.reference}}` : { secret };
    }),
  );
}

/** Joins parts to a text, or to a template if they contain a secret. */
export function joinSecretText(parts: readonly SecretTemplatePart[]): SecretText {
  const joined: SecretTemplatePart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part !== 'string') joined.push(Object.freeze({ secret: part.secret }));
    else if (typeof last === 'string') joined[joined.length - 1] = last + part;
    else if (part !== '') joined.push(part);
  }
  if (joined.every((part) => typeof part === 'string')) return joined.join('');
  return Object.freeze({ secretTemplate: Object.freeze(joined) });
}

/** True for a template, also for a copy. */
export function isSecretTemplate(value: unknown): value is SecretTemplate {
  if (typeof value !== 'object' || value === null || !('secretTemplate' in value)) return false;
  const parts: unknown = value.secretTemplate;
  return Array.isArray(parts) && parts.every(isPart);
}

function isPart(part: unknown): part is SecretTemplatePart {
  if (typeof part === 'string') return true;
  return typeof part === 'object' && part !== null && 'secret' in part && typeof part.secret === 'string';
}

/** The names of the secrets in a text. */
export function secretsIn(text: SecretText): readonly string[] {
  if (typeof text === 'string') return [];
  return text.secretTemplate.flatMap((part) => (typeof part === 'string' ? [] : part.secret));
}

/** Fills in the texts of a map. */
export async function fillAll(
  texts: Readonly<Record<string, SecretText>>,
  fill: (text: SecretText) => Promise<string>,
): Promise<Readonly<Record<string, string>>> {
  const filled = Object.entries(texts).map(async ([name, text]) => [name, await fill(text)] as const);
  return Object.fromEntries(await Promise.all(filled));
}

/** The host of an address that may contain secrets. */
export function hostOf(url: SecretText): string {
  return hostNamesOf(url)[1] ?? '';
}

/** The host of an address with and without its port: a secret may be bound to either. */
export function hostNamesOf(url: SecretText): readonly string[] {
  const parts = typeof url === 'string' ? [url] : url.secretTemplate;
  const parsed = URL.parse(parts.map((part) => (typeof part === 'string' ? part : 'x')).join(''));
  return parsed === null ? [] : [parsed.host, parsed.hostname];
}

/** True if `bound` (`example.com`, `example.com:8443`, `*.example.com`) covers `host`, which may have a port. */
export function isBoundTo(bound: string, host: string): boolean {
  const isWild = bound.startsWith('*.');
  const allowed = toAuthority(isWild ? bound.slice(2) : bound);
  const wanted = toAuthority(host);
  if (wanted === undefined || allowed === undefined) return false;
  if (allowed.port !== '' && allowed.port !== (wanted.port || HTTPS_PORT)) return false;
  return isWild ? wanted.name.endsWith(`.${allowed.name}`) : wanted.name === allowed.name;
}

/** True for a valid entry of `hosts`: a host, with or without port, or a wildcard for subdomains. */
export function isHostBinding(text: string): boolean {
  return toAuthority(text.startsWith('*.') ? text.slice(2) : text) !== undefined;
}

// `URL` drops the default port from `host`; without a scheme, https is assumed.
const HTTPS_PORT = '443';

interface Authority {
  readonly name: string;
  readonly port: string;
}

/** Normalizes a host; undefined if the text is more than a host and a port, so that a trick cannot match. */
function toAuthority(host: string): Authority | undefined {
  if (!/^[^\s/\\?#@*%]+$/.test(host) || !URL.canParse(`https://${host}`)) return undefined;
  const { hostname } = new URL(`https://${host}`);
  return { name: hostname.replace(/\.$/, ''), port: /:(\d+)$/.exec(host)?.[1] ?? '' };
}
