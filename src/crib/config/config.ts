import type { PriorityName } from '../../core/extension.ts';
import type { ApprovalMode, Rate, Slots } from '../../core/policy.ts';
import type { KeepBounds } from '../../core/ports/keep-bounds.ts';
import type { Selector } from '../../core/selector.ts';
import type { When } from '../../core/tool-spec.ts';
import type { AccessConfig } from '../../identity/access-config.ts';
import type { SandboxMode } from '../../kinds/shell/shell-run.ts';
import type { SecretTemplate, SecretText } from '../../system/secrets/secret-template.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';
import type { ProfileInput } from '../catalog/read-profile.ts';
import type { McpFileSourceConfig, OneOrMany, SourceConfig } from './source-config.ts';

/** A profile in configuration. */
export interface ProfileConfig extends ProfileInput {
  readonly delegate?: Readonly<Record<string, 'closed' | 'ask' | 'open'>>;
}

/** A bundle in configuration: its tools are selected. */
export interface BundleConfig {
  readonly description?: string;
  readonly include?: string | readonly Selector[];
  readonly instructions?: string;
  readonly requires?: OneOrMany;
  readonly extends?: OneOrMany;
  readonly when?: Omit<When, 'predicate'>;
  readonly priority?: number;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Where somebody is told that an approval waits; `secret` signs the message. */
export interface WebhookConfig {
  readonly url: string;
  readonly secret: SecretTemplate;
}

/** An extension of your own: a module or package that exports one. */
export interface CustomExtensionConfig {
  readonly module: string;
  readonly priority?: number | PriorityName;
  readonly unsafeOrder?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** The built-in extensions that can be tuned; `false` turns one off. */
export interface BuiltInExtensionsConfig {
  readonly approval?:
    | false
    | (Partial<KeepBounds> & {
        readonly mode?: ApprovalMode;
        readonly timeoutMs?: number;
        readonly webhook?: WebhookConfig;
      });
  /** Never off: a key that was accepted must count. */
  readonly idempotency?: Partial<KeepBounds>;
  readonly rateLimit?: false | { readonly rates?: readonly Rate[] };
  readonly concurrency?: false | { readonly slots?: readonly Slots[]; readonly maxWaiting?: number };
  readonly breaker?: false | { readonly failures?: number; readonly openMs?: number };
  readonly timeout?: false | { readonly timeoutMs?: number };
  readonly retry?: false | { readonly retries?: number; readonly firstDelayMs?: number };
  readonly logging?:
    | false
    | { readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent'; readonly redact?: OneOrMany };
  readonly metrics?: false | { readonly prometheus?: boolean; readonly otel?: boolean | 'auto' };
  readonly audit?:
    | false
    | {
        readonly retentionDays?: number;
        readonly requireFor?: string | readonly Selector[];
        readonly key?: { readonly file: string } | { readonly env: string };
        readonly trustedKeys?: readonly string[];
      };
}

/** Built-in extensions by their names, and your own by theirs. */
export interface ExtensionsConfig extends BuiltInExtensionsConfig {
  readonly [name: string]: CustomExtensionConfig | BuiltInExtensionsConfig[keyof BuiltInExtensionsConfig];
}

/** An executor of your own: a module or package that exports one. */
export interface CustomExecutorConfig {
  readonly module: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** How Python functions are run. */
export interface PythonConfig {
  /** A program, or the folder of a virtual environment. */
  readonly interpreter?: string;
  /** How many functions that block may run at the same time in one folder. */
  readonly workers?: number;
  readonly env?: Readonly<Record<string, SecretText>>;
}

/** The built-in executors that can be tuned. */
export interface BuiltInExecutorsConfig {
  readonly shell?: { readonly sandbox?: SandboxMode; readonly roots?: OneOrMany };
  /** `allowPrivate`: private hosts that may be reached. */
  readonly http?: { readonly allowPrivate?: OneOrMany };
  readonly python?: PythonConfig;
}

/** Built-in executors by their kinds, and your own by theirs. */
interface ExecutorsConfig extends BuiltInExecutorsConfig {
  readonly [kind: string]: CustomExecutorConfig | BuiltInExecutorsConfig[keyof BuiltInExecutorsConfig];
}

/** What becomes of results that are too large to hand over. */
export interface ResultsConfig {
  readonly offloadBytes?: number;
  readonly keepMs?: number;
  readonly quotaBytes?: number;
}

/** Where it listens. */
export interface ServerConfig {
  readonly host?: string;
  readonly port?: number;
  /** Names besides by which it is reached, as behind a proxy. */
  readonly hosts?: OneOrMany;
  /** How long calls under way may go on when it ends. */
  readonly graceMs?: number;
}

/** How tools are found: the embeddings, or a retriever of your own. */
export interface RetrievalConfig {
  readonly embeddings?: 'builtin' | 'none' | EmbeddingsConfig;
  /** What a caller uses most comes first among tools that fit equally well. */
  readonly usage?: boolean;
  readonly module?: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

/** An OpenAI-compatible endpoint of embeddings. */
export interface EmbeddingsConfig {
  readonly url: string;
  readonly model: string;
  readonly key?: SecretText;
}

/** A configuration as it is written: exactly the keys of its schema. */
export interface WrittenConfig {
  readonly $schema?: string;
  readonly defaultProfile?: string;
  readonly sources?: Readonly<Record<string, SourceConfig | McpFileSourceConfig>>;
  /** The block of an mcp.json, as it is. */
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  /** Specs, in the format of spec files. */
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly bundles?: Readonly<Record<string, BundleConfig>>;
  readonly profiles?: Readonly<Record<string, ProfileConfig>>;
  readonly secrets?: Readonly<Record<string, SecretDeclaration>>;
  readonly services?: Readonly<Record<string, string>>;
  readonly extensions?: ExtensionsConfig;
  readonly executors?: ExecutorsConfig;
  readonly results?: ResultsConfig;
  readonly access?: AccessConfig;
  readonly store?: { readonly url: SecretText };
  readonly server?: ServerConfig;
  readonly retrieval?: RetrievalConfig;
  readonly onDuplicate?: 'skip' | 'error';
}

/** A configuration as it is read: checked, variables filled in, paths absolute, every MCP server a source. */
export interface Config extends Omit<WrittenConfig, '$schema' | 'sources' | 'mcpServers'> {
  /** In the order of the configuration, without those that have problems. */
  readonly sources: Readonly<Record<string, SourceConfig>>;
}
