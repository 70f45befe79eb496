import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolSpec } from '../../src/core/tool-spec.ts';
import { createRetriever } from '../../src/search/create-retriever.ts';
import { specOf } from './specs.ts';

const WORDS =
  'read write file mail send calendar event weather city convert money issue branch delete create list'.split(' ');
const word = fc.constantFrom(...WORDS, 'Überweisung', '文件管理', 'GitHub');
const phrase = fc.array(word, { minLength: 0, maxLength: 6 }).map((words) => words.join(' '));
const spec = fc
  .record({ name: fc.array(word, { minLength: 1, maxLength: 2 }), description: phrase, parameter: word, tag: word })
  .map(({ name, description, parameter, tag }) =>
    specOf(name.join('_'), description, {
      tags: [tag],
      input: { type: 'object', properties: { [parameter]: { description: tag } } },
    }),
  );
const step = fc.oneof(
  { weight: 3, arbitrary: spec.map((added) => ({ added, removed: undefined })) },
  { weight: 1, arbitrary: fc.nat(30).map((removed) => ({ added: undefined, removed })) },
);

/** What is left after the steps, in an order of its own. */
function play(steps: readonly { readonly added: ToolSpec | undefined; readonly removed: number | undefined }[]) {
  const retriever = createRetriever();
  const left = new Map<string, ToolSpec>();
  for (const { added, removed } of steps) {
    if (added !== undefined) {
      retriever.add([added]);
      left.set(added.name, added);
    } else {
      const name = [...left.keys()][(removed ?? 0) % Math.max(1, left.size)] ?? 'nobody';
      retriever.remove([name]);
      left.delete(name);
    }
  }
  return { retriever, left: [...left.values()] };
}

const requests = fc.array(fc.oneof(phrase, fc.constantFrom('calender', 'weath', 'read_file', 'gh')), { minLength: 1 });
const options = { limit: 5, minScore: 0 };

describe('adding and removing one tool does not rebuild the index and equals a rebuild', () => {
  it('after any additions and removals, the answers are those of a new index over the rest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), requests, async (steps, queries) => {
        const { retriever, left } = play(steps);
        const rebuilt = createRetriever();
        rebuilt.add(left.toReversed());
        for (const query of queries)
          expect(await retriever.rank(query, options)).toEqual(await rebuilt.rank(query, options));
      }),
    );
  });

  it('earlier searches do not affect tools that were added since', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), requests, async (steps, queries) => {
        const asked = createRetriever();
        const left = new Map<string, ToolSpec>();
        for (const { added, removed } of steps) {
          for (const query of queries) await asked.rank(query, options);
          const name = [...left.keys()][(removed ?? 0) % Math.max(1, left.size)] ?? 'nobody';
          if (added === undefined) asked.remove([name]);
          else asked.add([added]);
          if (added === undefined) left.delete(name);
          else left.set(added.name, added);
        }
        const rebuilt = createRetriever();
        rebuilt.add([...left.values()]);
        for (const query of queries)
          expect(await asked.rank(query, options)).toEqual(await rebuilt.rank(query, options));
      }),
    );
  });

  it('a snapshot in between changes no answer, whatever is added and removed after it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 20 }),
        fc.array(spec, { maxLength: 5 }),
        requests,
        async (steps, more, queries) => {
          const { retriever, left } = play(steps);
          const restored = createRetriever({ snapshot: retriever.snapshot() });
          const kept = left.slice(0, Math.ceil(left.length / 2));
          restored.add([...kept, ...more]);
          const rebuilt = createRetriever();
          rebuilt.add([...kept, ...more]);
          for (const query of queries)
            expect(await restored.rank(query, options)).toEqual(await rebuilt.rank(query, options));
        },
      ),
    );
  });

  it('equal input gives equal output', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(spec, { maxLength: 20 }), phrase, async (specs, query) => {
        const retriever = createRetriever();
        retriever.add(specs);
        expect(await retriever.rank(query, options)).toEqual(await retriever.rank(query, options));
      }),
    );
  });

  it('fewer hits are the first of more, also if usage decides ties', async () => {
    const limit = fc.oneof(fc.nat(12), fc.double({ min: 0, max: 12, noNaN: true }));
    const used = fc.option(fc.dictionary(word, fc.nat(2)), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.array(spec, { maxLength: 30 }), phrase, limit, used, async (specs, query, few, counts) => {
        const retriever = createRetriever();
        retriever.add(specs);
        const usage = counts && { usage: (name: string) => counts[name.split('_')[0] ?? ''] ?? 0 };
        const all = await retriever.rank(query, { limit: 50, minScore: 0, ...usage });
        expect(await retriever.rank(query, { limit: few, minScore: 0, ...usage })).toEqual(all.slice(0, few));
      }),
    );
  });
});
