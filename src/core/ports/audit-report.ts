/** What can be wrong with the audit. */
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

/** One thing that is wrong, and where. */
export interface AuditFinding {
  readonly kind: AuditFindingKind;
  /** Empty where it is about the whole audit. */
  readonly chain: string;
  /** The row, or the first of several. */
  readonly number?: number;
  /** The last of several rows. */
  readonly to?: number;
  /** When the row says it happened, in milliseconds since 1970. */
  readonly at?: number;
  readonly tool?: string;
  /** All of it in a sentence. */
  readonly message: string;
}

/** What became of one chain. */
export interface ChainReport {
  readonly chain: string;
  /** Rows that are there. */
  readonly rows: number;
  /** Rows that were removed because they were old. */
  readonly removed: number;
  /** The number of the last row that a signature vouches for. */
  readonly sealed: number;
  /** `open`: a process writes to it; `ended`: its process ended without closing; `elsewhere`: its checkpoints are kept by another machine, or its key is not known. */
  readonly state: 'open' | 'closed' | 'ended' | 'elsewhere';
}

/** What verifying the audit found. */
export interface AuditReport {
  /** Nothing is wrong, and every row is vouched for by a key of this machine or one that the owner trusts. */
  readonly ok: boolean;
  readonly rows: number;
  readonly chains: readonly ChainReport[];
  readonly findings: readonly AuditFinding[];
  /** How many findings more there are than are listed. */
  readonly moreFindings: number;
  /** What is worth knowing and not wrong, in sentences. */
  readonly notes: readonly string[];
}
