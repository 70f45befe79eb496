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
  /** Keeps a tamper-evident audit log of calls. */
  readonly audit?: AuditConfig | false;
  /** Logs every call. */
  readonly logging?: LoggingConfig | false;
  /** Counts, measures and traces calls. */
  readonly metrics?: MetricsConfig | false;
  /** Limits the rate of calls. */
  readonly rateLimit?: RateLimitConfig | false;
  /** Makes two calls with the same idempotency key one call. Keys and results are kept for a day. */
  readonly idempotency?: IdempotencyConfig;
  /** Requires approval before a tool runs. */
  readonly approval?: ApprovalConfig | false;
  /** Fails calls at once while a source keeps failing (circuit breaker). */
  readonly breaker?: BreakerConfig | false;
  /** Limits the number of concurrent calls. */
  readonly concurrency?: ConcurrencyConfig | false;
  /** Ends a call after its timeout. */
  readonly timeout?: TimeoutConfig | false;
  /** Retries transient failures. */
  readonly retry?: RetryConfig | false;
}

/** What takes part in every call: the built-in extensions, and your own. */
export interface ExtensionsConfig extends BuiltInExtensionsConfig {
  readonly [name: string]: CustomExtensionConfig | BuiltInExtensionsConfig[keyof BuiltInExtensionsConfig];
}

/** Keeps a tamper-evident audit log of calls. */
export interface AuditConfig {
  /** Days to keep rows; default forever. */
  readonly retentionDays?: number;
  /** The Ed25519 key that signs the audit log; created in the user's state directory if absent. Replicas may share it. */
  readonly key?: { readonly env: string } | { readonly file: string };
  /** Public keys of other machines to trust, as printed by "toolcrib audit key". */
  readonly trustedKeys?: readonly string[];
  /** Tools that run only after the start of the run was recorded; default none. */
  readonly requireFor?: string | readonly (string | Criteria)[];
}

/** Logs every call. */
export interface LoggingConfig {
  /** Minimum level; default info. */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Argument names (globs) whose values are hidden, besides the default ones. */
  readonly redact?: string | readonly string[];
}

/** Counts, measures and traces calls. */
export interface MetricsConfig {
  /** Counts calls for /metrics; default true. */
  readonly prometheus?: boolean;
  /** OpenTelemetry, spans and metrics. auto, if absent: where a provider is registered before the first call, or OTEL_* is set. */
  readonly otel?: boolean | 'auto';
}

/** Limits the rate of calls. */
export interface RateLimitConfig {
  /** How often calls may be made; all must hold. */
  readonly rates?: readonly Rate[];
}

/** Makes two calls with the same idempotency key one call. Keys and results are kept for a day. */
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

/** Requires approval before a tool runs. */
export interface ApprovalConfig {
  /** Mode for tools without a mode of their own or of the profile: dangerous = known to be destructive; cautious = not known to be read-only. Default dangerous. */
  readonly mode?: 'never' | 'dangerous' | 'cautious' | 'always';
  /** Time to answer a request; default five minutes. */
  readonly timeoutMs?: number;
  /** Sends a signed message when a call waits for approval. */
  readonly webhook?: WebhookConfig;
  /** How many approval requests that are waiting or running one caller may have; default 100. Beyond it calls answer rate_limited. */
  readonly maxPerCaller?: number;
  /** How many bytes the approval requests that are waiting or running of one caller may take; default 16000000. */
  readonly maxBytesPerCaller?: number;
  /** How many approval requests that are waiting or running there may be in all; default 10000. */
  readonly maxTotal?: number;
  /** How many bytes all approval requests that are waiting or running may take together; default 256000000. */
  readonly maxTotalBytes?: number;
}

/** Sends a signed message when a call waits for approval. */
export interface WebhookConfig {
  /** The address of the webhook. */
  readonly url: string;
  /** The name of the secret that signs the message. */
  readonly secret: SecretText;
}

/** Fails calls at once while a source keeps failing (circuit breaker). */
export interface BreakerConfig {
  /** Failures in a row that open the circuit; default 5. */
  readonly failures?: number;
  /** First pause before a probe. It doubles after every failed probe, up to 2 s, or up to this value if it is longer. Default one second. */
  readonly openMs?: number;
}

/** Limits the number of concurrent calls. */
export interface ConcurrencyConfig {
  /** How many calls may run at the same time; all must hold. */
  readonly slots?: readonly Slots[];
  /** Number of calls that may wait for a slot; further calls fail as unavailable. Default 1000. */
  readonly maxWaiting?: number;
}

/** Ends a call after its timeout. */
export interface TimeoutConfig {
  /** Timeout if neither call, tool nor profile sets one; default one minute. */
  readonly timeoutMs?: number;
}

/** Retries transient failures. */
export interface RetryConfig {
  /** Number of retries if neither call, tool nor profile sets it; default 2. */
  readonly retries?: number;
  /** Maximum of the first pause; it doubles with each retry. Default 100 ms. */
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
