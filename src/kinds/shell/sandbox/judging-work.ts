import type { JsonObject } from '../../../core/json.ts';
import { UnfitArgument } from '../fill-command.ts';

/** Counts what judging the arguments of one call costs, in names that are looked at; throws where it is too much. */
export type SpendWork = (names: number) => void;

/** So many names are looked at for one call: a fraction of a second. */
const MOST_NAMES = 40_000;

/** Bounds the work of one call, since judging holds up all other calls. */
export function createWork(given: JsonObject): SpendWork {
  let spent = 0;
  return (names) => {
    spent += names;
    if (spent <= MOST_NAMES) return;
    const sizes = Object.entries(given).map(([name, value]) => [name, JSON.stringify(value).length] as const);
    const [longest = ''] = sizes.toSorted(([, one], [, other]) => other - one)[0] ?? [];
    throw new UnfitArgument(longest, 'names more folders and paths than can be judged in one call; give fewer');
  };
}
