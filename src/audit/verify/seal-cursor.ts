import type { Checkpoint, StoredAudit } from '../../core/ports/stored-audit.ts';
import { createTurns, SIGNATURES_PER_TURN } from '../event-loop-turns.ts';

/** The checkpoints of one chain, in order, a page at a time. The event loop turns after a few of them: each is a signature to check. */
export interface SealCursor {
  /** False where `take` of this row would find nothing. */
  has(count: number): boolean;
  /** Those of row `count`, once all before were taken. */
  take(count: number): Promise<readonly Checkpoint[]>;
  /** All that are left. */
  rest(): AsyncIterable<Checkpoint>;
}

const PAGE = 1000;

/** Those inside the database from the one after row `after`, and those outside. */
export function createSealCursor(
  audit: StoredAudit,
  chain: string,
  { after, outside }: { readonly after: number; readonly outside: readonly Checkpoint[] },
): SealCursor {
  let page: readonly Checkpoint[] = [];
  let next = 0;
  let from = after;
  let isLast = false;
  const turn = createTurns(SIGNATURES_PER_TURN);
  const current = async (): Promise<Checkpoint | undefined> => {
    if (next >= page.length && !isLast) {
      page = await audit.checkpoints(chain, from, PAGE);
      next = 0;
      isLast = page.length < PAGE;
      from = page.at(-1)?.count ?? from;
    }
    return page[next];
  };
  const pass = async (): Promise<void> => {
    next++;
    await turn();
  };
  return {
    has(count) {
      const first = page[next];
      const isAfter = first === undefined ? isLast : first.count > count;
      return !isAfter || outside.some((checkpoint) => checkpoint.count === count);
    },
    async take(count) {
      const taken = outside.filter((checkpoint) => checkpoint.count === count);
      for (let checkpoint = await current(); checkpoint !== undefined; checkpoint = await current()) {
        if (!(checkpoint.count <= count)) break;
        if (checkpoint.count === count) taken.push(checkpoint);
        await pass();
      }
      return taken;
    },
    async *rest() {
      for (let checkpoint = await current(); checkpoint !== undefined; checkpoint = await current()) {
        yield checkpoint;
        await pass();
      }
    },
  };
}
