/** Kinds of problems in an audit log. */
export type AuditFindingKind =
  | 'row_changed'
  | 'row_removed'
  | 'row_moved'
  | 'row_added'
  | 'tail_cut'
  | 'older_copy'
  | 'chain_removed'
  | 'unknown_key'
  | 'rows_without_key'
  | 'no_checkpoint'
  | 'other_store'
  | 'other_id'
  | 'forged'
  | 'intent_open';

/** One problem and its place. */
export interface AuditFinding {
  readonly kind: AuditFindingKind;
  /** Empty if it concerns the whole audit log. */
  readonly chain: string;
  /** The number of the row, or of the first of several rows. */
  readonly number?: number;
  /** The last of several rows. */
  readonly to?: number;
  /** Time of the row in milliseconds since 1970. */
  readonly at?: number;
  readonly tool?: string;
  /** The problem as a sentence. */
  readonly message: string;
}

/** Result for one chain. */
export interface ChainReport {
  readonly chain: string;
  /** Number of existing rows. */
  readonly rows: number;
  /** Number of rows removed because of their age. */
  readonly removed: number;
  /** The number of the last row covered by a signature. */
  readonly sealed: number;
  /** `open`: a process writes to it. `ended`: its process ended without closing it. `elsewhere`: another machine has its checkpoints, or its key is unknown. */
  readonly state: 'open' | 'closed' | 'ended' | 'elsewhere';
}

/** Result of verifying the audit log. */
export interface AuditReport {
  /** True if no problems were found and every row is signed by a key of this machine or one that the operator trusts. */
  readonly ok: boolean;
  readonly rows: number;
  readonly chains: readonly ChainReport[];
  readonly findings: readonly AuditFinding[];
  /** Number of findings that are not listed. */
  readonly moreFindings: number;
  /** Remarks that are not problems. */
  readonly notes: readonly string[];
}

/** The calls of one tool by one caller. */
export interface ToolUse {
  readonly tool: string;
  /** Empty for an anonymous caller. */
  readonly caller: string;
  readonly calls: number;
  readonly failed: number;
  readonly lastAt: number;
}
