/** The same members, where those that may be undefined may be absent. */
type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** The object without the members that are undefined, in the order in which they are written. */
export function defined<T extends object>(members: T): Defined<T> {
  const kept = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Defined<T>; // only what may be absent was taken out
}

/** The members of these names, without those that are undefined. */
export function pickDefined<T extends object, Key extends keyof T>(
  from: T,
  keys: readonly Key[],
): Defined<Pick<T, Key>> {
  return defined(Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, Key>); // it has these keys
}
