import type { JsonSchema } from '../json.ts';
import { ToolcribError } from '../tool-error.ts';
import type { Parse, ToolSpec } from '../tool-spec.ts';
import type { Store } from './store.ts';
import type { StoredRates } from './stored-results.ts';

/** The folder for the operator token, the audit key and the audit checkpoints; undefined if no folder is writable. */
export interface PrivateFolder {
  readonly path: string | undefined;
  readonly warnings: readonly string[];
}

/** A private folder of an earlier id of the configuration. */
export interface FormerFolder {
  readonly path: string;
  /** The file that contained its id. */
  readonly idFile: string;
}

/** The persistent and secret parts of a configured crib. */
export interface CribContext {
  /** Present only with a configuration. Opened at the first use. */
  readonly store: Store | undefined;
  /** Rate counters shared by several processes; absent if the crib counts alone. */
  readonly sharedRates: StoredRates | undefined;
  /** True if something may have been stored before. Does not open or create the store. */
  isStored(): boolean;
  /** True if code, not the configuration, names the store. */
  readonly isNamedInCode?: boolean;
  /** The folder for persistent files outside the store; created at the first use, undefined if not writable. */
  stateFolder(): string | undefined;
  /** The folder for the operator token, the audit key and checkpoints; found or created at the first call. */
  privateFolder(): PrivateFolder;
  /** The private folders of earlier ids of the configuration; searched at each call. */
  formerFolders(): readonly FormerFolder[];
  /** The file or folder of the configuration; absent if it was passed as data. */
  readonly configuration?: string;
  /** Removes the values of secrets from a text. */
  redact(text: string): string;
  /** Adds a value that `redact` removes. */
  hide(name: string, value: string): void;
  /** The value of a secret that may be sent to this host. Rejects if the secret is not bound to it. */
  revealSecret(name: string, host: string): Promise<string>;
  /** The HMAC-SHA256 of a text, keyed with the named secret. */
  sign(secret: string, text: string): Promise<string>;
}

/** The context of a crib without a configuration. */
export const NO_CONTEXT: CribContext = {
  store: undefined,
  sharedRates: undefined,
  isStored: () => false,
  stateFolder: () => undefined,
  privateFolder: () => ({ path: undefined, warnings: [] }),
  formerFolders: () => [],
  redact: (text) => text,
  hide: () => {},
  revealSecret: async (name) => {
    throw new ToolcribError('unknown_secret', `The secret "${name}" was not found: this crib has no secrets.`);
  },
  sign: async (secret) => {
    throw new ToolcribError('unknown_secret', `The secret "${secret}" was not found: this crib has no secrets.`);
  },
};

/** The path of a private folder. Reports its warnings. */
export function pathOf({ path, warnings }: PrivateFolder, warn: (message: string) => void): string | undefined {
  for (const warning of warnings) warn(warning);
  return path;
}

/** A clock that tests can replace. */
export interface Clock {
  /** Milliseconds since 1970, monotonic. */
  now(): number;
  /** Runs `task` once after `delayMs`; returns a function that cancels it. */
  setTimer(delayMs: number, task: () => void): () => void;
}

/** Compiles schemas, lazily and once. Throws a `ToolcribError` for an invalid schema. */
export interface Schemas {
  /** Checks a tool's arguments: by the author's own schema if there is one, else by the JSON Schema. */
  input(spec: ToolSpec): Parse;
  output(spec: ToolSpec): Parse;
  /** Compiles any JSON Schema. */
  parser(schema: JsonSchema): Parse;
  /** Problems that make `schema` unusable: remote references, patterns that could hang. */
  problems(schema: JsonSchema): readonly string[];
}
