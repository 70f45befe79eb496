import { afterAll, describe, expect, it } from 'vitest';
import { OFFICE } from './office.ts';
import { createWorkshop } from './workshop.ts';

const lines = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n');

const office = createWorkshop({
  ...OFFICE,
  'queries.jsonl': lines([
    { id: '1', query: 'use add', relevant: ['add'] },
    { id: '2', query: 'repeat what I say with echo', relevant: ['echo'] },
    { id: '3', query: 'knit a woollen jumper', relevant: [] },
  ]),
  'catalogue.jsonl': lines([
    { id: 'w1', name: 'get_weather', description: 'Forecast for a city', server: 'meteo' },
    { id: 'w2', name: 'get_weather', description: 'Weather on Mars', category: 'space' },
    { id: 'm1', name: 'sendMail', description: 'Send an email', schema: { properties: { recipient: {} } } },
  ]),
  'wanted.jsonl': lines([
    { id: 'a', query: 'weather on mars', relevant: ['w2'] },
    { id: 'b', query: 'email with a recipient', relevant: ['m1'] },
    { id: 'c', query: 'zzzz qqqq', relevant: ['w1', 'gone'] },
    { id: 'd', query: 'knit a woollen jumper', relevant: [] },
  ]),
  'changed.yaml': `${OFFICE['toolcrib.yaml']}\nretrieval: { synonyms: [[remove, flummox]] }\n`,
  'fewer.yaml': 'sources: {}',
  'compared.jsonl': lines([
    { id: 'f', query: 'flummox', relevant: ['wipe'] },
    { id: 'a', query: 'use add', relevant: ['add'] },
    { id: 'd', query: 'knit a woollen jumper', relevant: [] },
  ]),
  'unanswerable.jsonl': lines([{ id: 'd', query: 'knit a woollen jumper', relevant: [] }]),
  'broken.jsonl': '{"query": "a", "relevant": []}\nnot json\n',
  'wrong.jsonl': '{"query": "a", "relevant": "b"}\n',
  'twice.jsonl': lines([
    { id: 'x', name: 'a' },
    { id: 'x', name: 'b' },
  ]),
  'empty.jsonl': '\n',
  'blank.jsonl': '\n{"query": "a", "relevant": []}\n\n{"query": 5, "relevant": []}\n',
  'blank-tools.jsonl': '\n\n{"id": "x", "name": 7}\n',
  'alike.jsonl': lines([
    { id: 'a', name: 'get', description: 'Fetch a parcel' },
    { id: 'b', name: 'get_2', description: 'Feed the horses' },
    { id: 'c', name: 'get', description: 'Paint a fence' },
    { id: 'd', name: 'nothing', description: null, server: null, category: null },
  ]),
  'alike-wanted.jsonl': lines([
    { id: {}, query: 'feed the horses', relevant: ['b'] },
    { query: 'paint a fence', relevant: ['c'] },
    { id: 7, query: 'null', relevant: [] },
  ]),
});
afterAll(office.remove);

describe('toolcrib eval', () => {
  it('measures the search over the tools of the configuration', async () => {
    const figures = await office.json(['eval', '--queries', 'queries.jsonl']);
    expect(figures).toMatchObject({
      requests: 3,
      recall1: 1,
      recall5: 1,
      recall10: 1,
      mrr: 1,
      ndcg10: 1,
      lowRight: 1,
      lowWrong: 0,
    });
  });

  it('measures a catalogue by its ids, lists the worst requests and says which ids are unknown', async () => {
    const { code, stdout, stderr } = await office.run([
      ...['eval', '--queries', 'wanted.jsonl', '--tools', 'catalogue.jsonl', '--limit', '1', '--json'],
    ]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/1 of the expected ids do not belong to any tool and cannot be found: "gone"/);
    const { worst, ...figures } = JSON.parse(stdout);
    expect(figures).toMatchObject({
      requests: 4,
      recall1: 2 / 3,
      mrr: 2 / 3,
      lost: 1 / 3,
      refused: 0,
      lowRight: 1,
      lowWrong: 1 / 3,
    });
    expect(worst).toEqual([
      { id: 'c', query: 'zzzz qqqq', relevant: ['w1', 'gone'], found: [], confidence: 'low', ndcg10: 0 },
    ]);
  });

  it('prints figures and the worst requests as tables', async () => {
    const { code, stdout } = await office.run(['eval', '--queries', 'wanted.jsonl', '--tools', 'catalogue.jsonl']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/NDCG@10\s+66\.7 %/);
    expect(stdout).toMatch(/low confidence, if no tool fits\s+100\.0 %/);
    expect(stdout).toMatch(/0\.0 %\s+zzzz qqqq\s+w1, gone\s+nothing/);
  });

  it('shows no figures for answerable requests if there are none', async () => {
    const { stdout } = await office.run(['eval', '--queries', 'unanswerable.jsonl', '--tools', 'catalogue.jsonl']);
    expect(stdout).toMatch(/NDCG@10\s+-\n/);
    expect(stdout).toMatch(/no result, if a tool fits\s+-\n/);
    expect(stdout).toMatch(/low confidence, if no tool fits\s+100\.0 %/);
  });

  it('tools with similar names are distinguished, and null is not text', async () => {
    const figures = await office.json(['eval', '--queries', 'alike-wanted.jsonl', '--tools', 'alike.jsonl']);
    expect(figures).toMatchObject({ requests: 3, recall1: 1, lowRight: 1, worst: [] });
  });

  it('compares two configurations: figures side by side, and the requests that changed', async () => {
    const { code, stdout } = await office.run(['eval', '--queries', 'compared.jsonl', '--compare', 'changed.yaml']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/MEASURE\s+THIS\s+OTHER\s+DIFFERENCE\n/);
    expect(stdout).toMatch(/Recall@1\s+50\.0 %\s+100\.0 %\s+\+50\.0\n/);
    expect(stdout).toMatch(/no result, if a tool fits\s+50\.0 %\s+0\.0 %\s+-50\.0\n/);
    expect(stdout).toMatch(/Of 3 requests, 1 better and 0 worse with the other configuration/);
    expect(stdout).toMatch(/CHANGE\s+THIS\s+OTHER\s+REQUEST\s+EXPECTED\nbetter\s+-\s+1\s+flummox\s+wipe\n$/);
  });

  it.each([
    [['eval'], /eval needs --queries FILE/],
    [['eval', '--queries', 'nowhere.jsonl'], /nowhere\.jsonl: .*ENOENT/],
    [['eval', '--queries', 'broken.jsonl'], /broken\.jsonl:2: .*one JSON object per line/],
    [['eval', '--queries', 'wrong.jsonl'], /request in line 1 is invalid: "relevant" is not a list of ids/],
    [['eval', '--queries', 'empty.jsonl'], /empty\.jsonl contains no requests/],
    [['eval', '--queries', 'wanted.jsonl', '--tools', 'empty.jsonl'], /empty\.jsonl contains no tools/],
    [['eval', '--queries', 'blank.jsonl'], /request in line 4 is invalid: "query" is not a string/],
    [['eval', '--queries', 'wanted.jsonl', '--tools', 'blank-tools.jsonl'], /tool in line 3 .*"name" is not a string/],
    [['eval', '--queries', 'wanted.jsonl', '--tools', 'twice.jsonl'], /tool in line 2 .* another tool has the id "x"/],
    [['eval', '--queries', 'queries.jsonl', '--compare', 'gone.yaml'], /--compare: gone\.yaml was not found/],
    [['eval', '--queries', 'queries.jsonl', '--compare', '.'], /--compare: \. is the configuration that is measured/],
    [
      ['eval', '--queries', 'wanted.jsonl', '--tools', 'catalogue.jsonl', '--compare', 'changed.yaml'],
      /--compare and --tools cannot be combined/,
    ],
    [
      ['eval', '--queries', 'queries.jsonl', '--compare', 'fewer.yaml'],
      /Expected tools are missing in fewer\.yaml: "add", "echo"/,
    ],
    [
      ['eval', '--queries', 'wanted.jsonl', '--tools', 'wanted.jsonl'],
      /tool in line 1 is invalid: "name" is not a string/,
    ],
  ])('%j is refused with a sentence', async (args, expected) => {
    const { code, stdout, stderr } = await office.run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(expected);
  });
});
