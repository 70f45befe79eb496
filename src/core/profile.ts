import type { Policy, Rule } from './policy.ts';
import type { Selector } from './selector.ts';

/** What one kind of caller may use. */
export interface Profile {
  readonly name: string;
  /** Absent = all, `[]` = none. */
  readonly include?: readonly Selector[];
  readonly exclude?: readonly Selector[];
  /** Bundles that are always active. */
  readonly essential?: readonly string[];
  /** Bundles active at first: absent = every bundle in view, `[]` = the essential ones only. */
  readonly active?: readonly string[];
  /** How doors show the tools. */
  readonly expose?: 'all' | 'search' | 'script';
  /** Tools that ask first, besides what their own policy demands. */
  readonly approve?: readonly Selector[];
  readonly policy?: Policy;
  /** Conditions over the arguments of the tools they select. */
  readonly rules?: readonly ProfileRule[];
  /** Reaches tools as `call.settings`. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** A rule and the tools it holds for. */
export interface ProfileRule extends Omit<Rule, 'of'> {
  readonly tools: readonly Selector[];
}
