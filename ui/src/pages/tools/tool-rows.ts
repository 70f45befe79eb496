import type { Answer } from '../../api/answer.ts';

/** A tool in the list. */
export type ToolRow = Answer<'/api/tools'>['tools'][number];

/** The facets by which the list is narrowed, in their order on the page. */
export const FACETS = ['danger', 'state', 'source', 'kind', 'bundle', 'category', 'tags'] as const;

export type Facet = (typeof FACETS)[number];

/** What is chosen in each facet; tools match if they have one of the values of every facet. */
export type Filters = Readonly<Partial<Record<Facet, readonly string[]>>>;

const VALUES: Readonly<Record<Facet, (row: ToolRow) => readonly string[]>> = {
  danger: ({ danger }) => [danger],
  state: ({ status, stopped }) => (stopped === true ? [status, 'stopped'] : [status]),
  source: ({ source }) => [source],
  kind: ({ kind }) => (kind === undefined ? [] : [kind]),
  bundle: ({ bundles }) => bundles,
  category: ({ category }) => (category === undefined ? [] : [category]),
  tags: ({ tags }) => tags,
};

/** The rows that match the chosen values of every facet. */
export function filterRows(rows: readonly ToolRow[], filters: Filters, except?: Facet): readonly ToolRow[] {
  const tests = FACETS.flatMap((facet) => {
    const wanted = facet === except ? undefined : filters[facet];
    return wanted === undefined ? [] : [{ wanted: new Set(wanted), valuesOf: VALUES[facet] }];
  });
  if (tests.length === 0) return rows;
  return rows.filter((row) => tests.every(({ wanted, valuesOf }) => valuesOf(row).some((value) => wanted.has(value))));
}

export interface FacetCount {
  readonly value: string;
  readonly count: number;
}

/** How many rows each value of a facet would leave, with the other facets as they are. Chosen values are always listed. */
export function countFacet(rows: readonly ToolRow[], filters: Filters, facet: Facet): readonly FacetCount[] {
  const counts = new Map<string, number>((filters[facet] ?? []).map((value) => [value, 0]));
  for (const row of filterRows(rows, filters, facet))
    for (const value of VALUES[facet](row)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

export const SORTS = ['name', 'source', 'tokens', 'calls', 'used'] as const;

export type Sort = (typeof SORTS)[number];

const COMPARE: Readonly<Record<Sort, (a: ToolRow, b: ToolRow) => number>> = {
  name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  source: (a, b) => (a.source < b.source ? -1 : a.source > b.source ? 1 : COMPARE.name(a, b)),
  tokens: (a, b) => b.tokens - a.tokens || COMPARE.name(a, b),
  calls: (a, b) => (b.calls30Days ?? 0) - (a.calls30Days ?? 0) || COMPARE.name(a, b),
  used: (a, b) => (Date.parse(b.lastUsedAt ?? '') || 0) - (Date.parse(a.lastUsedAt ?? '') || 0) || COMPARE.name(a, b),
};

/** The rows in an order: names from A, figures from the largest; backwards on request. */
export function sortRows(rows: readonly ToolRow[], sort: Sort, isBackwards: boolean): readonly ToolRow[] {
  const sorted = rows.toSorted(COMPARE[sort]);
  return isBackwards ? sorted.reverse() : sorted;
}
