import type { Answer } from '../../api/answer.ts';

/** The entry of a source in the configuration. */
export interface SourceEntry {
  /** What the source is: the member that makes it one, such as mcp or files. */
  readonly type: string | undefined;
  /** The values as they are written, by their names in the entry. Secrets are hidden. */
  readonly values: readonly { readonly name: string; readonly text: string }[];
  /** File and line. */
  readonly from: string;
}

type Written = Pick<Answer<'/api/configuration'>['values'][number], 'path' | 'value' | 'from'>;

/** The members of an entry that say what the source is; the others adjust it. */
const TYPES: readonly string[] = [
  'mcp',
  'openapi',
  'python',
  'files',
  'modules',
  'packages',
  'module',
  'http',
  'database',
];

/** The entries by the names of their sources. */
export function toEntries(values: readonly Written[]): ReadonlyMap<string, SourceEntry> {
  const entries = new Map<string, SourceEntry>();
  for (const { path, value, from } of values) {
    const [, section, source, ...rest] = path
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (section !== 'sources' || source === undefined) continue;
    const before = entries.get(source);
    entries.set(source, {
      type: before?.type ?? TYPES.find((type) => type === rest[0]),
      values: [...(before?.values ?? []), { name: rest.join('.'), text: toText(value) }],
      from: before?.from ?? from,
    });
  }
  return entries;
}

function toText(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
