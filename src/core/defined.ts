/** The same members, where those that may be undefined may be absent. */
type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** The members of these names, or all of them, without those that are undefined; in the order of the names. */
export function defined<T extends object, Key extends keyof T = keyof T>(
  from: T,
  keys?: readonly Key[],
): Defined<Pick<T, Key>> {
  const named = keys ?? (Object.keys(from) as Key[]); // all of them
  const kept = named.map((key) => [key, from[key]] as const).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as Defined<Pick<T, Key>>; // only what may be absent was taken out
}
