import { useEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { CouldNotLoad } from '../../parts/could-not-load.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { VirtualRows } from '../../parts/virtual-rows.tsx';
import { VisibleText } from '../../parts/visible-text.tsx';
import { FacetRail } from './facet-rail.tsx';
import { ListHead, type ListHeadProps } from './list-head.tsx';
import { HIT_HEIGHT, type ListItem, ListRow, ROW_HEIGHT } from './list-rows.tsx';
import { Confidence, NothingHere, SearchField } from './search-parts.tsx';
import { FACETS, type Filters, filterRows, SORTS, type Sort, sortRows, type ToolRow } from './tool-rows.ts';
import classes from './tools.module.css';
import { useListKeys } from './use-list-keys.ts';
import { type SearchAnswer, useSearch, useTools, useTrouble } from './use-tools.ts';

/** Every tool of the crib, whatever profiles hide, or the tools of one profile: searched by meaning, narrowed by facets. */
export function ToolsPage() {
  const { words, setWords, filters, setFilters, profile, showAll, sort, isBackwards, setSort } = useAddress();
  const { rows, total, error, refetch } = useTools(profile);
  const search = useSearch(words, profile);
  const trouble = useTrouble();
  const answer = words.trim() === '' ? undefined : search.answer;
  const items = useMemo(
    () => toItems(rows ?? [], { isPart: (rows?.length ?? 0) < total, answer, filters, sort, isBackwards, trouble }),
    [rows, total, answer, filters, sort, isBackwards, trouble],
  );
  const found = useMemo(() => rowsOf(rows ?? [], answer), [rows, answer]);
  const [, navigate] = useLocation();
  const field = useRef<HTMLInputElement>(null);
  const { chosen, onFieldKey } = useListKeys(items, field, (item) => navigate(addressOf(item)));
  // The list appears when all that stands above and in it is known, so that nothing moves.
  const [isAsked] = useState(words.trim() !== '');
  const isSearching = isAsked && words.trim() !== '' && answer === undefined && search.error === null;
  const shown = isSearching || trouble.isLoading ? undefined : rows;
  return (
    <>
      <PageHeader title="Tools" detail={profile === undefined ? undefined : `profile ${profile}`}>
        {rows !== undefined && <Totals rows={rows} total={total} />}
      </PageHeader>
      <SearchField ref={field} words={words} onWords={setWords} onKeyDown={onFieldKey} />
      <div className={classes.page}>
        <FacetRail rows={rows} found={found} filters={filters} onFilters={setFilters} />
        <div className={classes.main} data-words={answer?.words}>
          {shown !== undefined && answer !== undefined && <Confidence answer={answer} found={items.length} />}
          {search.error !== null && words !== '' && (
            <p className={classes.note} role="alert">
              The search failed: <VisibleText text={search.error.message} />
            </p>
          )}
          {rows === undefined && error !== null && (
            <CouldNotLoad what="The tools" message={error.message} onRetry={() => void refetch()} />
          )}
          {shown === undefined && error === null && <div className={classes.skeleton} aria-hidden="true" />}
          {shown !== undefined && items.length === 0 && (
            <NothingHere
              narrowedBy={
                shown.length === 0 && profile === undefined ? undefined : answer === undefined ? 'filters' : 'words'
              }
              onClear={showAll}
            />
          )}
          {shown !== undefined && items.length > 0 && (
            <ToolList
              items={items}
              chosen={chosen}
              head={{ isSearch: answer !== undefined, hasUse: hasUse(shown), sort, isBackwards, onSort: setSort }}
            />
          )}
        </div>
      </div>
    </>
  );
}

/** The rows of the tools that a search found. */
function rowsOf(rows: readonly ToolRow[], answer: SearchAnswer | undefined): readonly ToolRow[] | undefined {
  if (answer === undefined) return undefined;
  const names = new Set(answer.results.map(({ name }) => name));
  return rows.filter(({ name }) => names.has(name));
}

/** True if the rows say how much tools are used, which is for operators. */
const hasUse = (rows: readonly ToolRow[]) => rows.some(({ calls30Days }) => calls30Days !== undefined);

interface ToolListProps {
  readonly items: readonly ListItem[];
  readonly chosen: number | undefined;
  readonly head: ListHeadProps;
}

function ToolList({ items, chosen, head }: ToolListProps) {
  return (
    <VirtualRows
      count={items.length}
      rowHeight={head.isSearch ? HIT_HEIGHT : ROW_HEIGHT}
      chosen={chosen}
      label="Tools"
      head={<ListHead {...head} />}
      row={(index) => {
        const item = items[index];
        return item === undefined ? null : (
          <ListRow key={keyOf(item)} item={item} index={index} isChosen={index === chosen} />
        );
      }}
    />
  );
}

/** What the address holds: words, facets and order. */
function useAddress() {
  const [query, setQuery] = useSearchParams();
  const inAddress = query.get('q') ?? '';
  const [words, setShownWords] = useState(inAddress);
  const written = useRef(inAddress);
  useEffect(() => {
    // Another address was opened: by the navigation, or on the way back.
    if (inAddress === written.current) return;
    written.current = inAddress;
    setShownWords(inAddress);
  }, [inAddress]);
  const filters = useMemo<Filters>(() => {
    const entries = FACETS.flatMap((facet) => (query.has(facet) ? [[facet, query.getAll(facet)] as const] : []));
    return Object.fromEntries(entries);
  }, [query]);
  const sort: Sort = SORTS.find((one) => one === query.get('sort')) ?? 'name';
  const change = (edit: (next: URLSearchParams) => void) =>
    setQuery(
      (before) => {
        const next = new URLSearchParams(before);
        edit(next);
        return next;
      },
      { replace: true },
    );
  const isBackwards = query.get('order') === 'backwards';
  return {
    words,
    filters,
    profile: query.get('profile') ?? undefined,
    sort,
    isBackwards,
    setWords(next: string) {
      setShownWords(next);
      written.current = next.trim() === '' ? '' : next;
      change((address) => (written.current === '' ? address.delete('q') : address.set('q', next)));
    },
    setFilters: (next: Filters) =>
      change((address) => {
        for (const facet of FACETS) {
          address.delete(facet);
          for (const value of next[facet] ?? []) address.append(facet, value);
        }
      }),
    showAll() {
      setShownWords('');
      written.current = '';
      change((address) => {
        for (const name of ['q', 'profile', ...FACETS]) address.delete(name);
      });
    },
    setSort: (next: Sort) =>
      change((address) => {
        const isAgain = next === sort && !isBackwards;
        address.set('sort', next);
        if (isAgain) address.set('order', 'backwards');
        else address.delete('order');
      }),
  };
}

interface ListOptions {
  /** True while further tools are on their way: what the search finds among them is shown without their figures. */
  readonly isPart: boolean;
  readonly answer: SearchAnswer | undefined;
  readonly filters: Filters;
  readonly sort: Sort;
  readonly isBackwards: boolean;
  readonly trouble: ReturnType<typeof useTrouble>;
}

/** A tool of which only name and description are known yet. */
const UNKNOWN_ROW: Omit<ToolRow, 'name' | 'description'> = {
  source: '',
  status: 'ready',
  tags: [],
  bundles: [],
  effects: {},
  danger: 'unknown',
  tokens: 0,
};

/** The lines of the list: sources in trouble, then tools, then entries that did not become tools. */
function toItems(
  rows: readonly ToolRow[],
  { isPart, answer, filters, sort, isBackwards, trouble }: ListOptions,
): readonly ListItem[] {
  if (answer !== undefined) {
    const isNarrowed = Object.keys(filters).length > 0;
    const byName = new Map(filterRows(rows, filters).map((row) => [row.name, row]));
    return answer.results.flatMap(({ name, description, score, why }) => {
      const tool = byName.get(name) ?? (isPart && !isNarrowed ? { ...UNKNOWN_ROW, name, description } : undefined);
      return tool === undefined ? [] : [{ kind: 'tool' as const, tool, hit: { score, why } }];
    });
  }
  const tools = sortRows(filterRows(rows, filters), sort, isBackwards).map((tool) => ({ kind: 'tool' as const, tool }));
  const isShown = ({ name, source = name }: { readonly name: string; readonly source?: string }) =>
    filters.source === undefined || filters.source.includes(source);
  const hasOther = Object.keys(filters).some((facet) => facet !== 'source' && facet !== 'state');
  if (hasOther) return tools;
  return [
    ...trouble.sources.filter(isShown).map((source) => ({ kind: 'source' as const, source })),
    ...tools,
    ...trouble.leftOut.filter(isShown).map((entry) => ({ kind: 'left out' as const, entry })),
  ];
}

function keyOf(item: ListItem): string {
  if (item.kind === 'tool') return `tool ${item.tool.name}`;
  return item.kind === 'source'
    ? `source ${item.source.name}`
    : `${item.entry.source} ${item.entry.name} ${item.entry.reason}`;
}

function addressOf(item: ListItem): string {
  if (item.kind === 'tool') return `/tools/${encodeURIComponent(item.tool.name)}`;
  return `/sources/${encodeURIComponent(item.kind === 'source' ? item.source.name : item.entry.source)}`;
}

function Totals({ rows, total }: { readonly rows: readonly ToolRow[]; readonly total: number }) {
  const tokens = useMemo(() => rows.reduce((sum, row) => sum + row.tokens, 0), [rows]);
  const isPart = rows.length < total;
  return (
    <span className="tabular soft">
      {isPart ? `${rows.length.toLocaleString('en')} of ${total.toLocaleString('en')}` : total.toLocaleString('en')}{' '}
      {total === 1 ? 'tool' : 'tools'}
      {!isPart && ` · about ${tokens.toLocaleString('en')} tokens`}
    </span>
  );
}
