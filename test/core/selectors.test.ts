import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSelector, type Selector } from '../../src/core/selector.ts';
import { createRun, RUN } from '../../src/core/tool-spec.ts';
import { compileGlob } from '../../src/core/visible-text.ts';
import { specOf } from './arbitraries.ts';

const issue = specOf('gh_create_issue', {
  source: 'gh',
  tags: ['issues', 'write'],
  category: 'tracker',
  [RUN]: createRun({ kind: 'mcp' }),
});
const bare = specOf('read_file');

describe('compileGlob', () => {
  /** What a glob means, by the regular expression engine. */
  function reference(glob: string): RegExp {
    const parts = [...glob].map((c) => ({ '*': '[^]*', '?': '[^]' })[c] ?? c.replace(/[.+^$()|[\]\\{}]/, '\\$&'));
    return new RegExp(`^${parts.join('')}$`);
  }

  it('A glob matches the same texts as the equivalent regular expression.', () => {
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '.', '+'), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '+'), maxLength: 8 });
    fc.assert(
      fc.property(glob, text, (pattern, value) => {
        expect(compileGlob(pattern)(value)).toBe(reference(pattern).test(value));
      }),
      { numRuns: 2000 },
    );
  });

  it('A glob made from a text by putting stars for parts of it matches that text.', () => {
    const parts = fc.array(fc.tuple(fc.stringMatching(/^[a-z]{0,3}$/), fc.boolean()), { maxLength: 6 });
    fc.assert(
      fc.property(parts, (pieces) => {
        const glob = pieces.map(([piece, isStar]) => (isStar ? '*' : piece)).join('');
        expect(compileGlob(glob)(pieces.map(([piece]) => piece).join(''))).toBe(true);
      }),
    );
  });

  it('A pathological glob over a long text returns.', () => {
    const text = 'a'.repeat(20_000);
    expect(compileGlob('*a*a*a*a*a*a*a*a*b')(text)).toBe(false);
    expect(compileGlob(`${'*a'.repeat(200)}*`)(text)).toBe(true);
  });
});

describe('compileSelector', () => {
  it.each<[Selector, boolean, boolean]>([
    ['gh_create_issue', true, false],
    ['gh_*', true, false],
    ['gh_create_issu', false, false],
    ['create_issue', false, false],
    ['GH_*', false, false],
    ['*', true, true],
    ['read_fil?', false, true],
    ['tag:issues', true, false],
    ['tag:i*', true, false],
    ['tag:*', true, false],
    ['source:gh', true, false],
    ['source:c*', false, true],
    ['category:tracker', true, false],
    ['category:*', true, false],
    ['kind:mcp', true, false],
    ['kind:func*', false, true],
    ['bundle:work', true, false],
    ['bundle:w*', true, false],
    ['bundle:*', true, false],
    [{ source: 'gh', tags: ['issues'] }, true, false],
  ])('%j selects exactly what it says.', (selector, isIssue, isBare) => {
    const matches = compileSelector(selector);
    expect([matches(issue, ['home', 'work']), matches(bare, [])]).toEqual([isIssue, isBare]);
  });

  it.each([
    ['', 'is not a selector'],
    ['  ', 'is not a selector'],
    [null, 'is not a selector'],
    [undefined, 'is not a selector'],
    [7, 'is not a selector'],
    ['tags:x', 'Did you mean "tag"?'],
    ['sourc:x', 'Did you mean "source"?'],
    ['owner:x', 'known are bundle, tag, source, category, kind'],
    ['^gh_.*$', 'pass a RegExp as namePattern'],
    ['read file', 'neither a tool name nor a glob'],
  ])('%j is invalid and an error.', (selector, message) => {
    expect(() => compileSelector(selector as Selector)).toThrow(message); // what a file may hold in its place
  });
});
