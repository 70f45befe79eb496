import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namesMentioned } from '../../src/search/rank-tools.ts';

describe('names that a request mentions', () => {
  it.each([
    ['use read_file for this', ['read_file']],
    ['use readFile, then files.read.', ['readfile', 'files.read']],
    ['send an e-mail to the whole team', ['e-mail']],
    ['call the "search" of yesterday once more', ['search']],
    ['now the Search tool please, again', ['search']],
    ['Tool search, once more for all', ['search']],
    ['use the tool search, once more for all', ['search']],
    ['the search tool for all of us', ['search']],
    ['weather', ['weather']],
    ['Berlin weather.', ['berlin', 'weather']],
    ['  (weather)  ', ['weather']],
    ['öffneDatei für alle Kunden', ['öffnedatei']],
  ])('%j', (request, names) => {
    expect([...namesMentioned(request)]).toEqual(names);
  });

  it.each([
    '',
    ' ?! ',
    'book a flight',
    'search for the weather of tomorrow',
    'Read it. Then write. And send...',
    'toolbox of the year',
    'USA and EU trade',
    'wait ... what is this',
  ])('none: %j', (request) => {
    expect([...namesMentioned(request)]).toEqual([]);
  });

  it('a name that is found in one request is found in a longer one', () => {
    const piece = fc.constantFrom(
      'read',
      'read_file',
      'getWeather',
      'a.b',
      'x-y',
      'tool',
      '"mail"',
      'end.',
      '...',
      '(',
      'Über',
      'é',
      ' ',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
        const longer = namesMentioned(`please do now ${pieces.join(' ')} or nothing`);
        const words = pieces.filter((one) => /^[\p{L}_][\p{L}_]*(?:[._-]|(?<=\p{Ll})(?=\p{Lu}))[\p{L}_]+$/u.test(one));
        for (const name of words) expect(longer).toContain(name.toLowerCase());
      }),
    );
  });

  it('a long request without a space is read in one pass', () => {
    expect(namesMentioned('x'.repeat(1_000_000)).size).toBe(1);
    expect(namesMentioned(`${'x'.repeat(5000)} ${'"'.repeat(5000)}`).size).toBe(1);
  });
});
