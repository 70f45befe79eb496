import { describe, readOptions } from '../core/known-keys.ts';
import { ToolcribError } from '../core/tool-error.ts';

type Named = Readonly<Record<string, unknown>>;

/** The services of a crib, handed to tools by name and identity. */
export interface Services {
  readonly all: Named;
  /** Those that `needs` names, and no others. */
  chosen(needs: readonly string[] | undefined): Named;
}

const NONE: Named = Object.freeze(Object.create(null));

export function createServices(given: Named | undefined): Services {
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw new ToolcribError(
      'invalid_option',
      `The option "services" of createCrib must be an object, got ${describe(given)}.`,
    );
  }
  // Without a prototype: a tool that needs "constructor" does not get one.
  const names = Object.keys(given ?? {});
  const all: Named = Object.freeze(
    Object.assign(Object.create(null), readOptions<Record<string, unknown>>(given ?? {}, names, 'services')),
  );
  const byNeeds = new WeakMap<readonly string[], Named>();
  return {
    all,
    chosen(needs) {
      if (needs === undefined) return NONE;
      const known = byNeeds.get(needs);
      if (known !== undefined) return known;
      const chosen = Object.freeze(
        Object.assign(
          Object.create(null),
          Object.fromEntries(needs.filter((need) => need in all).map((need) => [need, all[need]])),
        ),
      );
      byNeeds.set(needs, chosen);
      return chosen;
    },
  };
}
