import type { ApprovalState } from './approval-states.ts';

/** The conditions under which a script began. A replay must begin under the same. */
export interface JournalStart {
  /** Seed of `Math.random`, and the first value of `Date.now`. */
  readonly seed: number;
  readonly now: number;
  /** Hashes of the tool, of the code and of the input. */
  readonly definition: string;
  readonly code: string;
  readonly input: string;
  /** The approval that the script itself was given. */
  readonly approval?: { readonly id: string; readonly by: string };
}

/** A call or search of a script. It is written before it is made and again when it has its answer. */
export interface JournalEntry {
  /** Counted from 0, in the order in which the script asks. */
  readonly index: number;
  readonly kind: 'call' | 'search';
  readonly name: string;
  /** Hash of the name and the arguments. */
  readonly hash: string;
  /** Hash of the definition of the tool when it was called; absent for a search or an unknown tool. */
  readonly definition?: string;
  /** True if making it twice has the same effect as making it once. */
  readonly isRepeatable: boolean;
  /** The approval request that it waits for, or was made with. */
  readonly approvalId?: string;
  /** True while it waits for that request: it has not been made. */
  readonly isWaiting?: true;
  readonly answer?: JournalAnswer;
}

/** The answer of a call as the script got it. */
interface JournalAnswer {
  /** Its place among the answers. */
  readonly order: number;
  readonly isOk: boolean;
  /** JSON, without secrets; absent for undefined. */
  readonly text?: string;
  readonly now: number;
}

/** The part of a journal that changes as a whole. */
export interface JournalState {
  /** Number of console lines that were reported. */
  readonly lines: number;
  /** Number of times that the script has waited. */
  readonly waits: number;
}

/** The calls and searches of a script so far. */
export interface Journal extends JournalStart, JournalState {
  readonly entries: readonly JournalEntry[];
  /** True if the journal became too large and was dropped. */
  readonly isDropped?: true;
}

/** A script that waits for approvals of its calls. */
export interface ScriptWait {
  readonly batch: string;
  /** The id to show: that of the batch, or of its only request. */
  readonly approvalId: string;
  readonly expiresAt: number;
  /** The whole journal of a script that was not stored before. */
  readonly journal?: Journal;
  readonly state: JournalState;
}

/** An approval request of a call in a script. */
interface WaitedRequest {
  readonly state: ApprovalState;
  readonly batch?: string;
}

/** The journal of a call that runs a script. */
export interface CallJournal {
  /** The journal of an earlier run of the script. */
  readonly saved?: Journal;
  /** Writes of a script that runs as a task. Absent for others: their journal is stored when they wait. */
  readonly stored?: JournalWrites;
  /** The state and batch of an approval request. */
  request(approvalId: string): Promise<WaitedRequest | undefined>;
  /** Removes the values of secrets from a text. */
  redact(text: string): string;
  /** Set when the script waits. */
  wait?: ScriptWait;
}

/** Writes to the journal of a task. Each resolves to false if another process has the task now: then nothing is written. */
interface JournalWrites {
  begin(start: JournalStart): Promise<boolean>;
  put(written: WrittenEntries): Promise<boolean>;
  drop(): Promise<boolean>;
}

/** Entries to store, and the state of their journal. */
export interface WrittenEntries {
  readonly entries: readonly JournalEntry[];
  readonly state: JournalState;
}

/** Storage for the journals of scripts. A journal belongs to a task and is removed with it. */
export interface StoredJournals {
  get(task: string): Promise<Journal | undefined>;
  /** Begins the journal of a task that this process has claimed; like all writes false if it has not. */
  begin(task: string, start: JournalStart): Promise<boolean>;
  /** Adds entries, or replaces them. */
  put(task: string, written: WrittenEntries): Promise<boolean>;
  /** Removes the entries of a journal that became too large. */
  drop(task: string): Promise<boolean>;
  /** The newest task with this binding whose result its caller does not have yet. */
  find(binding: string): Promise<string | undefined>;
  /** Notes that the caller has the result of a task. */
  handOver(task: string): Promise<void>;
}
