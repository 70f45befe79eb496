import type { JsonSchema } from '../json.ts';
import { ToolcribError } from '../tool-error.ts';
import type { Parse, ToolSpec } from '../tool-spec.ts';
import type { Store } from './store.ts';
import type { StoredRates } from './stored-results.ts';

/** The folder for the operator token, the audit key and the checkpoints of the audit; undefined where no folder can be written. */
export interface PrivateFolder {
  readonly path: string | undefined;
  readonly warnings: readonly string[];
}

/** A private folder under an id that its configuration does not have any more. */
export interface FormerFolder {
  readonly path: string;
  /** The file that held its id. */
  readonly idFile: string;
}

/** What a configuration brings besides parts: what outlives the process, and what must not be seen. */
export interface CribContext {
  /** Only a crib with a configuration has one. Opened by its first use. */
  readonly store: Store | undefined;
  /** Where several processes count together; absent in a crib that counts alone. */
  readonly sharedRates: StoredRates | undefined;
  /** Whether something may have been stored before; looks without opening or making anything. */
  isStored(): boolean;
  /** True where code says which store it is. */
  readonly isNamedInCode?: boolean;
  /** The folder for what outlives the process outside the store; made by the first use, absent if nothing can be written. */
  stateFolder(): string | undefined;
  /** The folder for the operator token, the audit key and checkpoints; found, and made, by the first call. */
  privateFolder(): PrivateFolder;
  /** The private folders that the configuration had under other ids; looked for anew by each call. */
  formerFolders(): readonly FormerFolder[];
  /** The file or folder that the configuration is read from; absent where it was given as data. */
  readonly configuration?: string;
  /** The text without the values of secrets. */
  redact(text: string): string;
  /** From now on `redact` takes this value out, too. */
  hide(name: string, value: string): void;
  /** The HMAC-SHA256 of a text under a secret, which is looked up for that. */
  sign(secret: string, text: string): Promise<string>;
}

/** What a crib without a configuration has. */
export const NO_CONTEXT: CribContext = {
  store: undefined,
  sharedRates: undefined,
  isStored: () => false,
  stateFolder: () => undefined,
  privateFolder: () => ({ path: undefined, warnings: [] }),
  formerFolders: () => [],
  redact: (text) => text,
  hide: () => {},
  sign: async (secret) => {
    throw new ToolcribError('unknown_secret', `There is no secret "${secret}": this crib has none.`);
  },
};

/** The path of a private folder; what the operator should know about it is said once. */
export function pathOf({ path, warnings }: PrivateFolder, warn: (message: string) => void): string | undefined {
  for (const warning of warnings) warn(warning);
  return path;
}

/** Time, so that tests can own it. */
export interface Clock {
  /** Milliseconds since 1970 that never run backwards. */
  now(): number;
  /** Runs `task` once after `delayMs`; returns how to stop it. */
  setTimer(delayMs: number, task: () => void): () => void;
}

/** Compiles schemas, lazily and once. A schema that does not compile throws a `ToolcribError`. */
export interface Schemas {
  /** The check of a tool's arguments: the author's own schema where there is one, else the JSON Schema. */
  input(spec: ToolSpec): Parse;
  output(spec: ToolSpec): Parse;
  /** The check of any JSON Schema. */
  parser(schema: JsonSchema): Parse;
  /** What keeps `schema` from being used: remote references, patterns that could hang. */
  problems(schema: JsonSchema): readonly string[];
}
