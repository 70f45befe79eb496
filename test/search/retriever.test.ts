import { describe, expect, it } from 'vitest';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { namesOf, OFFICE, specOf } from './specs.ts';

function officeRetriever() {
  const retriever = createRetriever();
  retriever.add(OFFICE);
  return retriever;
}

const anyHit = { limit: 10, minScore: 0 };

describe('ranked by relevance, highest first, at most `limit` tools, `minScore` respected; score is a similarity; each hit says why', () => {
  it('the best comes first, and every score is between 0 and 1', async () => {
    const hits = await officeRetriever().rank('write some text to a file', anyHit);
    expect(namesOf(hits).slice(0, 2)).toEqual(['write_file', 'read_file']);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
  });

  it('at most `limit` are returned, none for 0', async () => {
    const retriever = officeRetriever();
    expect(await retriever.rank('a file', { limit: 1, minScore: 0 })).toHaveLength(1);
    expect(await retriever.rank('a file', { limit: 0, minScore: 0 })).toEqual([]);
    expect(await retriever.rank('a file', { limit: -1, minScore: 0 })).toEqual([]);
  });

  it('a tool that scores less than `minScore` is left out', async () => {
    const retriever = officeRetriever();
    const all = await retriever.rank('write some text to a file', anyHit);
    const second = all[1]?.score ?? 0;
    const some = await retriever.rank('write some text to a file', { limit: 10, minScore: second + 0.001 });
    expect(some).toEqual(all.slice(0, 1));
  });

  it('a hit names its words of the request, and their field', async () => {
    const [hit] = await officeRetriever().rank('where does the file lie on the path', anyHit);
    expect(hit?.why).toBe('parameters: "lie", "path"; name: "file"');
  });
});

describe('the searched fields', () => {
  it.each([
    ['sending emails', 'send_mail'],
    ['communications', 'send_mail'],
    ['agenda', 'list_calendar_events'],
    ['report bugs', 'gh_create_issue'],
    ['github', 'gh_create_issue'],
    ['path', 'read_file'],
  ])('%j finds %s', async (query, expected) => {
    expect(namesOf(await officeRetriever().rank(query, anyHit))[0]).toBe(expected);
  });

  it('a tool is found by the bundles it is in', async () => {
    const retriever = createRetriever({ bundlesOf: (tool) => (tool === 'get_weather' ? ['outdoor_sports'] : []) });
    retriever.add(OFFICE);
    expect(namesOf(await retriever.rank('outdoor', anyHit))).toEqual(['get_weather']);
  });

  it('a mistyped word of a name is understood', async () => {
    const retriever = officeRetriever();
    expect(namesOf(await retriever.rank('curency', anyHit))[0]).toBe('convert_currency');
    expect(namesOf(await retriever.rank('show me the claendar for today', anyHit))[0]).toMatch(/calendar/);
  });

  it('an unfinished word of a name is understood', async () => {
    expect(namesOf(await officeRetriever().rank('weath', anyHit))).toEqual(['get_weather']);
  });
});

describe('names', () => {
  it.each([
    'use get_weather to find a file in the workspace and write to it',
    'call `get_weather`: read file, write file',
    'GET_WEATHER',
    'Is get_weather the same as read a file of the workspace?',
  ])('a tool named exactly in the request is first: %s', async (query) => {
    const [hit] = await officeRetriever().rank(query, { limit: 3 });
    expect(hit).toMatchObject({ name: 'get_weather', score: 1 });
    expect(hit?.why).toMatch(/^named in the request/);
  });

  it('a common word that is also a name does not count as a mention', async () => {
    const retriever = officeRetriever();
    retriever.add([specOf('search', 'Look something up in the archive')]);
    const [hit] = await retriever.rank('search for the weather forecast of a city near me', anyHit);
    expect(hit?.name).toBe('get_weather');
    expect(namesOf(await retriever.rank('the search tool: weather forecast of a city', anyHit))[0]).toBe('search');
    expect(namesOf(await retriever.rank('"search" weather forecast of a city', anyHit))[0]).toBe('search');
  });
});

describe('a request nothing answers returns nothing', () => {
  it.each(['', '   ', '?!', 'of the and', 'zzzzqqq', 'knit a woollen jumper', '🙂'])('%j', async (query) => {
    expect(await officeRetriever().rank(query, { limit: 10 })).toEqual([]);
  });
});

describe('visibility', () => {
  it('only names that `among` accepts are returned, and they are scored among themselves', async () => {
    const retriever = officeRetriever();
    const among = (name: string) => name !== 'write_file';
    const hits = await retriever.rank('write some text to a file', { ...anyHit, among });
    expect(namesOf(hits)).not.toContain('write_file');
    expect(namesOf(hits)[0]).toBe('read_file');
    expect(namesOf(await retriever.rank('use write_file', { ...anyHit, among }))).not.toContain('write_file');
  });

  it('two tools with equal descriptions are both findable', async () => {
    const retriever = officeRetriever();
    retriever.add([specOf('pigeon_x', 'Send a parcel by pigeon'), specOf('pigeon_y', 'Send a parcel by pigeon')]);
    expect(namesOf(await retriever.rank('parcel by pigeon', { limit: 2 }))).toEqual(['pigeon_x', 'pigeon_y']);
  });

  it('usage decides ties and nothing else', async () => {
    const retriever = officeRetriever();
    retriever.add([specOf('pigeon_x', 'Send a parcel by pigeon'), specOf('pigeon_y', 'Send a parcel by pigeon')]);
    const usage = (name: string) => (name === 'pigeon_y' ? 5 : name === 'get_weather' ? 900 : 0);
    const hits = await retriever.rank('parcel by pigeon', { ...anyHit, usage });
    expect(namesOf(hits).slice(0, 2)).toEqual(['pigeon_y', 'pigeon_x']);
  });

  it('a removed tool is never returned', async () => {
    const retriever = officeRetriever();
    retriever.remove(['write_file', 'nobody']);
    const hits = await retriever.rank('write_file: write some text to a file', anyHit);
    expect(namesOf(hits)).not.toContain('write_file');
  });

  it('the reasons tell a word of the request from a synonym of it', async () => {
    const retriever = createRetriever();
    retriever.add([specOf('remove_invoice', 'Remove an invoice')]);
    const [hit] = await retriever.rank('delete an invoice', anyHit);
    expect(hit?.why).toBe('name: "invoice", "delete" in other words');
    const [phrase] = await retriever.rank('get rid of an invoice', anyHit);
    expect(phrase?.why).toBe('name: "invoice", "get rid" in other words');
  });

  it('a tool that is added again with other words is found only by those', async () => {
    const retriever = officeRetriever();
    retriever.add([specOf('get_weather', 'Barometer readings')]);
    expect(namesOf(await retriever.rank('barometer', anyHit))).toEqual(['get_weather']);
    expect(namesOf(await retriever.rank('city', anyHit))).not.toContain('get_weather');
  });

  it('a typo does not match a word of a removed name', async () => {
    const retriever = officeRetriever();
    expect(namesOf(await retriever.rank('curency', anyHit))).toEqual(['convert_currency']);
    retriever.remove(['convert_currency']);
    retriever.add([specOf('exchange', 'Rates of every currency')]);
    expect(await retriever.rank('curency', anyHit)).toEqual([]);
  });

  it('a typo that matched no name matches a name that was added since', async () => {
    const retriever = officeRetriever();
    expect(await retriever.rank('thermometre', anyHit)).toEqual([]);
    retriever.add([specOf('thermometer', 'How warm it is')]);
    expect(namesOf(await retriever.rank('thermometre', anyHit))).toEqual(['thermometer']);
  });

  it('which of very many equal tools are returned does not depend on their order', async () => {
    const specs = Array.from({ length: 150 }, (_, index) => specOf(`pigeon_${(index * 67) % 150}`, 'Send a parcel'));
    const [one, other] = [createRetriever(), createRetriever()];
    one.add(specs);
    other.add(specs.toReversed());
    expect(await one.rank('send parcel', anyHit)).toEqual(await other.rank('send parcel', anyHit));
  });
});
