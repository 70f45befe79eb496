import type { Description, Fields } from './load-description.ts';
import type { SchemaConversion } from './schema-conversion.ts';

/** What is sent for a security scheme, as texts of a run: they may hold `${secret:NAME}`. */
export type AuthSetting =
  | { readonly secret: string }
  | { readonly username: string; readonly password: string }
  | {
      readonly clientId: string;
      readonly clientSecret: string;
      readonly scope?: string | undefined;
      readonly tokenUrl?: string | undefined;
    };

/** What the owner says about an API. */
export interface ApiSettings {
  /** The name of the source that its specs bear. */
  readonly source: string;
  /** Where the API is, whatever the description says. */
  readonly baseUrl?: string | undefined;
  /** Only these operations, by `GET /pets*` or by name; all if absent. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  /** Sent with each call, as texts of a run. */
  readonly headers: Readonly<Record<string, string>>;
  /** By security scheme. */
  readonly auth: Readonly<Record<string, AuthSetting>>;
  /** Secrets that stand for a scheme of a file, or for its source, by bearing its name. */
  readonly secretNames: ReadonlySet<string>;
  /** Whether what is sent is bound to no host, so that only the owner, or the host itself, may say where it goes. */
  readonly staysOnHost: boolean;
  /** Whether answers are checked against what the description says about them. */
  readonly outputSchemas: boolean;
}

/** A description that is being read. */
export interface Reading {
  readonly description: Description;
  /** Where it was fetched from; absent for a file. */
  readonly url: URL | undefined;
  readonly settings: ApiSettings;
  readonly requests: SchemaConversion;
  readonly responses: SchemaConversion;
  /** Told, once for each sentence, of what had to be left open. */
  note(sentence: string): void;
}

/** One operation of a description. */
export interface Operation {
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly fields: Fields;
  /** What stands beside the operations of a path, and holds for all of them. */
  readonly shared: Fields;
}

/** A text of a description in one paragraph, cut where a sentence or at least a word ends. */
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

/** Notes as one text, each a sentence of its own. */
export function joinNotes(notes: readonly string[]): string {
  const told = notes.filter((note) => note !== '');
  return told.map((note, index) => (index < told.length - 1 && /[\w)"'`]$/.test(note) ? `${note}.` : note)).join(' ');
}
