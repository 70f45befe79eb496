import { grown } from '../byte-sections.ts';

/** Many growing lists of 32-bit numbers in one buffer: without an object per list, and ready to be stored. */
export interface PackedLists {
  /** All lists; a list occupies `data[start(list)]` up to `data[start(list) + length(list)]`. */
  readonly data: Uint32Array;
  start(list: number): number;
  length(list: number): number;
  /** Extends a list by this many entries; returns the index in `data` at which to write them. */
  extend(list: number, count: number): number;
  push(list: number, value: number): void;
  /** Removes an entry of a list; the last entry takes its place. */
  drop(list: number, place: number): void;
  clear(list: number): void;
  /** The lists without gaps, for a snapshot. */
  compact(count: number): KeptLists;
}

/** Consecutive lists. Their starts follow from their lengths, but are stored, so that a start need not sum up thousands. */
export interface KeptLists {
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
  readonly values: Uint32Array;
}

const SMALLEST = 4;
const NONE = new Uint32Array();

/** Creates empty lists, or those of a snapshot. */
export function createPackedLists(kept?: KeptLists): PackedLists {
  let data = kept === undefined ? new Uint32Array(1024) : kept.values;
  let used = kept === undefined ? 0 : kept.values.length;
  // The bytes of a snapshot may be shared, so they are copied before the first change.
  let isOwn = kept === undefined;
  const size = Math.max(256, kept?.lengths.length ?? 0);
  let starts = grown(kept?.starts ?? NONE, size);
  let lengths = grown(kept?.lengths ?? NONE, size);
  let rooms = grown(lengths, size);

  function copyData(): void {
    data = data.slice();
    isOwn = true;
  }

  function makeRoom(list: number, count: number): void {
    if (list >= starts.length) {
      const larger = Math.max(list + 1, starts.length * 2);
      starts = grown(starts, larger);
      lengths = grown(lengths, larger);
      rooms = grown(rooms, larger);
    }
    const length = lengths[list] ?? 0;
    if (length + count <= (rooms[list] ?? 0)) return;
    // An extension by several entries has its final size; single entries are likely to be followed by more.
    const room = count > 1 ? length + count : Math.max(SMALLEST, length * 2);
    if (used + room > data.length) pack(used + room);
    // Packing may have made room, but moving the list to the end is correct in any case.
    const start = starts[list] ?? 0;
    data.copyWithin(used, start, start + length);
    starts[list] = used;
    rooms[list] = room;
    used += room;
  }

  function extend(list: number, count: number): number {
    makeRoom(list, count);
    if (!isOwn) copyData();
    const length = lengths[list] as number; // allocated above
    lengths[list] = length + count;
    return (starts[list] as number) + length; // as above
  }

  /** Closes the gaps that moved lists left, and allocates a larger buffer. */
  function pack(wanted: number): void {
    let live = 0;
    for (let list = 0; list < rooms.length; list += 1) live += rooms[list] ?? 0;
    const next = new Uint32Array(Math.max(1024, Math.ceil((live + wanted - used) * 2)));
    let at = 0;
    for (let list = 0; list < rooms.length; list += 1) {
      const start = starts[list] ?? 0;
      const length = lengths[list] ?? 0;
      // Most lists are short: a view per list would cost more than the copy.
      if (length > 32) next.set(data.subarray(start, start + length), at);
      else for (let place = 0; place < length; place += 1) next[at + place] = data[start + place] ?? 0;
      starts[list] = at;
      at += rooms[list] ?? 0;
    }
    data = next;
    isOwn = true;
    used = at;
  }

  return {
    get data() {
      return data;
    },
    start: (list) => starts[list] ?? 0,
    length: (list) => lengths[list] ?? 0,
    extend,
    push(list, value) {
      const place = extend(list, 1);
      data[place] = value;
    },
    drop(list, place) {
      if (!isOwn) copyData();
      const last = (lengths[list] ?? 0) - 1;
      const start = starts[list] ?? 0;
      data[start + place] = data[start + last] ?? 0;
      lengths[list] = last;
    },
    clear(list) {
      if (list < lengths.length) lengths[list] = 0;
    },
    compact(count) {
      const total = lengths.subarray(0, count).reduce((sum, length) => sum + length, 0);
      const values = new Uint32Array(total);
      const compactStarts = new Uint32Array(count);
      let at = 0;
      for (let list = 0; list < count; list += 1) {
        const start = starts[list] ?? 0;
        compactStarts[list] = at;
        values.set(data.subarray(start, start + (lengths[list] ?? 0)), at);
        at += lengths[list] ?? 0;
      }
      return { starts: compactStarts, lengths: grown(lengths.subarray(0, count), count), values };
    },
  };
}
