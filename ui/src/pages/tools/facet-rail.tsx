import { useMemo, useState } from 'react';
import { Icon } from '../../parts/icons.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import classes from './facet-rail.module.css';
import { countFacet, FACETS, type Facet, type FacetCount, type Filters, type ToolRow } from './tool-rows.ts';
import toolsClasses from './tools.module.css';

const TITLES: Readonly<Record<Facet, string>> = {
  danger: 'Effect',
  state: 'State',
  source: 'Source',
  kind: 'Kind',
  bundle: 'Bundle',
  category: 'Category',
  tags: 'Tags',
};

const DANGER_WORDS: Readonly<Record<string, string>> = { read: 'reads', write: 'writes', unknown: 'unknown effects' };
const FEW = 8;

interface FacetRailProps {
  /** Absent while they are loading. */
  readonly rows: readonly ToolRow[] | undefined;
  /** Those that a search found. Absent without a search. */
  readonly found: readonly ToolRow[] | undefined;
  readonly filters: Filters;
  onFilters(filters: Filters): void;
}

/** The facets with their counts. Values of one facet widen, several facets narrow. A search changes the counts alone. */
export function FacetRail({ rows, found, filters, onFilters }: FacetRailProps) {
  const counts = useMemo(() => countFacets(rows ?? [], filters), [rows, filters]);
  const shown = useMemo(
    () => (found === undefined ? counts : recount(counts, found, filters)),
    [counts, found, filters],
  );
  const [isOpen, setOpen] = useState(false);
  const isNarrowed = Object.keys(filters).length > 0;
  if (rows === undefined) return <div className={classes.place} />; // keeps the place of the filters
  if (!isNarrowed && counts.every(([, values]) => values.length < 2)) return null;
  return (
    <>
      <FoldButton filters={filters} isOpen={isOpen} onOpen={setOpen} />
      <aside className={classes.rail} aria-label="Filters" data-open={isOpen}>
        {shown.map(([facet, values]) =>
          values.length < 2 && filters[facet] === undefined ? null : (
            <FacetGroup
              key={facet}
              facet={facet}
              values={values}
              chosen={filters[facet] ?? []}
              onChosen={(chosen) => onFilters(withFacet(filters, facet, chosen))}
            />
          ),
        )}
        {isNarrowed && (
          <button type="button" className={toolsClasses.inline} onClick={() => onFilters({})}>
            Clear the filters
          </button>
        )}
      </aside>
    </>
  );
}

interface FoldButtonProps {
  readonly filters: Filters;
  readonly isOpen: boolean;
  onOpen(isOpen: boolean): void;
}

/** Opens the filters where they have no room beside the list; says what is chosen while they are folded. */
function FoldButton({ filters, isOpen, onOpen }: FoldButtonProps) {
  const chosen = FACETS.flatMap((facet) => (filters[facet] ?? []).map((value) => wordOf(facet, value)));
  return (
    <button type="button" className={classes.fold} aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
      <Icon name="filter" size={14} />
      Filters
      <span className={classes.word}>
        <VisibleText text={chosen.join(', ')} limit={200} />
      </span>
      <Icon name={isOpen ? 'up' : 'down'} size={12} />
    </button>
  );
}

function wordOf(facet: Facet, value: string): string {
  return facet === 'danger' ? (DANGER_WORDS[value] ?? value) : value;
}

type Counts = readonly (readonly [Facet, readonly FacetCount[]])[];

function countFacets(rows: readonly ToolRow[], filters: Filters): Counts {
  return FACETS.map((facet) => [facet, countFacet(rows, filters, facet)] as const);
}

/** The same values in the same order, counted in other rows. */
function recount(counts: Counts, rows: readonly ToolRow[], filters: Filters): Counts {
  return counts.map(([facet, values]) => {
    const others = new Map(countFacet(rows, filters, facet).map(({ value, count }) => [value, count]));
    return [facet, values.map(({ value }) => ({ value, count: others.get(value) ?? 0 }))] as const;
  });
}

function withFacet(filters: Filters, facet: Facet, chosen: readonly string[]): Filters {
  const { [facet]: _, ...rest } = filters;
  return chosen.length === 0 ? rest : { ...rest, [facet]: chosen };
}

interface FacetGroupProps {
  readonly facet: Facet;
  readonly values: readonly FacetCount[];
  readonly chosen: readonly string[];
  onChosen(chosen: readonly string[]): void;
}

function FacetGroup({ facet, values, chosen, onChosen }: FacetGroupProps) {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? values.slice(0, 200) : values.slice(0, FEW);
  return (
    <fieldset className={classes.facet}>
      <legend>{TITLES[facet]}</legend>
      {shown.map(({ value, count }) => {
        const isChosen = chosen.includes(value);
        return (
          <label key={value} className={classes.value} data-chosen={isChosen}>
            <input
              type="checkbox"
              checked={isChosen}
              onChange={() => onChosen(isChosen ? chosen.filter((one) => one !== value) : [...chosen, value])}
            />
            <span className={classes.word}>
              <VisibleText text={wordOf(facet, value)} limit={60} />
            </span>
            <span className={classes.count}>{count.toLocaleString('en')}</span>
          </label>
        );
      })}
      {values.length > FEW && (
        <button type="button" className={toolsClasses.inline} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer' : `${values.length - FEW} more`}
        </button>
      )}
    </fieldset>
  );
}
