import { describe, expect, it } from 'vitest';
import { type ToolSpec, UNREAD } from '../../src/core/tool-spec.ts';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { namesOf, OFFICE } from './specs.ts';

const options = { limit: 5, minScore: 0 };

/** Specs that are parsed at first use; counts how often that happened. */
function unreadOffice(fileMark: number, changes: Partial<ToolSpec> = {}) {
  let parsed = 0;
  const specs = OFFICE.map((spec, place) => {
    const unread = { ...spec, [UNREAD]: { kind: 'function', rules: '', mark: fileMark + place } };
    const content = { ...spec, ...changes };
    for (const key of ['description', 'input', 'examples', 'title'] as const)
      Object.defineProperty(unread, key, {
        get() {
          parsed += 1;
          return content[key];
        },
      });
    return unread;
  });
  return { specs, parsed: () => parsed };
}

function keptOffice(fileMark: number, bundlesOf = () => ['office']): Uint8Array {
  const retriever = createRetriever({ bundlesOf });
  retriever.add(unreadOffice(fileMark).specs);
  return retriever.snapshot();
}

describe('tools that were not parsed yet', () => {
  it('are known by their marks: they are not parsed, and are found as before', async () => {
    const whole = createRetriever({ bundlesOf: () => ['office'] });
    whole.add(OFFICE);
    const after = createRetriever({ snapshot: keptOffice(1000), bundlesOf: () => ['office'] });
    const { specs, parsed } = unreadOffice(1000);
    after.add(specs);
    for (const query of ['read a file', 'send_mail', 'agenda tomorrow'])
      expect(await after.rank(query, options)).toEqual(await whole.rank(query, options));
    expect(parsed()).toBe(0);
    expect(after.changes).toBe(0);
  });

  it('with other marks are parsed, and indexed again only if their content differs', async () => {
    const same = createRetriever({ snapshot: keptOffice(1000), bundlesOf: () => ['office'] });
    const moved = unreadOffice(2000);
    same.add(moved.specs);
    expect(moved.parsed()).toBeGreaterThan(0);
    expect(namesOf(await same.rank('read a file', options))[0]).toBe('read_file');
    const next = createRetriever({ snapshot: same.snapshot(), bundlesOf: () => ['office'] });
    const again = unreadOffice(2000);
    next.add(again.specs);
    expect([again.parsed(), next.changes]).toEqual([0, 0]);

    const other = createRetriever({ snapshot: keptOffice(1000), bundlesOf: () => ['office'] });
    other.add(unreadOffice(3000, { description: 'Feed the penguin' }).specs);
    expect((await other.rank('feed the penguin', options)).length).toBe(5);
  });

  it('new marks are a change worth storing; without new ones there is none', () => {
    const retriever = createRetriever({ snapshot: keptOffice(1000), bundlesOf: () => ['office'] });
    retriever.add(unreadOffice(2000).specs);
    expect(retriever.changes).toBe(OFFICE.length);
    retriever.add(unreadOffice(2000).specs);
    expect(retriever.changes).toBe(OFFICE.length);
  });

  it('are parsed if their bundles changed', async () => {
    const after = createRetriever({ snapshot: keptOffice(1000), bundlesOf: () => ['philately'] });
    const { specs, parsed } = unreadOffice(1000);
    after.add(specs);
    expect(parsed()).toBeGreaterThan(0);
    expect((await after.rank('philately', options)).length).toBe(5);
  });

  it('adding parsed tools keeps the marks of those that were not parsed', () => {
    const between = createRetriever({ snapshot: keptOffice(1000), bundlesOf: () => ['office'] });
    between.add(OFFICE);
    expect(between.changes).toBe(0);
    const after = createRetriever({ snapshot: between.snapshot(), bundlesOf: () => ['office'] });
    const { specs, parsed } = unreadOffice(1000);
    after.add(specs);
    expect(parsed()).toBe(0);
  });

  it('a reused number does not bring the mark of the former tool', async () => {
    const between = createRetriever({ snapshot: keptOffice(1000), bundlesOf: () => ['office'] });
    between.add(unreadOffice(1000).specs);
    between.remove(['read_file']);
    const [first] = OFFICE;
    if (first === undefined) throw new Error('the office is empty');
    between.add([{ ...first, description: 'Recite a poem' }]);
    const after = createRetriever({ snapshot: between.snapshot(), bundlesOf: () => ['office'] });
    after.add(unreadOffice(1000).specs);
    expect(namesOf(await after.rank('recite a poem', options))).not.toContain('read_file');
  });
});
