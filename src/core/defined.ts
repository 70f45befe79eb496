/** The same members, where those that may be undefined may be absent. */
type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** The members of these names, or all of them, without those that are undefined; in the order of the names. */
export function defined<T extends object, Key extends keyof T = keyof T>(
  from: T,
  keys: readonly Key[] = Object.keys(from) as Key[], // all where none are named
): Defined<Pick<T, Key>> {
  const kept = keys.map((key) => [key, from[key]] as const).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Defined<Pick<T, Key>>; // only what may be absent was taken out
}
