import { describe, readOptions } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';
import { readNeed } from '../core/tool-spec.ts';

type Named = Readonly<Record<string, unknown>>;

/** The services of a crib. Tools get the same objects by name. */
export interface Services {
  /** All current services. */
  all(): Named;
  /** Only the services that `needs` names. */
  chosen(needs: readonly string[] | undefined): Named;
  /** A service that `needs` names and that is not among these names. */
  missingIn(names: readonly string[], needs: readonly string[] | undefined): string | undefined;
  replace(given: Named | undefined): void;
}

const NONE: Named = Object.freeze(Object.create(null));

export function createServices(given: Named | undefined): Services {
  let all = readServices(given);
  let byNeeds = new WeakMap<readonly string[], Named>();
  return {
    all: () => all,
    chosen(needs) {
      if (needs === undefined) return NONE;
      const known = byNeeds.get(needs);
      if (known !== undefined) return known;
      const names = needs.map((need) => readNeed(need)).filter(({ name, isSetting }) => !isSetting && name in all);
      const chosen = withoutPrototype(Object.fromEntries(names.map(({ name }) => [name, all[name]])));
      byNeeds.set(needs, chosen);
      return chosen;
    },
    missingIn: (names, needs = []) =>
      needs
        .map((need) => readNeed(need))
        .find(({ name, isSetting }) => !isSetting && name in all && !names.includes(name))?.name,
    replace(next) {
      all = readServices(next);
      byNeeds = new WeakMap();
    },
  };
}

function readServices(given: Named | undefined): Named {
  if (given === undefined) return NONE;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new ToolcribError(
      'invalid_option',
      `The option "services" of createCrib must be an object, got ${describe(given)}.`,
    );
  }
  return withoutPrototype(readOptions<Named>(given, Object.keys(given), 'services'));
}

// Without a prototype, a tool that needs "constructor" gets nothing.
function withoutPrototype(named: Named): Named {
  return Object.freeze(Object.assign(Object.create(null), named));
}
