import type { Checkpoint, StoredAudit } from '../../core/stored-audit.ts';

/** The checkpoints of one chain, in order, a page at a time. */
export interface SealCursor {
  /** Those of row `count`, once all before were taken. */
  take(count: number): Promise<readonly Checkpoint[]>;
  /** All that are left. */
  rest(): Promise<readonly Checkpoint[]>;
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
  const current = async (): Promise<Checkpoint | undefined> => {
    if (next >= page.length && !isLast) {
      page = await audit.checkpoints(chain, from, PAGE);
      next = 0;
      isLast = page.length < PAGE;
      from = page.at(-1)?.count ?? from;
    }
    return page[next];
  };
  return {
    async take(count) {
      const taken = outside.filter((checkpoint) => checkpoint.count === count);
      for (let checkpoint = await current(); checkpoint !== undefined; checkpoint = await current()) {
        if (!(checkpoint.count <= count)) break;
        if (checkpoint.count === count) taken.push(checkpoint);
        next++;
      }
      return taken;
    },
    async rest() {
      const left: Checkpoint[] = [];
      for (let checkpoint = await current(); checkpoint !== undefined; checkpoint = await current()) {
        left.push(checkpoint);
        next++;
      }
      return left;
    },
  };
}
