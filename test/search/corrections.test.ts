import { describe, expect, it } from 'vitest';
import { builtinRetriever } from '../../src/search/builtin-retriever.ts';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { systemClock } from '../../src/system/clock.ts';
import { specOf } from './specs.ts';

const SHOP = [
  specOf('create_invoice', 'Draws up a bill for a customer', { title: 'Create invoice' }),
  specOf('delete_invoice', 'Throws a bill away', { title: 'Delete invoice' }),
  specOf('change_password', 'Sets a new password', { title: 'Change password' }),
  specOf('ship', 'Hands a parcel over', { title: 'Schedule a delivery' }),
];

function shop() {
  const retriever = builtinRetriever({
    clock: systemClock,
    warn: (message) => {
      throw new Error(message);
    },
  });
  retriever.add(SHOP);
  return (query: string) => retriever.rank(query, { limit: 10, minScore: 0 });
}

/** The similarity in meaning of a hit. */
const similarityIn = (why = ''): string | undefined => /similar in meaning \([\d.]+\)/.exec(why)?.[0];

describe('a misspelled word of a request', () => {
  it.each([
    ['delete the invoce', 'delete the invoice'],
    ['delte the invioces', 'delete the invoice'],
    ['scheduel the delivrey', 'schedule the delivery'],
  ])('%j means the same as %j, for words and for vectors', async (typed, right) => {
    const rank = shop();
    const [best] = await rank(typed);
    const [wanted] = await rank(right);
    expect(best?.name).toBe(wanted?.name);
    expect(similarityIn(wanted?.why)).toBeDefined();
    expect(similarityIn(best?.why)).toBe(similarityIn(wanted?.why));
  });

  it('the reason quotes it as it was written, and tells that the tool says another word', async () => {
    const [best] = await shop()('invoce');
    expect(best?.why).toContain('"invoce" in other words');
  });

  it('a word that vectors know is spelled right, even if it is like the word of a title', async () => {
    const hits = await shop()('charge the phone');
    expect(hits.filter(({ why }) => why.includes('charge'))).toEqual([]);
  });

  it('without vectors, a word of a title is enough', async () => {
    const retriever = createRetriever();
    retriever.add(SHOP);
    expect((await retriever.rank('delivrey', { limit: 1 }))[0]?.name).toBe('ship');
  });
});
