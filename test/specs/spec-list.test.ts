import { describe, expect, it } from 'vitest';
import type { ToolSpec } from '../../src/core/tool-spec.ts';
import { createEntryReader } from '../../src/specs/spec-entry.ts';
import { describeProblems, keepKnown } from '../../src/specs/spec-list.ts';

function specOf(name: string, changes: object = {}): ToolSpec {
  return createEntryReader({ source: 's' })({
    name,
    description: name,
    run: { kind: 'http', url: 'https://x' },
    ...changes,
  });
}

const next = (specs: readonly ToolSpec[], problems: readonly { name?: string }[] = []) => ({
  entries: specs.map((spec) => ({ spec })),
  problems,
});

describe('a list that is read again', () => {
  it('keeps the object of an equal spec, in any order of keys', () => {
    const before = [specOf('a', { meta: { x: 1, y: [1, { z: null }] } })];
    const after = keepKnown(before, next([specOf('a', { meta: { y: [1, { z: null }], x: 1 } })]));
    expect(after[0]).toBe(before[0]);
  });

  it.each<[string, object]>([
    ['description', { description: 'other' }],
    ['schema', { input: { type: 'object', properties: { a: {} } } }],
    ['effects', { effects: { readOnly: true } }],
    ['a list by one item', { tags: ['x'] }],
    ['how it runs', { run: { kind: 'http', url: 'https://y' } }],
    ['a field of how it runs', { run: { kind: 'http', url: 'https://x', headers: {} } }],
    ['a list that became a map', { meta: { x: { 0: 'a' } } }],
  ])('uses the new object if its %s changed', (_, changes) => {
    const before = [specOf('a', { meta: { x: ['a'] }, tags: [] })];
    const changed = specOf('a', { meta: { x: ['a'] }, tags: [], ...changes });
    expect(keepKnown(before, next([changed]))).toEqual([changed]);
    expect(keepKnown(before, next([changed]))[0]).toBe(changed);
  });

  it('follows its new order', () => {
    const [a, b] = [specOf('a'), specOf('b')];
    expect(keepKnown([a, b], next([specOf('b'), specOf('a')]))).toEqual([b, a]);
  });

  it('drops removed entries', () => {
    expect(keepKnown([specOf('a'), specOf('b')], next([specOf('b')])).map(({ name }) => name)).toEqual(['b']);
  });

  it('keeps unreadable entries, and no removed ones', () => {
    const before = ['a', 'b', 'c'].map((name) => specOf(name));
    const after = keepKnown(before, next([specOf('c')], [{ name: 'b' }]));
    expect(after.map(({ name }) => name)).toEqual(['c', 'b']);
    expect(after[1]).toBe(before[1]);
  });

  it('counts nothing as removed while an entry has no readable name', () => {
    const before = ['a', 'b', 'c'].map((name) => specOf(name));
    expect(keepKnown(before, next([specOf('c')], [{}])).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
  });

  it('lists a bad entry beside a good one of the same name once', () => {
    expect(keepKnown([specOf('a')], next([specOf('a')], [{ name: 'a' }]))).toHaveLength(1);
  });

  it('leaves two entries of one name to the catalog', () => {
    expect(keepKnown([specOf('a')], next([specOf('a'), specOf('a', { description: 'two' })]))).toHaveLength(2);
  });
});

describe('problems', () => {
  it('are reported up to a limit', () => {
    const problems = Array.from({ length: 25 }, (_, index) => ({
      file: 'a.yaml',
      line: index + 1,
      index,
      message: 'It is bad.',
    }));
    const told = describeProblems(problems);
    expect(told).toHaveLength(21);
    expect(told[0]).toBe('a.yaml, line 1, tools[0]: It is bad.');
    expect(told[20]).toBe('a.yaml: 5 more entries are invalid.');
  });
});
