// Generated from the schema nodes by "npm run schema"; change those.
import type { AccessClause } from '../../core/access-clause.ts';
import type { Approver, Budget, Rate, Slots } from '../../core/policy.ts';
import type { Criteria } from '../../core/selector.ts';
import type { SecretText } from '../../system/secrets/secret-template.ts';

/** What a call is held to. */
export interface PolicyConfig {
  /** When a person must say yes. */
  readonly approval?: 'never' | 'dangerous' | 'cautious' | 'always';
  /** Who may say yes, besides an operator. */
  readonly approvers?: Approver | readonly Approver[];
  /** Who may call. */
  readonly access?: AccessClause | readonly AccessClause[];
  /** How often calls may be made; all must hold. */
  readonly rates?: readonly Rate[];
  /** How many calls may run at the same time; all must hold. */
  readonly concurrency?: readonly Slots[];
  /** No call may take longer. */
  readonly maxTimeoutMs?: number;
  /** No result may be larger. */
  readonly maxResultBytes?: number;
  /** How long a call may take where nothing nearer says so. */
  readonly timeoutMs?: number;
  /** How often a call is tried again. */
  readonly retries?: number;
  /** How long a result may be used again. */
  readonly cacheMs?: number;
  /** How long a person has to answer whether a call may run; that of extensions.approval if absent. */
  readonly approvalTimeoutMs?: number;
  /** What one call costs, counted against budgets. */
  readonly price?: number;
  /** What calls may cost; all must hold. */
  readonly budgets?: readonly Budget[];
}

/** The part of ExtensionsConfig that is built in. */
export interface BuiltInExtensionsConfig {
  /** Keeps a tamper-evident record of calls. */
  readonly audit?: AuditConfig | false;
  /** Writes a line for every call. */
  readonly logging?: LoggingConfig | false;
  /** Counts and measures calls, and makes spans of them. */
  readonly metrics?: MetricsConfig | false;
  /** Bounds how often calls are made. */
  readonly rateLimit?: RateLimitConfig | false;
  /** Makes two calls with one idempotency key one call. Keys and results are kept for a day. */
  readonly idempotency?: IdempotencyConfig;
  /** Asks a person before a tool runs. */
  readonly approval?: ApprovalConfig | false;
  /** Leaves a source alone for a while that keeps failing. */
  readonly breaker?: BreakerConfig | false;
  /** Bounds how many calls run at the same time. */
  readonly concurrency?: ConcurrencyConfig | false;
  /** Ends a call when its time is up. */
  readonly timeout?: TimeoutConfig | false;
  /** Tries again what failed for a passing reason. */
  readonly retry?: RetryConfig | false;
}

/** What takes part in every call: the built-in extensions, and your own. */
export interface ExtensionsConfig extends BuiltInExtensionsConfig {
  readonly [name: string]: CustomExtensionConfig | BuiltInExtensionsConfig[keyof BuiltInExtensionsConfig];
}

/** Keeps a tamper-evident record of calls. */
export interface AuditConfig {
  /** How long rows are kept; for ever if absent. */
  readonly retentionDays?: number;
  /** The Ed25519 key that signs the record; made and kept in the user's state directory if absent. Replicas may share it. */
  readonly key?: { readonly env: string } | { readonly file: string };
  /** Public keys of other machines whose rows count as genuine, as "toolcrib audit key" prints them. */
  readonly trustedKeys?: readonly string[];
  /** Tools that only run once it is on record that they are about to; none if absent. */
  readonly requireFor?: string | readonly (string | Criteria)[];
}

/** Writes a line for every call. */
export interface LoggingConfig {
  /** From which level on; default info. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Keys of arguments whose values are hidden, besides the usual ones; globs. */
  readonly redact?: string | readonly string[];
}

/** Counts and measures calls, and makes spans of them. */
export interface MetricsConfig {
  /** Whether calls are counted, for /metrics; default true. */
  readonly prometheus?: boolean;
  /** OpenTelemetry, spans and metrics. auto, if absent: where a provider is registered before the first call, or OTEL_* is set. */
  readonly otel?: boolean | 'auto';
}

/** Bounds how often calls are made. */
export interface RateLimitConfig {
  /** How often calls may be made; all must hold. */
  readonly rates?: readonly Rate[];
}

/** Makes two calls with one idempotency key one call. Keys and results are kept for a day. */
export interface IdempotencyConfig {
  /** How many idempotency keys and results one caller may have; default 100. Beyond it calls answer rate_limited. */
  readonly maxPerCaller?: number;
  /** How many bytes the idempotency keys and results of one caller may take; default 16000000. */
  readonly maxBytesPerCaller?: number;
  /** How many idempotency keys and results there may be in all; default 10000. */
  readonly maxTotal?: number;
  /** How many bytes all idempotency keys and results may take together; default 256000000. */
  readonly maxTotalBytes?: number;
}

/** Asks a person before a tool runs. */
export interface ApprovalConfig {
  /** Where neither tool nor profile speaks: dangerous = known to be destructive; cautious = not known to be read-only. Default dangerous. */
  readonly mode?: 'never' | 'dangerous' | 'cautious' | 'always';
  /** How long it waits for an answer; default five minutes. */
  readonly timeoutMs?: number;
  /** Sends a signed message when a call waits for approval. */
  readonly webhook?: WebhookConfig;
  /** How many requests for approval that wait or run one caller may have; default 100. Beyond it calls answer rate_limited. */
  readonly maxPerCaller?: number;
  /** How many bytes the requests for approval that wait or run of one caller may take; default 16000000. */
  readonly maxBytesPerCaller?: number;
  /** How many requests for approval that wait or run there may be in all; default 10000. */
  readonly maxTotal?: number;
  /** How many bytes all requests for approval that wait or run may take together; default 256000000. */
  readonly maxTotalBytes?: number;
}

/** Sends a signed message when a call waits for approval. */
export interface WebhookConfig {
  /** Where to. */
  readonly url: string;
  /** The name of the secret that signs the message. */
  readonly secret: SecretText;
}

/** Leaves a source alone for a while that keeps failing. */
export interface BreakerConfig {
  /** After how many failures in a row; default 5. */
  readonly failures?: number;
  /** How long at first; twice as long after every probe that fails, up to 2 s, or this value where it is longer. Default one second. */
  readonly openMs?: number;
}

/** Bounds how many calls run at the same time. */
export interface ConcurrencyConfig {
  /** How many calls may run at the same time; all must hold. */
  readonly slots?: readonly Slots[];
  /** How many calls may wait for a slot; more are unavailable. Default 1000. */
  readonly maxWaiting?: number;
}

/** Ends a call when its time is up. */
export interface TimeoutConfig {
  /** How long a call may take where neither call, tool nor profile speaks; default one minute. */
  readonly timeoutMs?: number;
}

/** Tries again what failed for a passing reason. */
export interface RetryConfig {
  /** How often, where neither call, tool nor profile speaks; default 2. */
  readonly retries?: number;
  /** The longest first pause; each further one may be twice as long. Default 100 ms. */
  readonly firstDelayMs?: number;
}

/** An extension of your own. */
export interface CustomExtensionConfig {
  /** A module or package that exports it. */
  readonly module: string;
  /** Higher runs further out; 700 to 300 are yours. */
  readonly priority?: number | 'highest' | 'high' | 'normal' | 'low' | 'lowest';
  /** Lets it stand among the built-in guards. */
  readonly unsafeOrder?: boolean;
  /** Handed to it. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** The part of ExecutorsConfig that is built in. */
export interface BuiltInExecutorsConfig {
  /** HTTP requests. */
  readonly http?: { readonly allowPrivate?: string | readonly string[] };
  /** Python functions. */
  readonly python?: PythonConfig;
  /** Commands. */
  readonly shell?: {
    readonly sandbox?: 'required' | 'preferred' | 'none';
    readonly roots?: string | readonly string[];
  };
}

/** How kinds of tools are run: the built-in executors, and your own. */
export interface ExecutorsConfig extends BuiltInExecutorsConfig {
  readonly [name: string]: CustomExecutorConfig | BuiltInExecutorsConfig[keyof BuiltInExecutorsConfig];
}

/** Python functions. */
export interface PythonConfig {
  /** A program, or the folder of a virtual environment; default python3. */
  readonly interpreter?: string;
  /** How many functions that block may run at the same time in one folder; default 4. */
  readonly workers?: number;
  /** Added to the few variables that a child gets. */
  readonly env?: Readonly<Record<string, SecretText>>;
}

/** An executor of your own. */
export interface CustomExecutorConfig {
  /** A module or package that exports it. */
  readonly module: string;
  /** Handed to it. */
  readonly options?: Readonly<Record<string, unknown>>;
}
