import type { Bundle } from '../../core/bundle.ts';
import { messageOf } from '../../core/tool-error.ts';

/** The bundles that one source brings besides its home. */
export interface BundleList {
  readonly source: string;
  readonly bundles: readonly Bundle[];
}

export interface AdmitBundlesOptions {
  readonly defined: readonly Bundle[];
  readonly lists: readonly BundleList[];
  /** Throws where bundles do not go together. */
  check(bundles: readonly Bundle[]): void;
  warn(message: string): void;
}

/** The bundles that go with those that were defined. One that does not is left out with a warning; the first of a name keeps it. */
export function acceptBundles({ defined, lists, check, warn }: AdmitBundlesOptions): readonly Bundle[] {
  let admitted = defined;
  let waiting = lists.flatMap(({ source, bundles }) => bundles.map((bundle) => ({ source, bundle, reason: '' })));
  for (let before = Number.POSITIVE_INFINITY; waiting.length < before; ) {
    before = waiting.length;
    // One may extend another that comes after it, so those that do not fit yet are tried again.
    waiting = waiting.flatMap((entry) => {
      try {
        check([...admitted, entry.bundle]);
        admitted = [...admitted, entry.bundle];
        return [];
      } catch (cause) {
        return [{ ...entry, reason: messageOf(cause) }];
      }
    });
  }
  for (const { source, bundle, reason } of waiting) warn(`${source}: Bundle "${bundle?.name}" is left out: ${reason}`);
  return admitted;
}
