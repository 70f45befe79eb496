import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInGeneralTerms } from '../../src/search/read-request.ts';

const general = fc
  .array(fc.constantFrom('create', 'an', 'invoice', 'for', 'a', 'customer'), { minLength: 3, maxLength: 12 })
  .map((words) => words.join(' '));

describe('a request is in general terms', () => {
  it.each([
    'create an invoice for a customer',
    'list pods in a namespace with their status',
    'search code across repositories',
    'Compress a local image file',
    'cancel a shop order before it ships, and refund the customer with a voucher',
    'sales tax report for US states',
    "update a customer's address",
  ])('%s', (request) => {
    expect(isInGeneralTerms(request)).toBe(true);
  });
});

describe('a request is about one case, or nobody knows', () => {
  it.each([
    ['who speaks', 'list my invoices'],
    ['who is spoken to', 'could you open an issue'],
    ['somebody', 'send her an invoice'],
    ['something at hand', 'translate this text into French'],
    ['a number', 'scale a deployment to 10 replicas'],
    ['a question', 'how does a person get a visa?'],
    ['a quotation', 'what does "Werkbank" mean in English'],
    ['two sentences', 'It rains a lot. Lock a door'],
    ['the one that is known', 'lock the front door'],
    ['a refusal', "make sure that nobody can't enter"],
    ['two words', 'weather forecast'],
    ['no words', ''],
    ['another script', '创建一张发票 for a customer'],
    ['too much', `create an invoice ${'for a customer '.repeat(30)}`],
  ])('%s', (_, request) => {
    expect(isInGeneralTerms(request)).toBe(false);
  });

  it('whatever is said, a question, a number and who speaks make it so, and so does a megabyte', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), general), (request) => {
        for (const one of [`${request}?`, `${request} 12`, `my ${request}`]) expect(isInGeneralTerms(one)).toBe(false);
      }),
    );
    expect(isInGeneralTerms('a '.repeat(500_000))).toBe(false);
  });
});
