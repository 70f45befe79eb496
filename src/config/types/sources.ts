// Generated from the schema nodes by "npm run schema"; change those.
import type { Effects } from '../../core/tool-spec.ts';
import type { SecretText } from '../../system/secrets/secret-template.ts';
import type { PolicyConfig } from './guards.ts';

/** Where tools come from. */
export type WrittenSource =
  | McpSourceConfig
  | OpenApiSourceConfig
  | PythonSourceConfig
  | FilesSourceConfig
  | PackagesSourceConfig
  | ModulesSourceConfig
  | HttpSourceConfig
  | DatabaseSourceConfig
  | CustomSourceConfig
  | McpFileSourceConfig;

/** What may be said about a source of any kind. */
export interface SourceSettings {
  /** The bundle its tools belong to: its own name if absent, none if false. */
  readonly bundle?: string | false;
  /** Corrections, by glob over its tools' names. */
  readonly overrides?: Readonly<Record<string, OverrideConfig>>;
  /** Lets what it says about effects, policy, tags and category stand; else it can only raise caution. */
  readonly trust?: boolean;
  /** Put before its tools' names with "_"; "" for nothing. */
  readonly prefix?: string;
  /** The kinds of run its specs may carry. */
  readonly kinds?: string | readonly string[];
  /** Only these of its tools; for OpenAPI also "GET /pets*". */
  readonly include?: string | readonly string[];
  /** None of these of its tools. */
  readonly exclude?: string | readonly string[];
  /** Defaults of the settings that reach its tools as call.settings. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** stop ends its connection as soon as its entry is edited; if absent, that answers until the edited entry has a list. */
  readonly onChange?: 'stop';
}

/** What is corrected about the tools that match. */
export interface OverrideConfig {
  /** A title. */
  readonly title?: string;
  /** A description. */
  readonly description?: string;
  /** What the tool does to the world; absent means unknown. */
  readonly effects?: Effects;
  /** Tags. */
  readonly tags?: string | readonly string[];
  /** A category. */
  readonly category?: string;
  /** What a call is held to. */
  readonly policy?: PolicyConfig;
  /** Higher comes first among its bundle's tools. */
  readonly priority?: number;
  /** Other tools, by their names here, without which it is of little use. */
  readonly requires?: string | readonly string[];
  /** Anything else that is said about it, over what its source says. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Arguments that callers neither see nor give; the tool gets its default, or none. */
  readonly hiddenArguments?: string | readonly string[];
  /** Arguments that callers neither see nor give; the tool gets this value. */
  readonly fixedArguments?: Readonly<Record<string, unknown>>;
}

/** An MCP server. */
export interface McpSourceConfig extends SourceSettings {
  /** An MCP server. */
  readonly mcp: McpServer;
  /** Who shares a connection and its state; default all. */
  readonly share?: 'all' | 'profile' | 'caller' | 'conversation';
  /** How long its first start may take, in milliseconds; default 60000. A server that runs as a child has more while it shows progress, up to 10 minutes in all. */
  readonly initTimeoutMs?: number;
  /** How often its list is read again. */
  readonly refreshMs?: number;
  /** Variables of our environment that a child gets besides the usual ones, credentials included. */
  readonly passEnv?: string | readonly string[];
}

/** An MCP server. */
export type McpServer = McpChild | McpRemote;

/** A server that runs as a child. */
export interface McpChild {
  /** stdio */
  readonly type?: 'stdio';
  /** The program. */
  readonly command: string;
  /** Its arguments; no shell reads them. Secrets go into env. */
  readonly args?: readonly string[];
  /** Added to the few variables that a child gets. */
  readonly env?: Readonly<Record<string, SecretText>>;
  /** A file of NAME=value lines. */
  readonly envFile?: string;
  /** Where it runs; default this file's folder. */
  readonly cwd?: string;
}

/** A server that is reached by its address. */
export interface McpRemote {
  /** How it is spoken to; found out if absent. */
  readonly type?: 'http' | 'sse';
  /** The address of the server. */
  readonly url: SecretText;
  /** HTTP headers. */
  readonly headers?: Readonly<Record<string, SecretText>>;
  /** How the server is told who is asking. */
  readonly auth?: { readonly bearer: SecretText } | { readonly clientCredentials: ClientCredentials };
}

/** What a token is fetched with. */
export interface ClientCredentials {
  /** Where tokens are given out; the server says it itself if absent. */
  readonly tokenUrl?: string;
  /** Who is asking. */
  readonly clientId: string;
  /** The proof; ${secret:NAME}, bound to the host of the token address. */
  readonly clientSecret: SecretText;
  /** What the token is to be good for. */
  readonly scope?: string;
}

/** A REST API. */
export interface OpenApiSourceConfig extends SourceSettings {
  /** An OpenAPI document: a path or an address. */
  readonly openapi: string;
  /** Where the API is, whatever the document says. */
  readonly baseUrl?: string;
  /** HTTP headers. */
  readonly headers?: Readonly<Record<string, SecretText>>;
  /** What is sent for each security scheme of the document. */
  readonly auth?: Readonly<Record<string, OpenApiAuth>>;
  /** Whether answers are checked against what the document says about them; default false. */
  readonly outputSchemas?: boolean;
  /** How long its first start may take, in milliseconds; default 60000. A server that runs as a child has more while it shows progress, up to 10 minutes in all. */
  readonly initTimeoutMs?: number;
  /** How often its list is read again. */
  readonly refreshMs?: number;
}

/** What is sent for a security scheme. */
export type OpenApiAuth =
  | SecretText
  | { readonly username: SecretText; readonly password: SecretText }
  | ClientCredentials;

/** Python functions. */
export interface PythonSourceConfig extends SourceSettings {
  /** Python files or folders of them. */
  readonly python: string | readonly string[];
  /** How long its first start may take, in milliseconds; default 60000. A server that runs as a child has more while it shows progress, up to 10 minutes in all. */
  readonly initTimeoutMs?: number;
}

/** Spec files. */
export interface FilesSourceConfig extends SourceSettings {
  /** *.yaml, *.json with tools:, *.ndjson one spec a line; files or folders, watched. */
  readonly files: string | readonly string[];
  /** Whether its commands run in a sandbox: preferred lets those that declare one run without where there is none. */
  readonly sandbox?: 'required' | 'preferred' | 'none';
}

/** Installed packages. */
export interface PackagesSourceConfig extends SourceSettings {
  /** Installed packages with a "toolcrib" field: all, none, or these. */
  readonly packages: boolean | readonly string[];
  /** How long its first start may take, in milliseconds; default 60000. A server that runs as a child has more while it shows progress, up to 10 minutes in all. */
  readonly initTimeoutMs?: number;
  /** Whether its commands run in a sandbox: preferred lets those that declare one run without where there is none. */
  readonly sandbox?: 'required' | 'preferred' | 'none';
}

/** Modules. */
export interface ModulesSourceConfig extends SourceSettings {
  /** Modules that export tools or bundles; files or folders. */
  readonly modules: string | readonly string[];
  /** How long its first start may take, in milliseconds; default 60000. A server that runs as a child has more while it shows progress, up to 10 minutes in all. */
  readonly initTimeoutMs?: number;
  /** Whether its commands run in a sandbox: preferred lets those that declare one run without where there is none. */
  readonly sandbox?: 'required' | 'preferred' | 'none';
}

/** Specs at an address. */
export interface HttpSourceConfig extends SourceSettings {
  /** The address of a list of specs. */
  readonly http: SecretText;
  /** HTTP headers. */
  readonly headers?: Readonly<Record<string, SecretText>>;
  /** Secrets that its tools may name by ${secret:NAME}; default none. */
  readonly secrets?: SecretText | readonly SecretText[];
  /** How long its first start may take, in milliseconds; default 60000. A server that runs as a child has more while it shows progress, up to 10 minutes in all. */
  readonly initTimeoutMs?: number;
  /** How often its list is read again. */
  readonly refreshMs?: number;
  /** Whether its commands run in a sandbox: preferred lets those that declare one run without where there is none. */
  readonly sandbox?: 'required' | 'preferred' | 'none';
}

/** Specs in the store. */
export interface DatabaseSourceConfig extends SourceSettings {
  /** Specs kept in the store; false lists none. */
  readonly database: boolean;
  /** Secrets that its tools may name by ${secret:NAME}; default none. */
  readonly secrets?: SecretText | readonly SecretText[];
  /** How often its list is read again. */
  readonly refreshMs?: number;
  /** Whether its commands run in a sandbox: preferred lets those that declare one run without where there is none. */
  readonly sandbox?: 'required' | 'preferred' | 'none';
}

/** A source of your own. */
export interface CustomSourceConfig extends SourceSettings {
  /** A module or package that exports a source. */
  readonly module: string;
  /** Handed to the source. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** How long its first start may take, in milliseconds; default 60000. A server that runs as a child has more while it shows progress, up to 10 minutes in all. */
  readonly initTimeoutMs?: number;
  /** Whether its commands run in a sandbox: preferred lets those that declare one run without where there is none. */
  readonly sandbox?: 'required' | 'preferred' | 'none';
}

/** A file of MCP servers. */
export interface McpFileSourceConfig extends SourceSettings {
  /** An mcp.json or a YAML map of servers; each becomes a source of its own name. */
  readonly mcpFile: string;
  /** Who shares a connection and its state; default all. */
  readonly share?: 'all' | 'profile' | 'caller' | 'conversation';
  /** How long its first start may take, in milliseconds; default 60000. A server that runs as a child has more while it shows progress, up to 10 minutes in all. */
  readonly initTimeoutMs?: number;
  /** How often its list is read again. */
  readonly refreshMs?: number;
  /** Variables of our environment that a child gets besides the usual ones, credentials included. */
  readonly passEnv?: string | readonly string[];
}
