/** One name stands for a list of one. */
export function listOf<T extends string>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

/** `*` stands for any characters, `?` for one; the whole text must match. Linear in the text. */
export function compileGlob(glob: string): (text: string) => boolean {
  if (!/[*?]/.test(glob)) return (text) => text === glob;
  return (text) => matchesGlob(glob, text);
}

// The greedy two-pointer walk: on a mismatch only the last star takes one character more, so nothing explodes.
function matchesGlob(glob: string, text: string): boolean {
  let g = 0;
  let star = -1;
  let resume = 0;
  for (let t = 0; t < text.length; ) {
    if (glob[g] === '*') {
      star = g++;
      resume = t;
    } else if (glob[g] === '?' || glob[g] === text[t]) {
      g++;
      t++;
    } else if (star >= 0) {
      g = star + 1;
      t = ++resume;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}
