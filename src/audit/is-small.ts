/** Characters and members together. */
const SMALL = 2000;

/** True if the data takes little room; looks no further than it must. */
export function isSmall(value: unknown): boolean {
  return roomLeft(value, SMALL) >= 0;
}

function roomLeft(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null || room < 0) return room - 1;
  let left = room - 1;
  for (const key in value) {
    left = roomLeft((value as Record<string, unknown>)[key], left - key.length); // an enumerable key
    if (left < 0) return left;
  }
  return left;
}
