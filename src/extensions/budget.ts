import type { ExtensionRecord } from '../config/records.ts';
import { hasBegun } from '../core/begun-runs.ts';
import { FORESEE } from '../core/extension.ts';
import { isPromise } from '../core/json.ts';
import type { Budget } from '../core/policy.ts';
import type { Clock } from '../core/ports/crib-context.ts';
import {
  type BudgetAnswer,
  type BudgetCell,
  mostOf,
  periodEnd,
  type StoredBudgets,
} from '../core/ports/stored-results.ts';
import { subjectOf, type ToolCall } from '../core/tool-call.ts';
import { toolError } from '../core/tool-error.ts';
import { type FailedResult, failed } from '../core/tool-result.ts';

/** Charges the price of a tool to every budget of the call, just before it runs. */
export const budget: ExtensionRecord = {
  name: 'budget',
  priority: 210,
  reason: 'charges only calls that are about to run, once for all attempts',
  make(_options, { clock, store }) {
    const budgets = store?.budgets ?? budgetsInMemory(clock); // in the store, spending is shared and survives a restart
    return {
      applies: ({ policy }) => (policy.price ?? 0) > 0 && (policy.budgets ?? []).length > 0,
      async wrap(call, next) {
        const { price = 0, budgets: held = [] } = call.spec.policy;
        const cells = held.map((one) => cellOf(one, call));
        const refusal = await charged(budgets, cells, price);
        if (refusal !== undefined) return refusal;
        const result = next(call);
        const settled = isPromise(result) ? await result : result;
        // A call that never began is refunded. If the refund fails, too much is charged, never too little.
        if (settled.status === 'failed' && !hasBegun(call)) await budgets.refund(cells, price).catch(() => undefined);
        return settled;
      },
      async [FORESEE](call) {
        const { price = 0, budgets: held = [] } = call.spec.policy;
        const cells = held.map((one) => cellOf(one, call));
        const spent = await budgets.spent(cells);
        const full = cells.find((cell, at) => (spent[at] ?? 0) + price > mostOf(cell));
        if (full !== undefined) {
          const { error } = exceeded(full, price, periodEnd(full.perMs, clock.now()) - clock.now());
          return { verdict: 'refuse', says: error.message, error };
        }
        const rests = held.map(({ scope, amount, perMs }, at) => {
          const left = Number((amount - (spent[at] ?? 0)).toPrecision(12)); // without the rounding errors of sums
          return `${left} of ${amount} left per ${perMs} ms for each ${scope}`;
        });
        const detail = `It costs ${price}, charged when it runs: ${rests.join('; ')}.`;
        return { verdict: 'pass', says: 'The budgets allow the call now.', detail };
      },
    };
  },
};

async function charged(
  budgets: StoredBudgets,
  cells: readonly BudgetCell[],
  price: number,
): Promise<FailedResult | undefined> {
  let answer: BudgetAnswer;
  try {
    answer = await budgets.charge(cells, price);
  } catch (cause) {
    // Any failure: spending that cannot be counted is refused.
    return failed(
      toolError('unavailable', 'The cost of the call could not be recorded, so the tool was not run.', { cause }),
    );
  }
  if (answer.ok) return undefined;
  return exceeded(answer.spent, price, answer.resetsInMs);
}

function exceeded({ amount, perMs }: BudgetCell, price: number, resetsInMs: number): FailedResult {
  const retryAfterMs = Math.ceil(resetsInMs);
  const message = `The call costs ${price}, which exceeds the rest of a budget of ${amount} per ${perMs} ms. The budget is renewed in ${retryAfterMs} ms.`;
  return failed(toolError('rate_limited', message, { retryable: true, retryAfterMs }));
}

function cellOf({ scope, amount, perMs, of }: Budget, call: ToolCall): BudgetCell {
  return { name: JSON.stringify([of ?? '', scope, amount, perMs, subjectOf(scope, call)]), amount, perMs };
}

/** Number of budgets in memory before those with an ended period are removed. */
const MANY_CELLS = 10_000;

function budgetsInMemory(clock: Clock): StoredBudgets {
  const spentBy = new Map<string, { readonly spent: number; readonly endsAt: number }>();
  const spentNow = ({ name }: BudgetCell, now: number): number => {
    const known = spentBy.get(name);
    return known === undefined || known.endsAt <= now ? 0 : known.spent;
  };
  const add = (cell: BudgetCell, price: number, now: number) => {
    spentBy.set(cell.name, { spent: Math.max(0, spentNow(cell, now) + price), endsAt: periodEnd(cell.perMs, now) });
    if (spentBy.size > MANY_CELLS) for (const [name, { endsAt }] of spentBy) if (endsAt <= now) spentBy.delete(name);
  };
  return {
    async charge(cells, price) {
      const now = clock.now();
      const spent = cells.find((cell) => spentNow(cell, now) + price > mostOf(cell));
      if (spent !== undefined) return { ok: false, spent, resetsInMs: periodEnd(spent.perMs, now) - now };
      for (const cell of cells) add(cell, price, now);
      return { ok: true };
    },
    spent: async (cells) => cells.map((cell) => spentNow(cell, clock.now())),
    async refund(cells, price) {
      for (const cell of cells) add(cell, -price, clock.now());
    },
  };
}
