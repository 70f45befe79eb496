import type { Description, Fields } from './description.ts';
import type { SchemaConversion } from './schemas/schema-conversion.ts';

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
