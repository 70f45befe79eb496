import type { Tone } from '../../parts/tone.ts';

/** A call as REST lists it, or as an event announces it. Its outcome is `running` until it has ended. */
export interface CallRow {
  readonly callId: string;
  readonly tool: string;
  readonly source?: string;
  readonly profile: string;
  readonly door: string;
  readonly caller?: string;
  readonly roles?: readonly string[];
  readonly operator?: true;
  readonly conversation?: string;
  readonly turn?: string;
  readonly parentId?: string;
  readonly outcome: string;
  readonly at: string;
  readonly until?: string;
  /** Number of refusals that the row summarizes. */
  readonly count?: number;
  readonly durationMs?: number;
  readonly tokens?: number;
  readonly traceId?: string;
  readonly approval?: { readonly id?: string; readonly by?: string };
  readonly argumentsHash?: string;
  readonly resultHash?: string;
  readonly isReplayed?: true;
  readonly row?: AuditPlace;
  /** Time that the call waited for an approval before it ran. */
  readonly waitedMs?: number;
}

/** The position of a call in the audit log. */
interface AuditPlace {
  readonly chain: string;
  readonly number: number;
  readonly hash: string;
  readonly key?: 'trusted' | 'unknown';
}

export const STATUSES = ['running', 'waiting', 'done', 'failed'] as const;
export type CallStatus = (typeof STATUSES)[number];

/** The status of a call: every outcome but three is the code of an error. */
export function statusOf({ outcome }: Pick<CallRow, 'outcome'>): CallStatus {
  return STATUSES.find((status) => status === outcome) ?? 'failed';
}

export const TONES: Readonly<Record<CallStatus, Tone>> = {
  running: 'active',
  waiting: 'warn',
  done: 'good',
  failed: 'danger',
};

/** An outcome in words: `rate_limited` reads "rate limited". */
export function toWords(outcome: string): string {
  return outcome.replaceAll('_', ' ');
}

/** The kind of an entry in a timeline. */
export type EntryKind = 'search' | 'call' | 'wait' | 'denial';

const SEARCHES = new Set(['search_tools', 'list_bundles', 'activate_bundle', 'describe_tools']);

export function kindOf({ tool, outcome }: Pick<CallRow, 'tool' | 'outcome'>): EntryKind {
  if (outcome === 'waiting') return 'wait';
  if (outcome === 'denied') return 'denial';
  return SEARCHES.has(tool) ? 'search' : 'call';
}
