import { secretNameOf } from '../system/secrets/secret-template.ts';

/** A piece of a template: text, an argument of the call, or a secret. */
export type TemplatePart = string | { readonly name: string } | { readonly secret: string };

/** A parsed text with placeholders, and its mistakes. */
export interface Template {
  readonly parts: readonly TemplatePart[];
  readonly mistakes: readonly string[];
}

// In this order: escapes, a secret or another reference (left as it is), a placeholder, a stray brace.
const PIECES = /\$\$\{|\{\{|\}\}|\$\{([^}]*)\}|\$\{|\{([A-Za-z_][A-Za-z0-9_.-]*)\}|\{/g;

// Behind the last closing brace nothing is closed, and is not looked for from every opening.
const OPENINGS = /\$\$\{|\{\{|\$\{|\{/g;

interface Piece {
  readonly index: number;
  readonly piece: string;
  readonly reference?: string | undefined;
  readonly name?: string | undefined;
}

function* piecesOf(text: string): Iterable<Piece> {
  const close = text.lastIndexOf('}') + 1;
  for (const { index, 0: piece, 1: reference, 2: name } of text.slice(0, close).matchAll(PIECES))
    yield { index, piece, reference, name };
  for (const { index, 0: piece } of text.slice(close).matchAll(OPENINGS)) yield { index: close + index, piece };
}

const PLAIN: Readonly<Record<string, string>> = { '$${': '${', '{{': '{', '}}': '}', '${': '${' };

/** Parses `{name}`, `${secret:NAME}` and the escapes `{{`, `}}` and `$${`. A stray brace is a mistake, not text. */
export function readTemplate(text: string): Template {
  const parts: TemplatePart[] = [];
  const mistakes: string[] = text.includes('\0') ? ['contains a NUL character, which arguments cannot contain'] : [];
  let plain = '';
  let end = 0;
  const add = (part: Exclude<TemplatePart, string>): void => {
    if (plain !== '') parts.push(plain);
    plain = '';
    parts.push(part);
  };
  for (const { index, piece, reference, name } of piecesOf(text)) {
    plain += text.slice(end, index);
    end = index + piece.length;
    const secret = reference === undefined ? undefined : secretNameOf(reference);
    if (secret !== undefined) add({ secret });
    else if (name !== undefined) add({ name });
    else if (piece === '{') mistakes.push('has a stray "{": write {name} for a placeholder, or {{ for a brace');
    else plain += PLAIN[piece] ?? piece;
  }
  plain += text.slice(end);
  if (plain !== '') parts.push(plain);
  return { parts, mistakes };
}

/** The names of the arguments in a template. */
export function namesIn({ parts }: Template): readonly string[] {
  return parts.flatMap((part) => (typeof part === 'object' && 'name' in part ? part.name : []));
}

/** True if the template needs a secret. */
export function hasSecret({ parts }: Template): boolean {
  return parts.some((part) => typeof part === 'object' && 'secret' in part);
}
