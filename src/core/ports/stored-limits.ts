/** One rate that a call is charged to; all processes that share the store count together. */
interface RateCell {
  readonly name: string;
  readonly amount: number;
  readonly perMs: number;
}

/** Rates that several processes share. */
export interface StoredRates {
  /** Charges one call to every cell and answers 0, or to none and says how many milliseconds to wait. */
  charge(cells: readonly RateCell[]): Promise<number>;
}

/** One budget that a price is taken out of. */
export interface BudgetCell {
  readonly name: string;
  readonly amount: number;
  readonly perMs: number;
}

/** How taking a price out of budgets went; `spent` names the one that does not hold it. */
export type BudgetAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly spent: BudgetCell; readonly resetsInMs: number };

/** What calls have cost in the current period of each budget. */
export interface StoredBudgets {
  /** Takes the price out of every budget, or out of none. */
  charge(cells: readonly BudgetCell[], price: number): Promise<BudgetAnswer>;
  /** Puts back what a call that never began was charged. */
  refund(cells: readonly BudgetCell[], price: number): Promise<void>;
}

/** Periods begin at multiples of their length, the same in every process. */
export function periodEnd(perMs: number, now: number): number {
  return (Math.floor(now / perMs) + 1) * perMs;
}

/** The most that may be spent; what rounding adds up to is not counted. */
export function mostOf({ amount }: BudgetCell): number {
  return amount + Math.max(amount, 1) * 1e-9;
}
