/** The wall clock of a time zone. A wall time is written as the milliseconds since 1970 that UTC would have at it. */
export interface WallClock {
  /** The wall time at an instant. */
  wallAt(instant: number): number;
  /**
   * The instants with this wall time: one; two if the clock is set back over it; none if the clock is set forward over it.
   */
  instantsOf(wall: number): readonly number[];
  /** The first instant that has this wall time, or the end of the gap that this wall time is in. */
  instantOf(wall: number): number;
}

/** No two changes of a time zone are so close to each other. */
const DAY_MS = 86_400_000;
const SECOND_MS = 1000;

/** True if this machine knows the time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return /^[A-Za-z]/.test(name); // an offset such as +02:00 has no summer time: probably a mistake
  } catch {
    return false;
  }
}

/** The wall clock of a time zone. Throws for an unknown one. */
export function createWallClock(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const wallAt = (instant: number): number => {
    const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const milliseconds = ((instant % SECOND_MS) + SECOND_MS) % SECOND_MS;
    return Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  };
  const offsetAt = (instant: number): number => wallAt(instant) - instant;
  const instantsOf = (wall: number): readonly number[] => {
    const offsets = new Set([offsetAt(wall - DAY_MS), offsetAt(wall + DAY_MS)]);
    const instants = [...offsets].map((offset) => wall - offset).filter((instant) => wallAt(instant) === wall);
    return instants.sort((a, b) => a - b);
  };
  /** The instant at which the clock is set forward over a wall time. */
  const endOfGap = (wall: number): number => {
    let before = wall - offsetAt(wall + DAY_MS);
    let after = wall - offsetAt(wall - DAY_MS);
    const old = offsetAt(before);
    while (after - before > SECOND_MS) {
      const middle = Math.floor((before + after) / 2 / SECOND_MS) * SECOND_MS;
      if (offsetAt(middle) === old) before = middle;
      else after = middle;
    }
    return after;
  };
  return { wallAt, instantsOf, instantOf: (wall) => instantsOf(wall)[0] ?? endOfGap(wall) };
}
