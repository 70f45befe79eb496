import type { Executor } from '../core/executor.ts';
import type { Extension } from '../core/extension.ts';
import type { MaybePromise } from '../core/json.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import type { ExtensionPorts, KindTraits, ReadRunText, TraitsOf } from '../core/ports/extension-ports.ts';
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

/** All that a kind says about itself; `kinds/index.ts` lists them. What it runs with is loaded by `open`. */
export interface Kind<Name extends string = string, Options extends object = never, Entry extends object = never>
  extends KindTraits {
  readonly kind: Name;
  /** What may be written about it under `executors:`; nothing if absent. */
  readonly options?: SchemaNode;
  /** What may be written about it at a source whose tools may be of any kind. */
  readonly sourceOptions?: Readonly<Record<string, SchemaNode>>;
  /** The source that brings tools of this kind alone; what is open makes it. */
  readonly source?: SourceEntry<Entry>;
  /** Absent where every crib has the executor, or none has it yet: then its tools are listed and cannot be called. */
  open?(ports: KindPorts<Options>): Promise<OpenKind<Entry>>;
}

/** A kind of a crib that has a configuration. */
export interface OpenKind<Entry extends object = object> {
  readonly executor: Executor;
  makeSource?(name: string, entry: Entry & SourceSettings, ports: SourcePorts): MaybePromise<Source>;
  /** The same source; what its specs of this kind leave unsaid is found out. */
  describe?(source: Source, kept: KeptListPort): Source;
}

/** What a kind gets of its crib. */
export interface KindPorts<Options extends object = object> {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly secrets: Secrets;
  /** What the configuration says now about the kind: it may have changed since the last call. */
  options(): Partial<Options>;
  /** What the configuration says now about a source. */
  entryOf(source: string): object | undefined;
  /** True for the crib itself, wherever it is served. */
  isOwn(url: URL, address: string): boolean;
  /** What no program may see. */
  hidden(): HiddenPaths;
  /** Hears which files a tool runs as code; `hidden` has them from then on. */
  noteCode(spec: ToolSpec, files: readonly string[]): void;
}

/** What no command may see, wherever it lies: keys, tokens, the database; and what none may change. */
export interface HiddenPaths {
  readonly folders: readonly string[];
  readonly files: readonly string[];
  /** What decides what the crib runs: the configuration, and all that it reads or imports. */
  readonly readOnly: readonly string[];
}

/** What may be written about one source alone. */
export type OwnEntry<Config extends SourceSettings> = Omit<Config, keyof SourceSettings | 'sandbox'>;

/** All that a source says about its entries in a configuration. */
export interface SourceEntry<Entry extends object = object> {
  /** The key that tells its entries from others. */
  readonly key: string;
  readonly description: string;
  /** What may be written about it besides what may be said of every source. */
  readonly properties: { readonly [Key in keyof Entry & string]-?: SchemaNode };
  /** True if its tools may be of any kind: then what kinds let be said at a source may be said at it. */
  readonly bringsAnyKind?: boolean;
  /** True if its tools bear its name before theirs unless the owner says otherwise, so that two servers do not clash. */
  readonly isPrefixed?: boolean;
  /** True if it heeds include and exclude itself, by what its tools do not tell. */
  readonly choosesItself?: boolean;
  /** True if its specs are judged by the secrets they name: with other secrets it is made anew. */
  readonly namesSecrets?: boolean;
  /** The hosts that its secrets are sent to; undefined if only its description can tell. */
  hostsOf?(entry: Entry): readonly string[] | undefined;
  /** Files with secrets: an edit of one is an edit of the entry. */
  filesOf?(entry: Entry): readonly string[];
  /** What the owner should know about an entry, where callers are told apart and where not. */
  problemsOf?(name: string, entry: Entry, callers: 'known' | 'unknown'): readonly string[];
}

/** A source that stands by itself; `sources/index.ts` lists them. Its code is loaded by `make`. */
export interface SourceRecord<Entry extends object = object> extends SourceEntry<Entry> {
  make(name: string, entry: Entry & SourceSettings, ports: SourcePorts): MaybePromise<Source>;
  /** An entry that the owner need not write. */
  discover?(place: DiscoveryPlace): { readonly name: string; readonly entry: Entry } | undefined;
}

/** Where a source may be found that nobody has written down. */
interface DiscoveryPlace extends Pick<SourcePorts, 'folder' | 'env'> {
  /** The entries that are written, by name. */
  readonly written: Readonly<Record<string, object>>;
}

/** What a source of a configuration gets of its crib. */
export interface SourcePorts {
  /** The folder of the configuration. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secrets: Secrets;
  /** Whether edits are noticed as they happen. */
  readonly watch: boolean;
  /** Whether servers are asked for tools that are not known after everything else has started. */
  readonly background: boolean;
  readonly store: Pick<Store, 'indexes'> & {
    readonly specs: Store['specs'] & { onChange?(listener: () => void): () => void };
  };
  /** Where the last list of a source is kept. One that came from another address is not its last. */
  kept(name: string, address: unknown): KeptListPort;
  readonly traitsOf: TraitsOf;
  /** How texts of runs are read in specs that lie here. */
  readLocalText(): ReadRunText;
  /** The same for specs that come from elsewhere, which may name only these secrets. */
  readRemoteText(source: string, secrets: SecretNames | undefined): ReadRunText;
  /** The same source; what its specs leave unsaid is found out where a kind can. */
  describe(source: Source): Source;
}

/** Names of secrets as they are read: one or many. */
type SecretNames = SecretText | readonly SecretText[];

/** How long a source may take to start. */
export const initTimeoutMs = whole(
  'How long its first start may take, in milliseconds; default 60000. A server that runs as a child has more while it shows progress, up to 10 minutes in all.',
);

/** How often the list of a source is read again. */
export const refreshMs = whole('How often its list is read again.');

/** Headers that may hold secrets. */
export const headersNode = mapOf(
  text(`A value; may hold \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
  'HTTP headers.',
);

/** Variables of a child. */
export const childEnvNode = mapOf(
  text(`A value; may hold \${secret:NAME}.`, { use: 'secretText', minLength: 0 }),
  'Added to the few variables that a child gets.',
);

/** Secrets that the tools of a list may name. */
export const grantedSecrets = oneOrMany(
  text('The name of a secret.', { use: 'secretName' }),
  `Secrets that its tools may name by \${secret:NAME}; default none.`,
);

/** Paths of files or folders. */
export function paths(description: string): SchemaNode {
  return oneOrMany(text('A path.', { use: 'path' }), description);
}

/** The one path of a source that takes no more. */
export function requireOne(path: string | readonly string[], name: string): string {
  const [one, ...more] = listOf(path);
  if (one !== undefined && more.length === 0) return one;
  throw new ToolcribError('invalid_config', `The source "${name}" takes one folder; write a source for each.`);
}

/** What an access token is fetched with. */
export const clientCredentials = object<ClientCredentials>(
  'What a token is fetched with.',
  {
    tokenUrl: address('Where tokens are given out; the server says it itself if absent.'),
    clientId: text('Who is asking.'),
    clientSecret: text(`The proof; \${secret:NAME}, bound to the host of the token address.`, { use: 'secretText' }),
    scope: text('What the token is to be good for.'),
  },
  ['clientId', 'clientSecret'],
);

/** Whether OpenTelemetry is used. */
export const otelNode = either(
  'OpenTelemetry, spans and metrics. auto, if absent: where a provider is registered before the first call, or OTEL_* is set.',
  flag('Always, or never.'),
  choice(['auto'], 'Where its SDK is there.'),
);

/** The option `otel` of an extension; throws for what cannot be one. */
export function readOtel(extension: string, { otel = 'auto' }: Pick<MetricsConfig, 'otel'>): boolean | 'auto' {
  if (otel === 'auto' || typeof otel === 'boolean') return otel;
  throw new ToolcribError('invalid_option', `${extension}(): otel is true, false or "auto", got ${describe(otel)}.`);
}

/** Everything about a built-in extension, in its own file. The table in `src/extensions/index.ts` lists all of them. */
export interface ExtensionRecord<Options extends object = object> {
  readonly name: string;
  /** Higher runs further out. */
  readonly priority: number;
  /** Why it stands there, as `toolcrib check` says it. */
  readonly reason: string;
  /** Its options as an object node; the configuration has them under `extensions:`. */
  readonly options?: SchemaNode;
  /** The entry of the configuration that has its options; its own name if absent. */
  readonly entry?: string;
  /** Options that only code can give. */
  readonly codeOptions?: readonly string[];
  /** The options of the one that every crib has; none if absent. */
  readonly usual?: Options;
  /** The configuration cannot turn it off. */
  readonly isAlwaysOn?: true;
  /** A crib has it only where the configuration asks for it; nothing is unguarded without it. */
  readonly isOptional?: true;
  /** Throws for options that cannot be used. */
  make(options: Options, ports: ExtensionPorts): ExtensionParts;
}

/** What a built-in extension does; its place is said by its record. */
export type ExtensionParts = Omit<Extension, 'name' | 'priority' | 'unsafeOrder'>;

/** Tests hand in their own time. */
export interface WithClock {
  readonly clock?: Clock;
}
