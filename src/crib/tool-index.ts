import type { Catalog } from '../core/catalog.ts';
import type { Retriever } from '../core/retriever.ts';

/** Ranks over the catalog of the moment; the index follows it when somebody searches, by what changed. */
export function createToolIndex(retriever: Retriever, catalog: () => Catalog): Retriever['rank'] {
  let indexed: Catalog | undefined;
  return (query, options) => {
    const current = catalog();
    if (indexed !== current) {
      const before = indexed;
      retriever.remove(
        (before?.specs ?? []).filter((spec) => current.get(spec.name) !== spec).map((spec) => spec.name),
      );
      retriever.add(current.specs.filter((spec) => before?.get(spec.name) !== spec));
      indexed = current;
    }
    return retriever.rank(query, options);
  };
}
