import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import type { ToolResult } from '../../src/index.ts';
import { type Office, OPERATOR, openOffice } from './payments.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Which of the approvals seen so far, from the newest on. */
const which = fc.nat(4);
const call = fc.record({
  caller: fc.constantFrom('alice', 'bob'),
  amount: fc.constantFrom(1, 2),
  approval: fc.option(which, { nil: undefined }),
  times: fc.constantFrom(1, 3),
});
const answer = fc.record({ approval: which, isYes: fc.constantFrom(true, true, false), times: fc.constantFrom(1, 2) });
const wait = fc.record({ minutes: fc.constantFrom(1, 6, -1, -30) });
const step = fc.oneof({ arbitrary: call, weight: 8 }, { arbitrary: answer, weight: 5 }, { arbitrary: wait, weight: 1 });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Everything that happened in one sequence. Callers of different sequences have different names. */
class Sequence {
  readonly #office: Office;
  readonly #suffix: string;
  readonly #ids = new Set<string>();
  /** By caller and amount: how often it ran, and how often it was approved. */
  readonly runs = new Map<string, number>();
  readonly yes = new Map<string, number>();

  constructor(office: Office, suffix: string) {
    this.#office = office;
    this.#suffix = suffix;
  }

  async play(one: Step): Promise<void> {
    if ('minutes' in one) vi.setSystemTime(Date.now() + one.minutes * 60_000);
    else if ('amount' in one) await Promise.all(repeat(one.times, () => this.#call(one)));
    else await Promise.all(repeat(one.times, () => this.#answer(one)));
  }

  async #call({ caller, amount, approval }: Extract<Step, { amount: number }>): Promise<void> {
    const approvalId = approval === undefined ? undefined : this.#idAt(approval);
    const as = { id: `${caller}${this.#suffix}` };
    const result: ToolResult = await this.#office.pay(amount, { as, ...(approvalId !== undefined && { approvalId }) });
    if (result.status === 'waiting') this.#ids.add(result.waiting.id);
    if (result.ok) count(this.runs, `${as.id} ${amount}`);
  }

  async #answer({ approval, isYes }: Extract<Step, { isYes: boolean }>): Promise<void> {
    const id = this.#idAt(approval);
    if (id === undefined) return;
    const decision = isYes ? 'approve' : 'deny';
    const answered = await this.#office.crib.approvals.answer(id, { decision }, OPERATOR);
    if (answered.ok && isYes)
      count(this.yes, `${answered.approval.caller.id} ${String(answered.approval.arguments.amount)}`);
  }

  #idAt(index: number): string | undefined {
    return [...this.#ids].at(-1 - (index % this.#ids.size));
  }
}

function repeat<T>(times: number, work: () => T): readonly T[] {
  return Array.from({ length: times }, work);
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

it('no sequence of answers, claims and resends runs a tool more often than approvals were given', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const office = await openOffice();
  let sequences = 0;
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const sequence = new Sequence(office, ` ${sequences++}`);
      for (const one of steps) await sequence.play(one);
      for (const [what, times] of sequence.runs) expect(times).toBeLessThanOrEqual(sequence.yes.get(what) ?? 0);
      runs += [...sequence.runs.values()].reduce((total, times) => total + times, 0);
    }),
    { numRuns: 200 },
  );
  expect(runs).toBeGreaterThan(20); // else nothing was tried
  expect(office.paid).toHaveLength(runs);
});
