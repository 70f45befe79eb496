import type { Crib } from '../../crib/crib.ts';
import { note, toLine } from './output.ts';

/** Tells what cannot run here, and what runs without a sandbox, to the person who starts a server. */
export async function noteReview(crib: Crib): Promise<void> {
  const { problems, notes } = await crib.review();
  for (const sentence of [...problems, ...notes]) note(toLine(sentence));
}
