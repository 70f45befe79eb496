/** Where a page ended, as text that means nothing to others. */
export function toCursor(name: string, index: number): string {
  return Buffer.from(JSON.stringify([name, index])).toString('base64url');
}

/** What comes after that: after the entry of that name, or where it stood if it is gone. What is no cursor begins anew. */
export function afterCursor<T extends { readonly name: string }>(
  items: readonly T[],
  cursor: string | undefined,
): readonly T[] {
  const place: unknown = cursor === undefined ? undefined : readCursor(cursor);
  if (!Array.isArray(place)) return items;
  const [name, index] = place;
  const at = items.findIndex((item) => item.name === name);
  if (at >= 0) return items.slice(at + 1);
  return Number.isSafeInteger(index) && index >= 0 ? items.slice(index) : items;
}

/** The JSON in a cursor; undefined if there is none. */
export function readCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}
