import { describe, expect, it } from 'vitest';
import { changedRequests, evaluate } from '../../src/search/evaluate.ts';

const rankings: Readonly<Record<string, readonly string[]>> = {
  first: ['a', 'b'],
  second: ['b', 'a'],
  none: [],
  both: ['x', 'a', 'y', 'b'],
  late: ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'a'],
};
const rank = (query: string) => (rankings[query] ?? []).map((id) => ({ id }));
const measure = (query: string, relevant: readonly string[]) => evaluate([{ id: 'q', query, relevant }], rank);

describe('quality of a ranking', () => {
  it('the right tool first is perfect', async () => {
    expect(await measure('first', ['a'])).toMatchObject({
      ndcg10: 1,
      recall1: 1,
      recall5: 1,
      recall10: 1,
      mrr: 1,
      lost: 0,
    });
  });

  it('the right tool second is worth less', async () => {
    expect(await measure('second', ['a'])).toMatchObject({
      ndcg10: 1 / Math.log2(3),
      recall1: 0,
      recall5: 1,
      mrr: 0.5,
    });
  });

  it('several right tools share the gain', async () => {
    const { ndcg10, recall1, recall5, mrr } = await measure('both', ['a', 'b']);
    expect(ndcg10).toBeCloseTo((1 / Math.log2(3) + 1 / Math.log2(5)) / (1 + 1 / Math.log2(3)), 10);
    expect([recall1, recall5, mrr]).toEqual([0, 1, 0.5]);
  });

  it('a hit after the tenth does not count', async () => {
    expect(await measure('late', ['a'])).toMatchObject({ ndcg10: 0, recall10: 0, mrr: 0 });
  });

  it('a right tool that is named twice counts once', async () => {
    expect(await measure('first', ['a', 'a'])).toMatchObject({ ndcg10: 1, recall1: 1 });
  });

  it('unanswerable requests are measured by their refusal only', async () => {
    const requests = [
      { id: '1', query: 'first', relevant: ['a'] },
      { id: '2', query: 'none', relevant: [] },
      { id: '3', query: 'second', relevant: [] },
      { id: '4', query: 'none', relevant: ['a'] },
    ];
    expect(await evaluate(requests, rank)).toMatchObject({
      requests: 4,
      refused: 0.5,
      lost: 0.5,
      ndcg10: 0.5,
      mrr: 0.5,
    });
  });

  it('returns how often low confidence is right for unanswerable requests, and wrong for answerable ones', async () => {
    const requests = [
      { id: '1', query: 'sure', relevant: ['a'] },
      { id: '2', query: 'unsure', relevant: ['a'] },
      { id: '3', query: 'nothing', relevant: ['a'] },
      { id: '4', query: 'sure', relevant: ['a'] },
      { id: '5', query: 'unsure', relevant: [] },
      { id: '6', query: 'sure', relevant: [] },
      { id: '7', query: 'nothing', relevant: [] },
    ];
    const find = (query: string) =>
      query === 'nothing' ? [] : [{ id: 'a', confidence: query === 'sure' ? ('high' as const) : ('low' as const) }];
    const { outcomes, ...figures } = await evaluate(requests, find);
    // Hits with low confidence count for NDCG: callers still get them.
    expect(figures).toMatchObject({ ndcg10: 0.75, lost: 0.25, refused: 1 / 3, lowRight: 2 / 3, lowWrong: 0.5 });
    expect(outcomes.filter(({ ndcg10 }) => ndcg10 === 0).map(({ id }) => id)).toEqual(['3', '6']);
  });

  it('no share of low confidence is reported if a retriever does not give it', async () => {
    expect(await measure('first', ['a'])).toMatchObject({ lowRight: null, lowWrong: null });
  });

  it('without requests, or without unanswerable ones, those figures are absent', async () => {
    expect(await evaluate([], rank)).toMatchObject({ requests: 0, ndcg10: 0, refused: null, msPerQuery: 0 });
    expect((await measure('first', ['a'])).refused).toBeNull();
  });

  it('the worst requests come first, with their results', async () => {
    const requests = ['first', 'second', 'none'].map((query) => ({ id: query, query, relevant: ['a'] }));
    const { outcomes } = await evaluate(requests, rank);
    expect(outcomes.map(({ id, found }) => [id, found])).toEqual([
      ['none', []],
      ['second', ['b', 'a']],
      ['first', ['a', 'b']],
    ]);
  });

  it('the time is that of the given clock', async () => {
    let now = 0;
    const tick = () => {
      now += 5;
      return now;
    };
    const requests = ['first', 'second'].map((query) => ({ id: query, query, relevant: ['a'] }));
    expect((await evaluate(requests, rank, tick)).msPerQuery).toBe(5);
  });
});

it('lets other work have a turn between two requests', async () => {
  const requests = Array.from({ length: 50 }, (_, index) => ({ id: `${index}`, query: 'q', relevant: [] }));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await evaluate(requests, async () => []);
  isOver = true;
  expect(turns).toBeGreaterThan(40);
});

describe('comparing two measurements', () => {
  it('lists the requests whose first relevant tool has another rank, greatest change first', async () => {
    const requests = ['same', 'slipped', 'gained', 'none fits'].map((query, place) => ({
      id: `${place}`,
      query,
      relevant: query === 'none fits' ? [] : ['a', 'z'],
    }));
    const measureWith = (found: Readonly<Record<string, string>>) =>
      evaluate(requests, (query) => [...(found[query] ?? '')].map((id) => ({ id })));
    const one = await measureWith({ same: 'xa', slipped: 'xxa', gained: 'x', 'none fits': 'x' });
    const other = await measureWith({ same: 'yz', slipped: 'xxxa', gained: 'za' });
    expect(changedRequests(one, other)).toEqual([
      { id: '2', query: 'gained', relevant: ['a', 'z'], change: 'better', ranks: { this: null, other: 1 } },
      { id: '1', query: 'slipped', relevant: ['a', 'z'], change: 'worse', ranks: { this: 3, other: 4 } },
    ]);
  });
});
