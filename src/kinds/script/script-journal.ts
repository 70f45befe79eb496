import { hash } from 'node:crypto';
import { mayBeRepeated } from '../../core/begun-runs.ts';
import type {
  CallJournal,
  JournalEntry,
  JournalStart,
  JournalState,
  ScriptWait,
} from '../../core/ports/stored-journals.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { type ToolError, toolError } from '../../core/tool-error.ts';
import { definitionHash } from '../../specs/hashes.ts';
import type { InnerAnswer, InnerRequest, SentAnswer } from './script-messages.ts';

/** How a request of a script is answered: by making the call, perhaps with an approval, or by an error. */
export type Making =
  | { readonly approvalId?: string }
  | { readonly answer: 'unknown' }
  | { readonly refusal: ToolError };

/** A call of a script that waits for approval. */
export interface WaitingCall {
  readonly index: number;
  readonly approvalId: string;
  readonly expiresAt: number;
}

/** Ids of calls from which the ids of batches are made. Others are hashed. */
const PLAIN_ID = /^[\w.:-]{1,180}$/;

/** Records the calls and searches of one script, and answers those that an earlier run of it has made. */
export class ScriptJournal {
  readonly start: JournalStart;
  readonly #call: ToolCall;
  readonly #port: CallJournal;
  readonly #maxBytes: number;
  readonly #entries: Map<number, JournalEntry>;
  /** The entries that this run has asked for. */
  readonly #asked = new Set<number>();
  #bytes = 0;
  #order: number;
  #waits: number;
  #lines: number;
  /** Number of console lines of this run. */
  #seenLines = 0;
  #isDropped: boolean;
  #hasWaitingCall = false;
  #pending: JournalEntry[] = [];
  #writing: Promise<ToolError | undefined> = Promise.resolve(undefined);

  constructor(call: ToolCall, port: CallJournal, { start, maxBytes }: { start: JournalStart; maxBytes: number }) {
    const { saved } = port;
    this.start = start;
    this.#call = call;
    this.#port = port;
    this.#maxBytes = maxBytes;
    this.#entries = new Map(saved?.entries.map((entry) => [entry.index, entry]));
    this.#order = saved?.entries.filter(({ answer }) => answer !== undefined).length ?? 0;
    for (const { name, answer } of saved?.entries ?? []) this.#bytes += name.length + (answer?.text?.length ?? 0);
    this.#waits = saved?.waits ?? 0;
    this.#lines = saved?.lines ?? 0;
    this.#isDropped = saved?.isDropped === true;
  }

  /** The batch in which calls wait for approval; undefined if this script can no longer wait. */
  get batch(): string | undefined {
    if (this.#isDropped) return undefined;
    const { id } = this.#call;
    return `${PLAIN_ID.test(id) ? id : hash('sha256', id)}.${this.#waits + 1}`;
  }

  get redact(): CallJournal['redact'] {
    return this.#port.redact;
  }

  /** The answers of an earlier run, in the order in which the script got them. */
  replayed(): readonly InnerAnswer[] {
    const answered = [...this.#entries.values()].flatMap(({ index, answer }) =>
      answer === undefined ? [] : [{ index, text: undefined, ...answer }],
    );
    return answered.toSorted((a, b) => a.order - b.order);
  }

  hasAnswer(index: number): boolean {
    return this.#entries.get(index)?.answer !== undefined;
  }

  /** Counts a console line; true if an earlier run has not reported it. */
  isNewLine(): boolean {
    this.#seenLines++;
    if (this.#seenLines <= this.#lines) return false;
    this.#lines = this.#seenLines;
    return true;
  }

  /** Compares requests with those of an earlier run; the difference in words, or undefined. */
  differenceOf(requests: readonly InnerRequest[]): string | undefined {
    for (const request of requests) {
      const { index, kind, name } = request;
      const before = this.#entries.get(index);
      this.#asked.add(index);
      if (before === undefined) continue;
      if (before.kind !== kind || before.name !== name)
        return `${kind} ${index + 1} was ${wordOf(before)}, and is now ${wordOf(request)}`;
      if (before.hash !== hashOf(request))
        return `${kind} ${index + 1}, ${wordOf(request)}, has other arguments than before`;
    }
    return undefined;
  }

  /** A request of an earlier run that this one did not make, in words. */
  missing(): string | undefined {
    const lost = [...this.#entries.values()].find(({ index }) => !this.#asked.has(index));
    return lost && `it ended without ${lost.kind} ${lost.index + 1}, ${wordOf(lost)}`;
  }

  /** Records a request before it is made. */
  async issue(request: InnerRequest): Promise<Making> {
    const { index } = request;
    const before = this.#entries.get(index);
    const making = before === undefined ? {} : await this.#makingOf(before);
    const { approvalId } = 'approvalId' in making ? making : {};
    if (before === undefined) this.#bytes += request.name.length;
    this.#set(toEntry(request, this.#call, approvalId));
    const refusal = this.#port.stored === undefined ? undefined : await this.#write();
    return refusal === undefined ? making : { refusal };
  }

  /** Decides about a request that an earlier run has made and that has no answer. */
  async #makingOf({ name, approvalId, isWaiting, isRepeatable, definition }: JournalEntry): Promise<Making> {
    const state = approvalId === undefined ? undefined : (await this.#port.request(approvalId))?.state;
    // A call runs only after it has claimed its approval.
    const wasRun = state === undefined || state === 'claimed' || state === 'done';
    if (approvalId !== undefined && (isWaiting === true || !wasRun)) return { approvalId };
    const spec = this.#call.tools.get(name);
    const isSame = definition === (spec && definitionHash(spec));
    return isRepeatable && isSame ? {} : { answer: 'unknown' };
  }

  /** True if the request belongs to the batch of this script: a tool may return any result. */
  async accepts(approvalId: string): Promise<boolean> {
    return this.batch !== undefined && (await this.#port.request(approvalId))?.batch === this.batch;
  }

  /** Records that a call waits for approval. */
  async wait({ index, approvalId }: WaitingCall): Promise<ToolError | undefined> {
    const entry = this.#entries.get(index);
    if (entry === undefined || this.#isDropped) return tooLarge();
    this.#hasWaitingCall = true;
    this.#set({ ...entry, approvalId, isWaiting: true });
    return this.#port.stored === undefined ? undefined : this.#write();
  }

  /** Records an answer. Answers reach the script in the order in which they were recorded. */
  answer(index: number, { isOk, text }: SentAnswer, now: number): Promise<ToolError | undefined> | undefined {
    const entry = this.#entries.get(index);
    if (entry === undefined || this.#isDropped) return undefined;
    const { isWaiting: _isWaiting, ...rest } = entry;
    const answer = { order: this.#order++, isOk, ...(text !== undefined && { text }), now };
    this.#set({ ...rest, answer });
    this.#bytes += text?.length ?? 0;
    if (this.#bytes > this.#maxBytes) return this.#drop();
    return this.#port.stored === undefined ? undefined : this.#write();
  }

  /** The wait of the script for these calls. */
  toWait(calls: readonly WaitingCall[]): ScriptWait {
    const batch = this.batch ?? '';
    this.#waits++;
    const state = this.#state();
    const [only, ...more] = calls;
    const entries = [...this.#entries.values()];
    return {
      batch,
      approvalId: only !== undefined && more.length === 0 ? only.approvalId : batch,
      expiresAt: Math.min(...calls.map(({ expiresAt }) => expiresAt)),
      ...(this.#port.stored === undefined && { journal: { ...this.start, ...state, entries } }),
      state,
    };
  }

  #state(): JournalState {
    return { lines: this.#lines, waits: this.#waits };
  }

  #set(entry: JournalEntry): void {
    if (this.#isDropped) return;
    this.#entries.set(entry.index, entry);
    if (this.#port.stored !== undefined) this.#pending.push(entry);
  }

  /** Writes what is pending, in one statement with what others add meanwhile. Resolves to the reason to end the script. */
  #write(): Promise<ToolError | undefined> {
    this.#writing = this.#writing.then(async (ended) => {
      const entries = this.#pending.splice(0);
      if (ended !== undefined || entries.length === 0) return ended;
      return this.#outcomeOf(this.#port.stored?.put({ entries, state: this.#state() }));
    });
    return this.#writing;
  }

  async #outcomeOf(written: Promise<boolean> | undefined): Promise<ToolError | undefined> {
    try {
      return (await written) === false ? takenOver() : undefined;
    } catch (cause) {
      return toolError('unavailable', 'The script was ended: the store with its journal is not available.', { cause });
    }
  }

  /** A journal that became too large is dropped: the script goes on, but it can neither wait nor be resumed. If it waits already, it ends. */
  async #drop(): Promise<ToolError | undefined> {
    if (this.#hasWaitingCall) return tooLarge();
    this.#isDropped = true;
    this.#entries.clear();
    this.#pending = [];
    await this.#writing;
    return this.#outcomeOf(this.#port.stored?.drop());
  }
}

export function takenOver(): ToolError {
  return toolError('conflict', 'The script was ended here: another process has taken it over.');
}

function tooLarge(): ToolError {
  const message = `The script was ended: a call waits for approval, and the results of others are too large to keep (executors.script.journalMb). Ask for less.`;
  return toolError('too_large', message);
}

function toEntry(request: InnerRequest, call: ToolCall, approvalId: string | undefined): JournalEntry {
  const { index, kind, name } = request;
  const spec = kind === 'call' ? call.tools.get(name) : undefined;
  return {
    index,
    kind,
    name,
    hash: hashOf(request),
    ...(spec !== undefined && { definition: definitionHash(spec) }),
    isRepeatable: kind === 'search' || (spec !== undefined && mayBeRepeated(spec)),
    ...(approvalId !== undefined && { approvalId }),
  };
}

function hashOf({ name, input }: InnerRequest): string {
  return hash('sha256', JSON.stringify([name, input]));
}

function wordOf({ kind, name }: Pick<InnerRequest, 'kind' | 'name'>): string {
  return kind === 'search' ? `a search for "${name}"` : `"${name}"`;
}
