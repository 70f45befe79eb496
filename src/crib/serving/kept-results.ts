import type { Caller } from '../../core/caller.ts';
import type { KeptResult, StoredResults } from '../../core/ports/stored-results.ts';

/** A large result as it was kept. */
export type ShownResult = Omit<KeptResult, 'owner'>;

/** The kept result of this id, for its owner or an operator. Somebody else's is answered like one that never was. */
export async function readKeptResult(
  results: StoredResults | undefined,
  id: string,
  by: Caller,
): Promise<ShownResult | undefined> {
  const found = /^[\w-]{1,100}$/.test(id) ? await results?.get(id) : undefined;
  if (found === undefined || !(by.operator === true || found.owner === (by.id ?? ''))) return undefined;
  const { owner: _owner, ...shown } = found;
  return shown;
}
