import type { Policy } from './policy.ts';
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
  /** Reaches tools as `call.settings`. */
  readonly settings?: Readonly<Record<string, unknown>>;
}
