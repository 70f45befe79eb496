import type { Executor } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import type { MaybePromise } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { ExtensionPorts, KindTraits, ReadRunText, TraitsOf } from '../core/ports/extension-ports.ts';
import type { HostAgent } from '../core/ports/host-agent.ts';
import type { KeptListPort, Store } from '../core/ports/store.ts';
import { describe } from '../core/read-options.ts';
import type { Source } from '../core/source.ts';
import { ToolcribError } from '../core/tool-error.ts';
import type { ToolSpec } from '../core/tool-spec.ts';
import { listOf } from '../core/visible-text.ts';
import type { SecretText } from '../system/secrets/secret-template.ts';
import type { Secrets } from '../system/secrets/secrets.ts';
import {
  address,
  choice,
  either,
  flag,
  mapOf,
  object,
  oneOrMany,
  type SchemaNode,
  text,
  whole,
} from './schema-node.ts';
import type { MetricsConfig } from './types/guards.ts';
import type { ClientCredentials, SourceSettings } from './types/sources.ts';

/** The record of a kind; `kinds/index.ts` lists them. `open` loads its executor lazily. */
export interface Kind<Name extends string = string, Options extends object = never, Entry extends object = never>
  extends KindTraits {
  readonly kind: Name;
  /** Its options under `executors:`; default none. */
  readonly options?: SchemaNode;
  /** Its options at a source whose tools may be of any kind. */
  readonly sourceOptions?: Readonly<Record<string, SchemaNode>>;
  /** The source that brings only tools of this kind; `makeSource` of the open kind creates it. */
  readonly source?: SourceEntry<Entry>;
  /** Absent if every crib has the executor. */
  open?(ports: KindPorts<Options>): Promise<OpenKind<Entry>>;
}

/** A kind opened by a crib with a configuration. */
export interface OpenKind<Entry extends object = object> {
  readonly executor: Executor;
  makeSource?(name: string, entry: Entry & SourceSettings, ports: SourcePorts): MaybePromise<Source>;
  /** Wraps a source: completes its specs of this kind, for example with a description. */
  describe?(source: Source, kept: KeptListPort): Source;
}

/** The crib as a kind sees it. */
export interface KindPorts<Options extends object = object> {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly secrets: Secrets;
  /** The agents of the host, by name. */
  readonly agents: Readonly<Record<string, HostAgent>>;
  /** The current options of the kind; they may change between calls. */
  options(): Partial<Options>;
  /** The current configuration entry of a source. */
  entryOf(source: string): object | undefined;
  /** True for an address of this crib's own server. */
  isOwn(url: URL, address: string): boolean;
  /** The files and folders that commands may not read or change. */
  hidden(): HiddenPaths;
  /** Records the files that a tool runs as code; `hidden` includes them from then on. */
  noteCode(spec: ToolSpec, files: readonly string[]): void;
}

/** Paths that no command may read (keys, tokens, the database), and paths that none may change. */
export interface HiddenPaths {
  readonly folders: readonly string[];
  readonly files: readonly string[];
  /** Files that decide what the crib runs: the configuration and everything it reads or imports. */
  readonly readOnly: readonly string[];
}

/** The options of one kind of source, without the common ones. */
export type OwnEntry<Config extends SourceSettings> = Omit<Config, keyof SourceSettings | 'sandbox'>;

/** Describes the configuration entries of a source. */
export interface SourceEntry<Entry extends object = object> {
  /** The key that identifies its entries. */
  readonly key: string;
  readonly description: string;
  /** Its own options, besides those of every source. */
  readonly properties: { readonly [Key in keyof Entry & string]-?: SchemaNode };
  /** True if its tools may be of any kind: then its entries accept the `sourceOptions` of all kinds. */
  readonly bringsAnyKind?: boolean;
  /** True if the source name is the default prefix of its tool names, so that two servers do not clash. */
  readonly isPrefixed?: boolean;
  /** True if it applies include and exclude itself, using data that its tools do not expose. */
  readonly choosesItself?: boolean;
  /** True if its specs are checked against the declared secrets: when those change, the source is created again. */
  readonly namesSecrets?: boolean;
  /** The hosts that its secrets are sent to; undefined if only its API description names them. */
  hostsOf?(entry: Entry): readonly string[] | undefined;
  /** Files with secrets. Editing one counts as editing the entry. */
  filesOf?(entry: Entry): readonly string[];
  /** Warnings for the operator about an entry; `callers` says whether the crib identifies callers. */
  problemsOf?(name: string, entry: Entry, callers: 'known' | 'unknown'): readonly string[];
}

/** The record of an independent source; `sources/index.ts` lists them. `make` loads its code lazily. */
export interface SourceRecord<Entry extends object = object> extends SourceEntry<Entry> {
  make(name: string, entry: Entry & SourceSettings, ports: SourcePorts): MaybePromise<Source>;
  /** Finds a source that the configuration does not declare. */
  discover?(place: DiscoveryPlace): { readonly name: string; readonly entry: Entry } | undefined;
}

/** The place where undeclared sources are discovered. */
interface DiscoveryPlace extends Pick<SourcePorts, 'folder' | 'env'> {
  /** The declared entries by name. */
  readonly written: Readonly<Record<string, object>>;
}

/** The crib as a configured source sees it. */
export interface SourcePorts {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secrets: Secrets;
  /** True if files are watched for edits. */
  readonly watch: boolean;
  /** True if servers with unknown tools are asked for their list in the background, after the start. */
  readonly background: boolean;
  readonly store: Pick<Store, 'indexes'> & {
    readonly specs: Store['specs'] & { onChange?(listener: () => void): () => void };
  };
  /** Storage for the last list of a source. A list from another address does not count. */
  kept(name: string, address: unknown): KeptListPort;
  readonly traitsOf: TraitsOf;
  /** Records the files that a refused tool of this machine names: it runs them once it is corrected. Relative ones may start from `base`. */
  noteRefused(tool: unknown, base: string): void;
  /** Reads strings in the run of local specs. */
  readLocalText(): ReadRunText;
  /** Reads strings in the run of remote specs, which may use only these secrets. */
  readRemoteText(source: string, secrets: SecretNames | undefined): ReadRunText;
  /** Wraps a source: the kinds complete its specs where they can. */
  describe(source: Source): Source;
}

/** One secret name, or a list of them. */
type SecretNames = SecretText | readonly SecretText[];

/** Start timeout of a source. */
export const initTimeoutMs = whole(
  'Timeout of the first start in milliseconds; default 60000. A child process gets more time while it shows progress, up to 10 minutes.',
);

/** Refresh interval of a source. */
export const refreshMs = whole('Interval in milliseconds at which the list of tools is read again.');

/** Headers that may contain secrets. */
export const headersNode = mapOf(
  text(`A value; may contain \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
  'HTTP headers.',
);

/** Environment variables of a child process. */
export const childEnvNode = mapOf(
  text(`A value; may contain \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
  'Environment variables for the child process, besides the few it always gets.',
);

/** Secrets that the tools of a remote list may use. */
export const grantedSecrets = oneOrMany(
  text('The name of a secret.', { use: 'secretName' }),
  `Secrets that its tools may use as \${secret:NAME}; default none.`,
);

/** Paths of files or folders. */
export function paths(description: string): SchemaNode {
  return oneOrMany(text('A path.', { use: 'path' }), description);
}

/** The path of a source that accepts exactly one. */
export function requireOne(path: string | readonly string[], name: string): string {
  const [one, ...more] = listOf(path);
  if (one !== undefined && more.length === 0) return one;
  throw new ToolcribError(
    'invalid_config',
    `The source "${name}" accepts only one folder; declare a source for each folder.`,
  );
}

/** OAuth client credentials. */
export const clientCredentials = object<ClientCredentials>(
  'OAuth client credentials.',
  {
    tokenUrl: address('The token endpoint; default: discovered from the server.'),
    clientId: text('The client id.'),
    clientSecret: text(`The client secret, as \${secret:NAME}; the secret must allow the host of the token endpoint.`, {
      use: 'secretText',
    }),
    scope: text('The scopes to request.'),
  },
  ['clientId', 'clientSecret'],
);

/** Turns OpenTelemetry on or off. */
export const otelNode = either(
  'Emits OpenTelemetry spans and metrics. Default auto: if a provider is registered before the first call, or OTEL_* is set.',
  flag('Always or never.'),
  choice(['auto'], 'If an OpenTelemetry SDK is set up.'),
);

/** Reads the option `otel` of an extension. Throws for an invalid value. */
export function readOtel(extension: string, { otel = 'auto' }: Pick<MetricsConfig, 'otel'>): boolean | 'auto' {
  if (otel === 'auto' || typeof otel === 'boolean') return otel;
  throw new ToolcribError(
    'invalid_option',
    `${extension}(): otel must be true, false or "auto", got ${describe(otel)}.`,
  );
}

/** The record of a built-in extension, in the extension's own file. `src/extensions/index.ts` lists them. */
export interface ExtensionRecord<Options extends object = object> {
  readonly name: string;
  /** Extensions with a higher priority run further out. */
  readonly priority: number;
  /** The reason for its priority, as `toolcrib check` prints it. */
  readonly reason: string;
  /** Its options under `extensions:`, as an object node. */
  readonly options?: SchemaNode;
  /** The key of its configuration entry; default its name. */
  readonly entry?: string;
  /** Options that can only be set in code. */
  readonly codeOptions?: readonly string[];
  /** Options of the instance that every crib has; default none. */
  readonly usual?: Options;
  /** True if the configuration cannot turn it off. */
  readonly isAlwaysOn?: true;
  /** True if a crib has it only when the configuration asks for it. No guard depends on it. */
  readonly isOptional?: true;
  /** Throws for invalid options. */
  make(options: Options, ports: ExtensionPorts): ExtensionParts;
}

/** The behaviour of a built-in extension; its record holds name and priority. */
export type ExtensionParts = Omit<Extension, 'name' | 'priority' | 'unsafeOrder'>;

/** Lets tests pass a clock. */
export interface WithClock {
  readonly clock?: Clock;
}
