import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DenseTool } from '../../src/core/retriever.ts';
import { createToolQueue } from '../../src/search/dense/catch-up.ts';

const tool = (id: number, text = ''): DenseTool => ({ id, texts: [text] });

describe('tools that wait for their vectors', () => {
  it('come in the order they were added, and again from the first while they wait', () => {
    const queue = createToolQueue();
    for (const id of [3, 1, 2]) queue.add(tool(id));
    expect(queue.next(2).map(({ id }) => id)).toEqual([3, 1]);
    expect(queue.next(2).map(({ id }) => id)).toEqual([2]);
    expect(queue.next(2).map(({ id }) => id)).toEqual([3, 1]);
    expect(queue.count).toBe(3);
  });

  it('are the same as in a map', () => {
    const step = fc.record({ id: fc.nat(5), what: fc.constantFrom('add', 'delete', 'next') });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const queue = createToolQueue();
        const map = new Map<number, DenseTool>();
        for (const { id, what } of steps) {
          if (what === 'add') {
            const added = tool(id, `${map.size}`);
            queue.add(added);
            map.set(id, added);
          } else if (what === 'delete') {
            queue.delete(id);
            map.delete(id);
          } else {
            const next = queue.next(2);
            expect(next.length > 0).toBe(map.size > 0);
            for (const one of next) expect(map.get(one.id)).toBe(one);
          }
          expect(queue.count).toBe(map.size);
          for (let known = 0; known <= 5; known += 1) expect(queue.has(known)).toBe(map.has(known));
        }
        // Nothing that waits is passed over.
        const seen = new Set<DenseTool>();
        for (let turn = 0; turn < 12; turn += 1) for (const one of queue.next(1)) seen.add(one);
        expect(seen).toEqual(new Set(map.values()));
      }),
    );
  });

  it('a tool that was replaced during the work is distinguished from the other', () => {
    const queue = createToolQueue();
    const before = tool(1);
    queue.add(before);
    const [taken] = queue.next(1);
    expect(taken).toBe(before);
    queue.add(tool(1));
    expect(queue.holds(before)).toBe(false);
    expect(queue.count).toBe(1);
  });

  it('one that is replaced repeatedly occurs once', () => {
    const queue = createToolQueue();
    queue.add(tool(0));
    for (let turn = 0; turn < 10_000; turn += 1) queue.add(tool(1));
    expect(queue.next(10_000).map(({ id }) => id)).toEqual([0, 1]);
  });
});
