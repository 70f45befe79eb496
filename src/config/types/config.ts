// Generated from the schema nodes by "npm run schema"; change those.
import type { JsonSchema } from '../../core/json.ts';
import type { Criteria } from '../../core/selector.ts';
import type { SecretText } from '../../system/secrets/secret-template.ts';
import type { SecretDeclaration } from '../../system/secrets/secrets.ts';
import type { ExecutorsConfig, ExtensionsConfig, PolicyConfig } from './guards.ts';
import type { WrittenSource } from './sources.ts';

/** The configuration of a Toolcrib. */
export interface WrittenConfig {
  /** Where this schema is, for editors. */
  readonly $schema?: string;
  /** Else the profile named default, else the only one, else all tools. */
  readonly defaultProfile?: string;
  /** Where tools come from, by name; the order decides who owns a name. */
  readonly sources?: Readonly<Record<string, WrittenSource>>;
  /** The block of an mcp.json, pasted as it is; each server becomes a source. */
  readonly mcpServers?: Readonly<Record<string, object>>;
  /** Tools as data, in the format of spec files. */
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  /** Bundles by name. */
  readonly bundles?: Readonly<Record<string, BundleConfig>>;
  /** Profiles by name. */
  readonly profiles?: Readonly<Record<string, ProfileConfig>>;
  /** Secrets by name, written elsewhere as ${secret:NAME}. */
  readonly secrets?: Readonly<Record<string, SecretDeclaration>>;
  /** Services by name. */
  readonly services?: Readonly<Record<string, string>>;
  /** What takes part in every call: the built-in extensions, and your own. */
  readonly extensions?: ExtensionsConfig;
  /** How kinds of tools are run: the built-in executors, and your own. */
  readonly executors?: ExecutorsConfig;
  /** Storage of large results. */
  readonly results?: ResultsConfig;
  /** Who may come in. Without it only this machine can. */
  readonly access?: AccessConfig;
  /** Where what must outlive the process is kept. */
  readonly store?: { readonly url: SecretText };
  /** Where it listens. */
  readonly server?: ServerConfig;
  /** How tools are found. */
  readonly retrieval?: RetrievalConfig;
  /** What becomes of a discovered or remote tool whose name is taken: it is held back, or what brings it is refused. */
  readonly onDuplicate?: 'skip' | 'error';
}

/** Tools that belong together: shown, found and set up together. */
export interface BundleConfig {
  /** What the tools are for. */
  readonly description?: string;
  /** The tools. */
  readonly include?: string | readonly (string | Criteria)[];
  /** Prompt text shown while the bundle is active. */
  readonly instructions?: string;
  /** Bundles that are set up before this one. */
  readonly requires?: string | readonly string[];
  /** Bundles whose tools, instructions and requirements this one has, too. */
  readonly extends?: string | readonly string[];
  /** It exists only where all of this holds. */
  readonly when?: WhenConfig;
  /** Higher comes first. */
  readonly priority?: number;
  /** Anything else. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** It exists only where all of this holds. */
export interface WhenConfig {
  /** Environment variables that are set. */
  readonly env?: string | readonly string[];
  /** linux, darwin, win32. */
  readonly platform?: string | readonly string[];
  /** Services that are there. */
  readonly service?: string | readonly string[];
}

/** What one kind of caller may use. */
export interface ProfileConfig {
  /** Absent = all, [] = none. */
  readonly include?: string | readonly (string | Criteria)[];
  /** Taken out again. */
  readonly exclude?: string | readonly (string | Criteria)[];
  /** Bundles that are always active. */
  readonly essential?: string | readonly string[];
  /** Bundles active at first: absent = every bundle in view, [] = the essential ones only. */
  readonly active?: string | readonly string[];
  /** How the tools are shown; default all. */
  readonly expose?: 'all' | 'search' | 'script';
  /** Tools that ask first, besides what a tool's own policy demands. */
  readonly approve?: string | readonly (string | Criteria)[];
  /** What a call is held to. */
  readonly policy?: PolicyConfig;
  /** Conditions over arguments. */
  readonly rules?: readonly RuleConfig[];
  /** Reaches tools as call.settings. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Profiles it may hand a task to; default closed. */
  readonly delegate?: Readonly<Record<string, 'closed' | 'ask' | 'open'>>;
}

/** A condition over the arguments of tools. */
export interface RuleConfig {
  /** The tools. */
  readonly tools: string | readonly (string | Criteria)[];
  /** JSON Schema that the arguments must meet. */
  readonly when: JsonSchema;
  /** What becomes of other calls. */
  readonly otherwise: 'approve' | 'deny';
}

/** Storage of large results. */
export interface ResultsConfig {
  /** Larger results are kept in the store and returned as a preview; default 100000. */
  readonly offloadBytes?: number;
  /** Time to keep them; default one day. */
  readonly keepMs?: number;
  /** Total bytes of stored results of all callers. A result that does not fit, or is larger than 100 MB, is not stored. Default 1000000000. */
  readonly quotaBytes?: number;
}

/** Who may come in. Without it only this machine can. */
export interface AccessConfig {
  /** API keys, made by toolcrib keys; default false. */
  readonly keys?: boolean;
  /** Tokens of an issuer. */
  readonly jwt?: JwtConfig;
  /** Roles. */
  readonly roles?: Readonly<Record<string, RoleConfig>>;
}

/** Tokens of an issuer. */
export interface JwtConfig {
  /** Who signs them, exactly as the tokens say it. */
  readonly issuer: string;
  /** Whom they must be meant for; any one of these. */
  readonly audience?: string | readonly string[];
  /** Where its keys are; if absent, the issuer says where. */
  readonly jwks?: string;
  /** How they may be signed; all of them if absent. */
  readonly algorithms?:
    | 'RS256'
    | 'RS384'
    | 'RS512'
    | 'PS256'
    | 'PS384'
    | 'PS512'
    | 'ES256'
    | 'ES384'
    | 'ES512'
    | 'EdDSA'
    | 'Ed25519'
    | readonly (
        | 'RS256'
        | 'RS384'
        | 'RS512'
        | 'PS256'
        | 'PS384'
        | 'PS512'
        | 'ES256'
        | 'ES384'
        | 'ES512'
        | 'EdDSA'
        | 'Ed25519'
      )[];
  /** The claim with the roles, or a dotted path to it; default roles. */
  readonly rolesClaim?: string;
  /** The claim with the permissions; default permissions, scope and scp. */
  readonly permissionsClaim?: string;
  /** How far the issuer's clock may be off; default 0. */
  readonly clockToleranceMs?: number;
}

/** What a role may do. */
export interface RoleConfig {
  /** The profiles it may use; globs. */
  readonly profiles?: string | readonly string[];
  /** It may do what an operator may. */
  readonly operator?: boolean;
}

/** Where it listens. */
export interface ServerConfig {
  /** The address; default 127.0.0.1. */
  readonly host?: string;
  /** The port; default 2742, 0 for any. */
  readonly port?: number;
  /** Names besides by which it is reached, as behind a proxy. */
  readonly hosts?: string | readonly string[];
  /** How long calls under way may go on when it ends; default 10 s. After that they are ended and answered. */
  readonly graceMs?: number;
}

/** How tools are found. */
export interface RetrievalConfig {
  /** How texts are compared. */
  readonly embeddings?: 'builtin' | 'none' | EmbeddingsConfig;
  /** What a caller has used most comes first among tools that fit equally well; default false. */
  readonly usage?: boolean;
  /** A module or package that exports a retriever. */
  readonly module?: string;
  /** Handed to it. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** An OpenAI-compatible endpoint. */
export interface EmbeddingsConfig {
  /** Its address. */
  readonly url: string;
  /** The model. */
  readonly model: string;
  /** Its key, usually ${secret:NAME}. */
  readonly key?: SecretText;
}
