import { createCrib } from './create-crib.ts';
import type { Crib } from './crib.ts';

let shared: Promise<Crib> | undefined;

/** The one crib of a script that has no place to keep its own. Programs and tests make theirs with `createCrib`. */
export function defaultCrib(): Promise<Crib> {
  shared ??= createCrib();
  return shared;
}

/** Closes the default crib; the next `defaultCrib()` makes a new one. */
export async function resetDefaultCrib(): Promise<void> {
  const closing = shared;
  shared = undefined;
  await (await closing)?.close();
}
