import { isUncertain } from './sql-engine.ts';

/** How many items one run may take, and what they may weigh. */
interface BatchLimits<Item> {
  readonly maxItems: number;
  readonly maxWeight: number;
  weightOf(item: Item): number;
}

/**
 * Returns a function that runs items in groups: those that come during a run share the next one. Without load an item
 * waits only for the end of the turn. If a group fails, each of its items is run alone, unless the group may have succeeded.
 */
export function inBatches<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  limits: BatchLimits<Item>,
): (item: Item) => Promise<Result> {
  interface Waiting extends PromiseWithResolvers<Result> {
    readonly item: Item;
  }
  const queue: Waiting[] = [];
  let isRunning = false;

  const settle = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const results = await run(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result); // one result for each item
    } catch (cause) {
      if (group.length === 1 || isUncertain(cause)) for (const { reject } of group) reject(cause);
      else for (const one of group) await settle([one]);
    }
  };
  const nextGroup = (): readonly Waiting[] => {
    let size = 0;
    let weight = 0;
    for (const { item } of queue) {
      weight += limits.weightOf(item);
      if (size > 0 && (size >= limits.maxItems || weight > limits.maxWeight)) break;
      size++;
    }
    return queue.splice(0, size);
  };
  const runAll = async (): Promise<void> => {
    while (queue.length > 0) await settle(nextGroup());
    isRunning = false;
  };
  return (item) => {
    const waiting = { item, ...Promise.withResolvers<Result>() };
    queue.push(waiting);
    if (!isRunning) {
      isRunning = true;
      queueMicrotask(() => void runAll());
    }
    return waiting.promise;
  };
}
