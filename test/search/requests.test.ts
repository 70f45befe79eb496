import { describe, expect, it } from 'vitest';
import { CATALOGUES, HELD_BACK, readCatalogue } from '../../bench/requests/catalogue-list.ts';
import { problemsOfRequests, readRequests } from '../../bench/requests/read-requests.ts';
import { measureCatalogue } from '../../src/crib/search-quality.ts';

/** The catalogues that the repository contains; the others are fetched. */
const OWN = [...CATALOGUES].flatMap(([name, origin]) => ('own' in origin ? [name] : []));

describe('the requests over catalogues of real products', () => {
  it('have ids, voices and tools that exist', () => {
    expect(problemsOfRequests((name) => (OWN.includes(name) ? readCatalogue(name) : undefined))).toEqual([]);
  });

  it('are held back for eight catalogues, always the same', () => {
    expect([...HELD_BACK].toSorted().join(' ')).toBe('billing customers domains issues mail sports travel video');
  });

  it.each(OWN)('of agents are answered over the %s tools', async (name) => {
    const agents = readRequests(name).filter(({ voice }) => voice === 'agent' || voice === 'short');
    const { ndcg10, recall10 } = await measureCatalogue(readCatalogue(name) ?? [], agents, expect.unreachable);
    expect(ndcg10).toBeGreaterThan(0.85);
    expect(recall10).toBeGreaterThan(0.95);
  });
});
