import type { Description, Fields } from './load-description.ts';
import type { SchemaConversion } from './schema-conversion.ts';

/** Credentials for a security scheme, as texts of a run: they may hold `${secret:NAME}`. */
export type AuthSetting =
  | { readonly secret: string }
  | { readonly username: string; readonly password: string }
  | {
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope?: string | undefined;
      readonly tokenUrl?: string | undefined;
    };

/** Settings of an API source. */
export interface ApiSettings {
  /** The name of the source. */
  readonly source: string;
  /** The URL of the API; overrides the description. */
  readonly baseUrl?: string | undefined;
  /** Selected operations, by `GET /pets*` or by name; all if absent. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** Headers sent with each call, as texts of a run. */
  readonly headers: Readonly<Record<string, string>>;
  /** By security scheme. */
  readonly auth: Readonly<Record<string, AuthSetting>>;
  /** Names of secrets. For a description file, a secret named like a scheme or like the source is used for it. */
  readonly secretNames: ReadonlySet<string>;
  /** True if headers or auth are not bound to a host, so that only the operator, or the host itself, may name their destination. */
  readonly staysOnHost: boolean;
  /** True if answers are checked against the response schemas of the description. */
  readonly outputSchemas: boolean;
}

/** State for reading a description. */
export interface Reading {
  readonly description: Description;
  /** The URL it was fetched from; absent for a file. */
  readonly url: URL | undefined;
  readonly settings: ApiSettings;
  readonly requests: SchemaConversion;
  readonly responses: SchemaConversion;
  /** Reports, once for each sentence, a part that is left unchecked. */
  note(sentence: string): void;
}

/** One operation of a description. */
export interface Operation {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly fields: Fields;
  /** Fields of the path that apply to all its operations. */
  readonly shared: Fields;
}

/** A text of a description as one paragraph, cut at the end of a sentence or at least of a word. */
export function shortText(text: unknown, maxCharacters: number): string {
  if (typeof text !== 'string') return '';
  const plain = text
    .slice(0, maxCharacters * 4)
    .replace(/<[^>]{0,200}>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (plain.length <= maxCharacters) return plain;
  const start = plain.slice(0, maxCharacters);
  const sentence = start.lastIndexOf('. ');
  if (sentence > maxCharacters / 2) return start.slice(0, sentence + 1);
  const word = start.lastIndexOf(' ', maxCharacters - 2);
  const kept = word > maxCharacters / 2 ? start.slice(0, word) : start.slice(0, maxCharacters - 1);
  return `${kept.replace(/[\uD800-\uDBFF]$/, '')}…`; // never half of a surrogate pair
}

/** Joins notes into one text, each as a sentence. */
export function joinNotes(notes: readonly string[]): string {
  const told = notes.filter((note) => note !== '');
  return told.map((note, index) => (index < told.length - 1 && /[\w)"'`]$/.test(note) ? `${note}.` : note)).join(' ');
}
