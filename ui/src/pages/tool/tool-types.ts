import type { Schema } from '../../form/schema.ts';

/** One tool, as the server describes it. */
export interface ToolDetail {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly kind?: string;
  readonly source: string;
  readonly status: string;
  readonly since?: string;
  readonly category?: string;
  readonly tags: readonly string[];
  readonly bundles: readonly string[];
  readonly effects: Readonly<Record<string, boolean>>;
  readonly version?: string;
  readonly instructions?: string;
  readonly examples?: readonly ToolExample[];
  readonly active: boolean;
  readonly inputSchema: Schema;
  readonly outputSchema?: Schema;
  readonly tokens: Readonly<Record<string, number>>;
  readonly origin?: string;
  readonly policy?: Schema;
  readonly fixedArguments?: readonly string[];
  readonly hiddenArguments?: readonly string[];
  readonly stops?: readonly string[];
}

export interface ToolExample {
  readonly request?: string;
  readonly input?: unknown;
}

/** A recorded call in a list. */
export interface CallRow {
  readonly callId: string;
  readonly tool: string;
  readonly caller?: string;
  readonly profile?: string;
  readonly outcome: string;
  readonly at: string;
  readonly durationMs?: number;
}

export interface ToolStats {
  readonly calls: number;
  readonly failed: number;
  readonly errorRate: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
  readonly lastUsedAt?: string;
  readonly lastCalls: readonly CallRow[];
}

/** How dangerous a tool is, by its effects. Absent effects mean unknown. */
export type Danger = 'read' | 'write' | 'destructive' | 'unknown';

export function dangerOf({ effects }: { readonly effects: Readonly<Record<string, boolean>> }): Danger {
  if (effects.readOnly === true) return 'read';
  if (effects.destructive === true) return 'destructive';
  return effects.destructive === false ? 'write' : 'unknown';
}
