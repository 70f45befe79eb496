import './system/require-node.ts';

export type { ApprovalOutcome, CribApprovals } from './approvals/approvals.ts';
export type { Grant } from './approvals/grants.ts';
export type { ApprovalDecision, ApprovalFilter } from './approvals/read-decision.ts';
export type { Approval, ApprovalItem } from './approvals/shown-approvals.ts';
export type { AuditSummary, ChainSummary, CribAudit, ExportOptions } from './audit/crib-audit.ts';
export type { CallQuery, CallRow, CribCalls, FoundCall } from './audit/recorded-calls.ts';
export type { CallOptions } from './call/call-input.ts';
export type { AccessClause, Hours } from './core/access-clause.ts';
export { approvalText } from './core/approval-text.ts';
export type { Bundle, BundleInfo, ResolvedBundle, SetupContext, SetupResult } from './core/bundle.ts';
export type { ApprovalAnswer, ApprovalRequest, Approve, Caller, Credential, Identity } from './core/caller.ts';
export type { Catalog, Changes, HeldBack } from './core/catalog.ts';
export type { Executor, ExecutorContext } from './core/executor.ts';
export type { Extension, Next, PriorityName } from './core/extension.ts';
export type { JsonObject, JsonSchema, JsonValue, MaybePromise } from './core/json.ts';
export type {
  ApprovalMode,
  Approver,
  Budget,
  Limits,
  Policy,
  Rate,
  Rule,
  Scope,
  Slots,
  Tuning,
} from './core/policy.ts';
export { keep, prefix, rename, tighten, tightenPolicy } from './core/policy.ts';
export type { ApprovalState } from './core/ports/approval-states.ts';
export type { AuditFinding, AuditReport, ChainReport } from './core/ports/audit-report.ts';
export type { Clock } from './core/ports/crib-context.ts';
export type { AgentChest, AgentRequest, AgentUsage, HostAgent } from './core/ports/host-agent.ts';
export type { LogLevel, LogLine, LogSink } from './core/ports/observability.ts';
export type { GrantTerms, Remember } from './core/ports/remember.ts';
export type { AuditRow } from './core/ports/stored-audit.ts';
export type { Stop } from './core/ports/stored-stops.ts';
export type { Profile } from './core/profile.ts';
export type {
  Confidence,
  GoalSearch,
  Ranked,
  RankOptions,
  Retriever,
  SearchHit,
  SearchOptions,
  SearchRequest,
} from './core/retriever.ts';
export type { Criteria, Selector } from './core/selector.ts';
export type { LiveSource, Source, SourceContext, SourceStatus } from './core/source.ts';
export type { CallRequest, Progress, ToolCall } from './core/tool-call.ts';
export type { Issue, ToolError, ToolErrorCode } from './core/tool-error.ts';
export { ToolcribError, toolError } from './core/tool-error.ts';
export type {
  CallAnswer,
  Content,
  DoneResult,
  FailedResult,
  Outcome,
  Rejection,
  ToolResult,
  WaitingResult,
} from './core/tool-result.ts';
export { done, failed, textOf } from './core/tool-result.ts';
export type { Effects, Run, ToolExample, ToolSpec, When } from './core/tool-spec.ts';
export {
  access,
  approval,
  audit,
  auditIntent,
  breaker,
  concurrency,
  EXTENSION_ORDER,
  idempotency,
  logging,
  METRICS_CONTENT_TYPE,
  measure,
  metrics,
  rateLimit,
  retry,
  timeout,
  trace,
} from './crib/built-ins.ts';
export type { CribBundles } from './crib/catalog/bundle-registry.ts';
export type { Explanation } from './crib/catalog/explain.ts';
export type { Section } from './crib/catalog/list-view.ts';
export type { ProfileInput } from './crib/catalog/read-profile.ts';
export type { Chest, TypedChest } from './crib/chest.ts';
export { createCrib, defaultCrib, resetDefaultCrib } from './crib/create-crib.ts';
export type { Crib } from './crib/crib.ts';
export type { CribOptions } from './crib/crib-options.ts';
export type { CribServer } from './crib/crib-server.ts';
export type { SourceReport } from './crib/sources/source-slot.ts';
export type { BundleInput, DefinedBundle } from './define/define-bundle.ts';
export { defineBundle } from './define/define-bundle.ts';
export type { ExtensionHooks, ExtensionInput } from './define/define-extension.ts';
export { defineExtension } from './define/define-extension.ts';
export type { AnySchema, ToolDefinition, ToolInput } from './define/define-tool.ts';
export { defineTool } from './define/define-tool.ts';
export type { AnyTool, NamedTools, ToolClass, ToolObject } from './define/read-tool.ts';
export type { LoggingOptions } from './extensions/logging.ts';
export type { MeasureOptions } from './extensions/measure.ts';
export type { MetricsOptions } from './extensions/metrics.ts';
export type { TraceOptions } from './extensions/trace.ts';
export type { CreatedKey, CribKeys, KeyInfo, KeyRequest } from './identity/api-keys.ts';
export type { CribStops, ResumeOptions, StopOptions, StopOutcome } from './stops/change-stops.ts';
export type { CribSchedules, ScheduleInfo, ScheduleOutcome, ScheduleRequest } from './tasks/schedules.ts';
