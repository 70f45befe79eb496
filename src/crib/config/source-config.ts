import type { Effects } from '../../core/tool-spec.ts';
import type { PolicyInput } from '../../define/read-policy.ts';
import type { SandboxMode } from '../../kinds/shell/shell-run.ts';
import type { SecretText } from '../../system/secrets/secret-template.ts';

/** One text, or a list of them. */
export type OneOrMany = string | readonly string[];

/** What the owner of a configuration corrects about tools of a source. */
export interface OverrideConfig {
  readonly title?: string;
  readonly description?: string;
  readonly effects?: Effects;
  readonly tags?: OneOrMany;
  readonly category?: string;
  readonly policy?: PolicyInput;
  /** Arguments that callers neither see nor give; the tool gets its default, or none. */
  readonly hiddenArguments?: OneOrMany;
  /** Arguments that callers neither see nor give; the tool gets this value. */
  readonly fixedArguments?: Readonly<Record<string, unknown>>;
}

/** What may be said about a source of any kind. */
export interface SourceSettings {
  /** The bundle its tools belong to: its own name if absent, none if `false`. */
  readonly bundle?: string | false;
  /** By glob over its tools' names. */
  readonly overrides?: Readonly<Record<string, OverrideConfig>>;
  readonly trust?: boolean;
  /** Put before its tools' names with `_`; `""` for nothing. */
  readonly prefix?: string;
  /** The kinds its specs may carry. */
  readonly kinds?: OneOrMany;
  readonly include?: OneOrMany;
  readonly exclude?: OneOrMany;
  /** Defaults of the settings that reach its tools as `call.settings`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** `stop` ends its connection as soon as its entry is edited; if absent, that answers until the edited entry has a list. */
  readonly onChange?: 'stop';
}

/** What may be said about a source that can bring commands. */
export interface CommandSettings {
  /** Whether its commands run in a sandbox. */
  readonly sandbox?: SandboxMode;
}

/** What may be said about a source that connects. */
export interface ConnectionSettings {
  /** Who shares a connection and its state; all if absent. */
  readonly share?: 'all' | 'profile' | 'caller' | 'conversation';
  readonly initTimeoutMs?: number;
  readonly refreshMs?: number;
}

/** An MCP server that runs as a child. */
export interface McpChild {
  readonly type?: 'stdio';
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, SecretText>>;
  /** A file of `NAME=value` lines, read when the child starts. */
  readonly envFile?: string;
  /** The folder of the configuration if absent. */
  readonly cwd?: string;
}

/** An MCP server that is reached by its address. */
export interface McpRemote {
  readonly type?: 'http' | 'sse';
  readonly url: SecretText;
  readonly headers?: Readonly<Record<string, SecretText>>;
  readonly auth?: McpAuth;
}

/** How a server is told who is asking: by a token as it is, or by one that is fetched. */
type McpAuth = { readonly bearer: SecretText } | { readonly clientCredentials: ClientCredentials };

/** What a token is fetched with. */
export interface ClientCredentials {
  /** Where; the server says it itself if absent. */
  readonly tokenUrl?: string;
  readonly clientId: string;
  readonly clientSecret: SecretText;
  readonly scope?: string;
}

/** How an MCP server is reached. */
export type McpServer = McpChild | McpRemote;

/** An MCP server as a source. */
export interface McpSourceConfig extends SourceSettings, ConnectionSettings {
  readonly mcp: McpServer;
}
/** Spec files and folders of them. */
export interface FilesSourceConfig extends SourceSettings, CommandSettings {
  readonly files: OneOrMany;
}
/** Folders of modules that export tools. */
export interface ModulesSourceConfig
  extends SourceSettings,
    CommandSettings,
    Pick<ConnectionSettings, 'initTimeoutMs'> {
  readonly modules: OneOrMany;
}
/** Installed packages that bring tools: all, none, or these. */
export interface PackagesSourceConfig
  extends SourceSettings,
    CommandSettings,
    Pick<ConnectionSettings, 'initTimeoutMs'> {
  readonly packages: boolean | readonly string[];
}
/** Python files and folders of them. */
export interface PythonSourceConfig extends SourceSettings, Pick<ConnectionSettings, 'initTimeoutMs'> {
  readonly python: OneOrMany;
}
/** The operations of an OpenAPI document: a file or an address. */
export interface OpenApiSourceConfig extends SourceSettings, Omit<ConnectionSettings, 'share'> {
  readonly openapi: string;
  readonly baseUrl?: string;
  /** Sent with each call. */
  readonly headers?: Readonly<Record<string, SecretText>>;
  /** By security scheme. */
  readonly auth?: Readonly<Record<string, OpenApiAuth>>;
  /** Whether answers are checked against what the description says; false if absent. */
  readonly outputSchemas?: boolean;
}

/** What is sent for a security scheme: a secret, a user with a password, or what tokens are fetched with. */
export type OpenApiAuth =
  | SecretText
  | { readonly username: SecretText; readonly password: SecretText }
  | ClientCredentials;
/** The secrets that tools of a list may name; none if absent. */
export type GrantedSecrets = SecretText | readonly SecretText[];

/** A list of specs at an address. */
export interface HttpSourceConfig extends SourceSettings, CommandSettings, Omit<ConnectionSettings, 'share'> {
  readonly http: SecretText;
  readonly headers?: Readonly<Record<string, SecretText>>;
  readonly secrets?: GrantedSecrets;
}
/** Specs kept in the store. */
export interface DatabaseSourceConfig extends SourceSettings, CommandSettings, Pick<ConnectionSettings, 'refreshMs'> {
  readonly database: boolean;
  readonly secrets?: GrantedSecrets;
}
/** A source of your own: a module or package that exports one. */
export interface CustomSourceConfig extends SourceSettings, CommandSettings, Pick<ConnectionSettings, 'initTimeoutMs'> {
  readonly module: string;
  readonly options?: Readonly<Record<string, unknown>>;
}
/** A file of MCP servers, each of which becomes a source; what is said here holds for all of them. */
export interface McpFileSourceConfig extends SourceSettings, ConnectionSettings {
  readonly mcpFile: string;
}

/** A source as it is read: told apart by the one key that names its kind. */
export type SourceConfig =
  | McpSourceConfig
  | FilesSourceConfig
  | ModulesSourceConfig
  | PackagesSourceConfig
  | PythonSourceConfig
  | OpenApiSourceConfig
  | HttpSourceConfig
  | DatabaseSourceConfig
  | CustomSourceConfig;
