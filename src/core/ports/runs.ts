/** What other rooms must know of the tools of a kind. A kind that says nothing fails with its source and reaches out of this process. */
export interface KindTraits {
  /** Fields of a run that are paths, `sandbox.read` for one inside another; relative ones start from the folder of the file that names them. */
  readonly pathFields?: readonly string[];
  /** The module of a run is found from the folder of its file: always, or where it is a name and not a path. */
  readonly findsModules?: 'always' | 'byName';
  /** True if it runs code of the owner; the others reach out to something else. */
  readonly runsOwnCode?: boolean;
  /** What is down where calls fail: its source with all tools, if absent, the tool alone, or nothing that could be. */
  readonly failsWith?: 'source' | 'tool' | 'nothing';
  /** What a trace says of each of its calls. */
  readonly spanAttributes?: Readonly<Record<string, string>>;
}

/** The traits of a kind; those of a kind that says nothing where nobody describes it. */
export type TraitsOf = (kind: string) => KindTraits;

/** What a text with `${` in how a tool runs becomes, or what is wrong with it. `${secret:NAME}` stays for the moment of use, and `$${` for a plain `${`. */
export type ReadRunText = (text: string) => { readonly text: string } | { readonly mistakes: readonly string[] };
