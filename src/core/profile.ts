import type { Policy, Rule } from './policy.ts';
import type { Selector } from './selector.ts';

/** The tools that one sort of caller may use, and how. */
export interface Profile {
  readonly name: string;
  /** Purpose of the profile, for models that may delegate to it. */
  readonly description?: string;
  /** Absent: all tools. `[]`: none. */
  readonly include?: readonly Selector[];
  readonly exclude?: readonly Selector[];
  /** Bundles that are always active. */
  readonly essential?: readonly string[];
  /** Bundles that are active at first. Absent: every bundle in view. `[]`: only the essential ones. */
  readonly active?: readonly string[];
  /** The way doors list the tools. */
  readonly expose?: 'all' | 'search' | 'script';
  readonly search?: SearchPreferences;
  /** Tools that require approval, besides those whose own policy does. */
  readonly approve?: readonly Selector[];
  readonly policy?: Policy;
  /** Conditions over the arguments of the tools they select. */
  readonly rules?: readonly ProfileRule[];
  /** Available to tools as `call.settings`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Profiles that calls under this one may open: after approval, or always. */
  readonly delegate?: Readonly<Record<string, 'ask' | 'open'>>;
}

/** The order of search hits that the operator wants. It never decides which tools are found. */
export interface SearchPreferences {
  /** First among the hits, after exact matches. */
  readonly pin?: readonly Selector[];
  readonly boost?: readonly Selector[];
  readonly bury?: readonly Selector[];
}

/** A rule and the tools it holds for. */
export interface ProfileRule extends Omit<Rule, 'of'> {
  readonly tools: readonly Selector[];
}
