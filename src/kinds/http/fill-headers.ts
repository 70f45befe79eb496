import { namesIn, readTemplate, type Template } from '../../specs/template.ts';
import { BadArgument, type Encoding, type Filling, fillText, listText } from './fill-text.ts';
import { encode } from './parameters.ts';

/** Headers or cookies by name, ready to be filled. */
export type NamedTemplates = readonly (readonly [name: string, value: Template])[];

/** Reads the headers or cookies of a run. */
export function readNamed(given: Readonly<Record<string, string | number | boolean>> = {}): NamedTemplates {
  return Object.entries(given).map(([name, value]) => [name, readTemplate(String(value))]);
}

// What HTTP can carry in a header: no line ends, no control characters, nothing beyond latin1.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are refused
const UNSENDABLE = /[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/;

const HEADER: Encoding = {
  literal: (text) => text,
  value: (value) => listText(value, (text) => text),
  secret: (text) => text,
};

/** The headers of a request, by lower-case name; one that names an absent argument is left out. */
export function fillHeaders(headers: NamedTemplates, filling: Filling): Record<string, string> {
  const filled: Record<string, string> = {};
  for (const [name, template] of headers) {
    const text = fillText(template, filling, HEADER);
    if (text === undefined) continue;
    const [argument] = namesIn(template);
    if (argument !== undefined && UNSENDABLE.test(text))
      throw new BadArgument(argument, 'goes into a header, which takes no line breaks and no characters beyond latin1');
    filled[name.toLowerCase()] = text;
  }
  return filled;
}

const COOKIE: Encoding = { literal: (text) => text, value: (value) => listText(value, encode), secret: encode };

/** Cookies as a header carries them. */
export function fillCookies(cookies: NamedTemplates, filling: Filling): readonly string[] {
  return cookies.flatMap(([name, template]) => {
    const text = fillText(template, filling, COOKIE);
    return text === undefined ? [] : `${name}=${text}`;
  });
}
