import { describe, expect, it } from 'vitest';
import { type Criteria, compileCriteria, flagsOf } from '../../src/core/selector.ts';
import { createRun, RUN } from '../../src/core/tool-spec.ts';
import { specOf } from './arbitraries.ts';

const SPECS = [
  specOf('read_file', { tags: ['files', 'read'], category: 'disk', effects: { readOnly: true }, title: 'Reader' }),
  specOf('write_file', { tags: ['files'], category: 'disk', effects: { readOnly: false }, meta: { slow: true } }),
  specOf('gh_issue', { source: 'gh', tags: ['read'], [RUN]: createRun({ kind: 'mcp' }), meta: { slow: false } }),
  specOf('plain'),
];

function matching(criteria: Criteria, flags?: ReadonlySet<string>): readonly string[] {
  const matches = compileCriteria(criteria, flags);
  return SPECS.filter((spec) => matches(spec, spec.name === 'plain' ? ['box'] : [])).map((spec) => spec.name);
}

describe('criteria', () => {
  it.each<[Criteria, readonly string[]]>([
    [{}, ['read_file', 'write_file', 'gh_issue', 'plain']],
    [{ tags: 'files' }, ['read_file', 'write_file']],
    [{ category: 'disk' }, ['read_file', 'write_file']],
    [{ category: 'd*' }, ['read_file', 'write_file']],
    [{ namePattern: '*_file' }, ['read_file', 'write_file']],
    [{ namePattern: 'file' }, []],
    [{ namePattern: /file/ }, ['read_file', 'write_file']],
    [{ kind: 'mcp' }, ['gh_issue']],
    [{ source: 'gh' }, ['gh_issue']],
    [{ bundle: 'box' }, ['plain']],
    [{ text: 'reader' }, ['read_file']],
    [{ text: 'does GH_issue what' }, ['gh_issue']],
    [{ readOnly: true }, ['read_file']],
    [{ readOnly: false }, ['write_file']],
    [{ slow: true }, ['write_file']],
    [{ slow: false }, ['gh_issue']],
  ])('%j finds %j.', (criteria, names) => {
    expect(matching(criteria)).toEqual(names);
  });

  it('Criteria combine with AND.', () => {
    expect(matching({ tags: 'read', category: 'disk' })).toEqual(['read_file']);
    expect(matching({ tags: 'read', source: 'gh', slow: false })).toEqual(['gh_issue']);
    expect(matching({ tags: 'read', category: 'disk', readOnly: false })).toEqual([]);
  });

  it('A criterion that is undefined counts as absent.', () => {
    expect(matching(Object.fromEntries([['category', undefined]]))).toHaveLength(SPECS.length);
  });

  it('tags = all of them, tagsAny = any.', () => {
    expect(matching({ tags: ['files', 'read'] })).toEqual(['read_file']);
    expect(matching({ tagsAny: ['files', 'read'] })).toEqual(['read_file', 'write_file', 'gh_issue']);
    expect(matching({ tagsAny: 'nothing' })).toEqual([]);
  });

  it('Tools without tags or category behave as [] and none.', () => {
    expect(matching({ tags: [] })).toContain('plain');
    expect(matching({ tagsAny: [] })).toEqual([]);
    expect(matching({ category: '*' })).not.toContain('plain');
  });

  it('A RegExp with a g or y flag has no memory of what it matched before.', () => {
    for (const flags of ['g', 'y', 'gy']) {
      const matches = compileCriteria({ namePattern: new RegExp('read', flags) });
      const answers = [1, 2, 3].map(() => SPECS.map((spec) => matches(spec, [])));
      expect(answers).toEqual(Array(3).fill([true, false, false, false]));
    }
  });

  it.each([
    [{ tag: 'x' }, 'Did you mean "tags"?'],
    [{ catgory: 'x' }, 'Did you mean "category"?'],
    [{ namePatern: '*' }, 'Did you mean "namePattern"?'],
    [{ zzzzzz: 1 }, '"zzzzzz" is not a criterion.'],
  ])('The unknown criterion in %j is an error naming the nearest known one.', (criteria, message) => {
    expect(() => compileCriteria(criteria)).toThrow(message);
  });

  it('Where the booleans that exist are known, another one is an error naming the nearest.', () => {
    expect(() => compileCriteria({ slwo: true }, new Set(['slow']))).toThrow('Did you mean "slow"?');
    expect(matching({ slow: true }, new Set(['slow']))).toEqual(['write_file']);
  });

  it.each([
    [{ namePattern: '(' }, 'neither a tool name nor a glob'],
    [{ namePattern: '' }, '"namePattern" takes a glob or a RegExp'],
    [{ namePattern: 7 }, '"namePattern" takes a glob or a RegExp'],
    [{ tags: 7 }, '"tags" takes a string or a list of strings'],
    [{ tagsAny: [7] }, '"tagsAny" takes a string or a list of strings'],
    [{ text: '' }, '"text" takes a string'],
    [{ source: ['gh'] }, '"source" takes a string'],
    [{ readOnly: 'yes' }, '"readOnly"'],
  ])('The bad value in %j is an error.', (criteria, message) => {
    expect(() => compileCriteria(criteria as Criteria)).toThrow(message); // what untyped code may pass
  });

  it('The booleans of a tool are those of its meta and its effects, and nothing else.', () => {
    const spec = specOf('t', { meta: { a: true, b: 'true', c: 1 }, effects: { readOnly: false } });
    expect([...flagsOf(spec)]).toEqual([
      ['a', true],
      ['readOnly', false],
    ]);
  });
});
