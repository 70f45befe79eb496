import type { Crib } from '../../../crib/crib.ts';
import { note, paint, toLine } from './output.ts';

/** Tells the person who starts a server what cannot run here, what runs without a sandbox, and why the store cannot be used. */
export async function noteReview(crib: Crib): Promise<void> {
  const { problems, notes } = await crib.review();
  const problem = (await crib.store?.status())?.problem; // opening it announces the place of the store
  if (problem !== undefined) note(`${paint('yellow', 'warning:', process.stderr)} ${toLine(problem)}`);
  for (const sentence of [...problems, ...notes]) note(toLine(sentence));
}
