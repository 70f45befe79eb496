import { extname } from 'node:path';

/** How a list of specs is written down. */
export type SpecFormat = 'yaml' | 'json' | 'ndjson';

/** The most that is read of a list in each format, unless somebody says otherwise. YAML of 5 MB takes seconds to parse. */
export const MAX_BYTES: Readonly<Record<SpecFormat, number>> = {
  yaml: 5_000_000,
  json: 5_000_000,
  ndjson: 50_000_000,
};

const BY_EXTENSION: Readonly<Record<string, SpecFormat>> = {
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
  '.ndjson': 'ndjson',
};

/** The format that the name of a file promises; nothing for other files. */
export function formatOfName(path: string): SpecFormat | undefined {
  return BY_EXTENSION[extname(path).toLowerCase()];
}

const BY_TYPE: readonly (readonly [RegExp, SpecFormat])[] = [
  [/^application\/(x-)?(ndjson|jsonl|jsonlines)$/, 'ndjson'],
  [/^(application|text)\/json$|\+json$/, 'json'],
  [/^(application|text)\/(x-)?yaml$|\+yaml$/, 'yaml'],
];

/** Types that servers give to whatever they do not know. */
const SAYS_NOTHING = ['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'];

/** The format of an answer with this `Content-Type`; where that says nothing, the name in the address may. */
export function formatOfType(contentType: string | undefined, pathname: string): SpecFormat | undefined {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (SAYS_NOTHING.includes(type)) return formatOfName(pathname);
  return BY_TYPE.find(([pattern]) => pattern.test(type))?.[1];
}
