import { describe, expect, it } from 'vitest';
import { builtinRetriever } from '../../src/search/builtin-retriever.ts';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { systemClock } from '../../src/system/clock.ts';
import { namesOf, specOf } from './specs.ts';

/** Operations of an API that say much of issues, and one whose title is what is asked for. */
const API = [
  specOf('issues_create', 'Any user with pull access can do so, unless it is disabled; notifications are sent.', {
    title: 'Create an issue',
    source: 'forge',
  }),
  specOf('users_follow', 'Needs to be logged in, with the scope of a person.', {
    title: 'Follow a user',
    source: 'forge',
  }),
  ...Array.from({ length: 30 }, (_, index) =>
    specOf(`issues_extra_${index}`, 'Create an issue, create issues: whoever creates an issue', {
      title: `Create an issue ${['label', 'comment', 'event', 'milestone'][index % 4]} of number ${index}`,
      source: 'forge',
    }),
  ),
  specOf('convert_pdf', 'Convert', { title: 'Convert PDF to Word' }),
  specOf('convert_word', 'Word PDF convert word PDF', { title: 'Convert Word to PDF' }),
  specOf('forge_close_milestone', 'It is over', { source: 'forge' }),
  specOf('sync', 'Fetches all', { title: 'Sync GitHub releases' }),
];

function apiRetriever() {
  const retriever = builtinRetriever({
    clock: systemClock,
    warn: (message) => {
      throw new Error(message);
    },
  });
  retriever.add(API);
  return retriever;
}

describe('a tool whose title or name equals the request is first', () => {
  it.each([
    ['create an issue', 'issues_create'],
    ['Create Issues', 'issues_create'],
    ['please create the issue', 'issues_create'],
    ['issues/create', 'issues_create'],
    ['create_issue', 'issues_create'],
    ['issue create', 'issues_create'],
    ['follow a user', 'users_follow'],
    ['users/follow', 'users_follow'],
    ['follow users', 'users_follow'],
    ['convert a word to PDF', 'convert_word'],
    ['convert PDF to word', 'convert_pdf'],
    ['close the milestone', 'forge_close_milestone'],
    ['forge close milestone', 'forge_close_milestone'],
    ['sync github releases', 'sync'],
    ['Sync the GitHub releases', 'sync'],
  ])('%j: %s', async (request, name) => {
    const [hit] = await apiRetriever().rank(request, { limit: 5 });
    expect(hit).toMatchObject({ name, score: 1, confidence: 'high' });
    expect(hit?.why).toMatch(/^(name or title matches the request|named in the request)/);
  });

  it('however many tools have its words more often', async () => {
    const retriever = createRetriever();
    const crowd = Array.from({ length: 200 }, (_, index) =>
      specOf(`crowd_${index}`, 'issue create issue create issue'),
    );
    retriever.add([...crowd, ...API]);
    expect(namesOf(await retriever.rank('create an issue', { limit: 1 }))).toEqual(['issues_create']);
  });

  it('several with one title are all first, in the order of their scores', async () => {
    const retriever = createRetriever();
    retriever.add([
      ...API,
      specOf('zz_issue', 'Create an issue: an issue is created', { title: 'Create an issue' }),
      specOf('aa_issue', 'Unrelated text about something else entirely, at some length', { title: 'Create an issue' }),
    ]);
    const hits = await retriever.rank('create an issue', { limit: 4 });
    expect(hits[0]?.name).toBe('zz_issue');
    expect(new Set(namesOf(hits.slice(0, 3)))).toEqual(new Set(['zz_issue', 'aa_issue', 'issues_create']));
    expect(hits.map(({ score }) => score === 1)).toEqual([true, true, true, false]);
  });

  it('a longer or different request is not a title', async () => {
    const retriever = apiRetriever();
    for (const request of ['create an issue for the zeppelin', 'create', 'user follows an issue'])
      for (const { why } of await retriever.rank(request, { limit: 40, minScore: 0 }))
        expect(why).not.toMatch(/^called as/);
  });

  it('a tool that the caller does not see is not found by its title', async () => {
    const hits = await apiRetriever().rank('create an issue', { limit: 40, among: (name) => name !== 'issues_create' });
    expect(namesOf(hits)).not.toContain('issues_create');
    expect(hits.some(({ score }) => score === 1)).toBe(false);
  });

  it('a stored index knows titles', async () => {
    const before = createRetriever();
    before.add(API);
    const after = createRetriever({ snapshot: before.snapshot() });
    after.add(API);
    expect(after.changes).toBe(0);
    expect(namesOf(await after.rank('create an issue', { limit: 1 }))).toEqual(['issues_create']);
  });
});
