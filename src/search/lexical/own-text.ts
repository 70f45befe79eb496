/** A text of its own: a slice would keep all of the text alive that it was cut from. */
export function ownText(slice: string): string {
  return slice.length < 13 ? slice : Buffer.from(slice).toString(); // the engine copies shorter slices itself
}
