import { isRecord } from '../../core/json.ts';
import { RUN, type ToolSpec, WITHHELD } from '../../core/tool-spec.ts';
import { withoutEnd } from '../../core/visible-text.ts';
import { readTemplate, type Template, type TemplatePart } from '../../specs/template.ts';
import {
  argumentOf,
  BadArgument,
  type Encoding,
  encode,
  type Filling,
  fillText,
  listText,
  type Parameter,
} from './fill-text.ts';
import type { HttpRun } from './http-run.ts';

/** An address in its parts, each ready to be filled. */
export interface Address {
  /** Scheme, host and port. */
  readonly origin: Template;
  readonly segments: readonly Template[];
  /** The query parameters written in the URL. */
  readonly query: readonly Parameter[];
  readonly mistakes: readonly string[];
}

/** Splits the address of a run. */
export function readAddress({ url, baseUrl }: Pick<HttpRun, 'url' | 'baseUrl'>): Address {
  const { parts, mistakes } = readTemplate(baseUrl === undefined ? url : join(baseUrl, url));
  const [origin, rest] = splitOrigin(parts);
  const [path, query] = splitAt(rest, /[?#]/);
  const [pairs, fragment] = splitAt(query, /#/);
  const written = splitAll(withoutFirst(pairs), '&').filter((pair) => pair.length > 0);
  return {
    origin: toTemplate(origin),
    segments: splitAll(path, '/').map(toTemplate),
    query: written.map(readPair),
    mistakes: [
      ...mistakes,
      ...(fragment.length === 0 ? [] : ['has a "#"; remove it, because text after it is never sent']),
      ...(written.some(hasOpenName) ? ['uses an argument or a secret as the name of a query parameter'] : []),
    ],
  };
}

function join(baseUrl: string, path: string): string {
  const base = withoutEnd(baseUrl, /\//);
  return /^[/?#]/.test(path) ? `${base}${path}` : `${base}/${path}`;
}

const SCHEME = /^https?:\/\//i;

function splitOrigin(parts: readonly TemplatePart[]): readonly [readonly TemplatePart[], readonly TemplatePart[]] {
  const [first, ...others] = parts;
  const scheme = typeof first === 'string' ? SCHEME.exec(first)?.[0] : undefined;
  if (typeof first !== 'string' || scheme === undefined) return [[], parts];
  const [host, rest] = splitAt([first.slice(scheme.length), ...others], /[/\\?#]/);
  return [[scheme, ...host], rest];
}

/** Splits at the first match inside a literal; the match goes to the second part. */
function splitAt(
  parts: readonly TemplatePart[],
  mark: RegExp,
): readonly [readonly TemplatePart[], readonly TemplatePart[]] {
  const at = parts.findIndex((part) => typeof part === 'string' && mark.test(part));
  const found = parts[at];
  if (typeof found !== 'string') return [parts, []];
  const index = found.search(mark);
  return [
    [...parts.slice(0, at), found.slice(0, index)],
    [found.slice(index), ...parts.slice(at + 1)],
  ];
}

function splitAll(parts: readonly TemplatePart[], mark: string): readonly (readonly TemplatePart[])[] {
  const lists: TemplatePart[][] = [[]];
  for (const part of parts) {
    const pieces: readonly TemplatePart[] = typeof part === 'string' ? part.split(mark) : [part];
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) lists.push([]);
      if (piece !== '') lists.at(-1)?.push(piece);
    }
  }
  return lists;
}

function withoutFirst([first, ...others]: readonly TemplatePart[]): readonly TemplatePart[] {
  return typeof first === 'string' ? [first.slice(1), ...others] : [];
}

function readPair(parts: readonly TemplatePart[]): Parameter {
  const isLiteral = parts.every((part) => typeof part === 'string');
  const [name, rest] = isLiteral ? [parts, []] : splitAt(parts, /=/);
  return {
    name: name.filter((part) => typeof part === 'string').join(''),
    templates: isLiteral ? [] : [toTemplate(withoutFirst(rest))],
    isEncoded: true,
  };
}

function hasOpenName(parts: readonly TemplatePart[]): boolean {
  const [name] = splitAt(parts, /=/);
  return name.some((part) => typeof part !== 'string');
}

function toTemplate(parts: readonly TemplatePart[]): Template {
  return { parts: parts.filter((part) => part !== ''), mistakes: [] };
}

const HOST_PART = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/;

/** The values that the schema lists for an argument, if all of them are valid in a host name. */
export function hostChoices(spec: ToolSpec, name: string): readonly string[] | undefined {
  const { properties } = spec[RUN][WITHHELD]?.input ?? spec.input;
  const schema = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const choices = isRecord(schema)
    ? (schema.enum ?? (schema.const === undefined ? undefined : [schema.const]))
    : undefined;
  if (!Array.isArray(choices) || choices.length === 0) return undefined;
  return choices.every((choice) => typeof choice === 'string' && HOST_PART.test(choice)) ? choices : undefined;
}

/** Scheme, host and port for this call. An argument in it must be one of the values that its schema lists. */
export function fillOrigin({ parts }: Template, filling: Filling, spec: ToolSpec): string {
  const pieces = parts.map((part) => {
    if (typeof part === 'string') return part;
    const name = 'name' in part ? part.name : '';
    const value = argumentOf(name, filling);
    if (typeof value === 'string' && hostChoices(spec, name)?.includes(value) === true) return value;
    throw new BadArgument(name, 'must be one of the values that its schema lists');
  });
  return pieces.join('');
}

/** The path. An argument cannot leave its segment. */
export function fillPath(segments: readonly Template[], filling: Filling): string {
  return segments.map((segment) => fillSegment(segment, filling)).join('/');
}

/** Text that a server or URL parser reads as the current or the parent folder. */
const DOTS = /^(\.|%2e){0,2}$/i;

function fillSegment(segment: Template, filling: Filling): string {
  const first = segment.parts.find((part) => typeof part === 'object' && 'name' in part);
  const text = fillText(segment, filling, SEGMENT);
  if (first === undefined || typeof first === 'string' || !('name' in first)) return text ?? '';
  if (text === undefined) throw new BadArgument(missingIn(segment, filling), 'is required: it is part of the URL');
  if (DOTS.test(withoutParameters(text, segment)))
    throw new BadArgument(first.name, 'must not be empty or consist of dots only: it is part of the URL');
  return text;
}

/** The text before the first `;` of the run: servers cut off parameters of a segment before they resolve dots. */
function withoutParameters(text: string, { parts: [first] }: Template): string {
  const isParameter = typeof first === 'string' && first.startsWith(';');
  return isParameter ? text : (text.split(';', 1)[0] ?? '');
}

function missingIn({ parts }: Template, filling: Filling): string {
  const names = parts.flatMap((part) => (typeof part === 'object' && 'name' in part ? part.name : []));
  return names.find((name) => (argumentOf(name, filling) ?? null) === null) ?? '';
}

/** A configured secret may span several segments; a caller's argument never leaves its segment. */
const SEGMENT: Encoding = {
  literal: (text) => text,
  value: (value) => listText(value, encode),
  secret: (text) => encodeURI(text.toWellFormed()).replaceAll('?', '%3F').replaceAll('#', '%23'),
};
