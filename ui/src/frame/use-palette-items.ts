import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { Answer } from '../api/answer.ts';
import { api } from '../api/client.ts';
import { signOut, useSession } from '../api/session.ts';
import { chooseScheme, type Scheme } from '../parts/color-scheme.ts';
import { copyText } from '../parts/copy-text.ts';
import type { Layer } from './shell.tsx';

/** A row of the palette. */
export interface PaletteItem {
  readonly group: 'Go to' | 'Tools' | 'Profiles' | 'Sources' | 'Actions';
  readonly title: string;
  readonly says?: string;
  run(): void;
}

interface Ways {
  onClose(): void;
  onLayer(layer: Layer | undefined): void;
}

/** The rows that match a query: tools by search, everything else by its words. */
export function usePaletteItems(query: string, ways: Ways): { items: readonly PaletteItem[]; isSearching: boolean } {
  const [, go] = useLocation();
  const { pages, role } = useSession();
  const open = (address: string) => () => {
    ways.onClose();
    go(address);
  };
  const found = useQuery({
    queryKey: ['palette', query],
    queryFn: ({ signal }) => api<Answer<'/api/search'>>('/api/search', { query: { q: query, limit: 8 }, signal }),
    enabled: query !== '' && pages.includes('tools'),
    placeholderData: keepPreviousData,
  });
  const profiles = useQuery({
    queryKey: ['profiles'],
    queryFn: ({ signal }) => api<Answer<'/api/profiles'>>('/api/profiles', { signal }),
    enabled: pages.includes('tools'),
  });
  const sources = useQuery({
    queryKey: ['sources'],
    queryFn: ({ signal }) => api<Answer<'/api/sources'>>('/api/sources', { signal }),
    enabled: role === 'operator',
  });
  const actions = useActions(ways);
  const tools = query === '' ? [] : (found.data?.results ?? []);
  const others: readonly PaletteItem[] = [
    ...pages.map((name) => ({ group: 'Go to' as const, title: TITLES[name], run: open(`/${name}`) })),
    ...(profiles.data?.profiles ?? []).map(({ name, toolCount }) => ({
      group: 'Profiles' as const,
      title: name,
      says: `${toolCount} tools`,
      run: open(`/tools?profile=${encodeURIComponent(name)}`),
    })),
    ...(sources.data?.sources ?? []).map(({ name, state }) => ({
      group: 'Sources' as const,
      title: name,
      says: state,
      run: open(`/sources/${encodeURIComponent(name)}`),
    })),
    ...actions,
  ];
  const words = query.toLowerCase().split(/\s+/);
  const items: readonly PaletteItem[] = [
    ...others.filter((item) => hasWords(item, words)),
    ...tools.map(({ name, description }) => ({
      group: 'Tools' as const,
      title: name,
      says: description,
      run: open(`/tools/${encodeURIComponent(name)}`),
    })),
  ];
  return {
    items: query === '' ? items : items.toSorted((a, b) => placeOf(a, words) - placeOf(b, words)),
    isSearching: found.isFetching,
  };
}

const TITLES = { tools: 'Tools', approvals: 'Approvals', calls: 'Calls', sources: 'Sources' } as const;
const ORDER = ['Go to', 'Tools', 'Profiles', 'Sources', 'Actions'];

function hasWords({ group, title }: PaletteItem, words: readonly string[]): boolean {
  const text = `${group} ${title}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** What begins with the words comes first, then what has them, then tools that are found by their meaning; each by group. */
function placeOf(item: PaletteItem, words: readonly string[]): number {
  const rank = item.title.toLowerCase().startsWith(words.join(' ')) ? 0 : hasWords(item, words) ? 1 : 2;
  return rank * ORDER.length + ORDER.indexOf(item.group);
}

function useActions({ onClose, onLayer }: Ways): readonly PaletteItem[] {
  const { signedIn, pages } = useSession();
  const theme = (scheme: Scheme) => () => {
    chooseScheme(scheme);
    onClose();
  };
  const action = (title: string, run: () => void): PaletteItem => ({ group: 'Actions', title, run });
  const copyAddress = () => {
    onClose();
    void copyText(`${location.origin}/mcp`);
  };
  return [
    ...(pages.includes('tools')
      ? [{ ...action('Copy the address for MCP clients', copyAddress), says: `${location.origin}/mcp` }]
      : []),
    action('Use the dark theme', theme('dark')),
    action('Use the light theme', theme('light')),
    action('Use the theme of the system', theme('auto')),
    action('Show keyboard shortcuts', () => onLayer('help')),
    signedIn
      ? action('Sign out', () => void signOut().then(() => location.assign('/tools')))
      : action('Sign in', () => onLayer('sign-in')),
  ];
}
