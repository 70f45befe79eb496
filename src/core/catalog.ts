import { isSameTool, type ToolSpec } from './tool-spec.ts';

/** The immutable list of specs of one moment, names resolved. */
export interface Catalog {
  readonly specs: readonly ToolSpec[];
  get(name: string): ToolSpec | undefined;
  /** Specs whose name belonged to another already. */
  readonly held: readonly HeldBack[];
}

/** A spec that lost its name to an earlier one. */
export interface HeldBack {
  readonly name: string;
  readonly owner: string;
  readonly heldBack: string;
  readonly message: string;
}

/** What one source lists. */
export interface SourceList {
  readonly source: string;
  readonly specs: readonly ToolSpec[];
}

/** One catalog of many lists. The first list in configuration order owns a name, whoever arrived first. */
export function resolve(lists: readonly SourceList[]): Catalog {
  const byName = new Map<string, ToolSpec>();
  const held: HeldBack[] = [];
  for (const { source, specs } of lists) {
    for (const spec of specs) {
      const owner = byName.get(spec.name);
      if (owner === undefined) byName.set(spec.name, spec);
      else held.push(holdBack(spec.name, owner.source, source));
    }
  }
  const specs = Object.freeze([...byName.values()]);
  return Object.freeze({ specs, held: Object.freeze(held), get: (name: string) => byName.get(name) });
}

/** Who claims a name that is taken, and what to do. */
export function clashWords({ name, owner, heldBack }: Omit<HeldBack, 'message'>): string {
  if (owner === heldBack) return `"${name}" stands twice in ${owner}; rename one of them.`;
  return `"${name}" comes from both ${owner} and ${heldBack}; prefix one of them.`;
}

function holdBack(name: string, owner: string, source: string): HeldBack {
  const message =
    owner === source
      ? `"${name}" stands twice in ${source}; the second is held back.`
      : `"${name}" comes from both ${owner} and ${source}; the one of ${source} is held back. Prefix one of them.`;
  return Object.freeze({ name, owner, heldBack: source, message });
}

/** Names that came, went, or now mean something else. */
export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** What differs from `before` to `after`. */
export function compareCatalogs(before: Catalog, after: Catalog): Changes {
  const names = (specs: readonly ToolSpec[]) => specs.map((spec) => spec.name);
  const isChanged = (spec: ToolSpec) => {
    const old = before.get(spec.name);
    return old !== undefined && !isSameTool(old, spec);
  };
  return {
    added: names(after.specs.filter((spec) => before.get(spec.name) === undefined)),
    removed: names(before.specs.filter((spec) => after.get(spec.name) === undefined)),
    changed: names(after.specs.filter(isChanged)),
  };
}
