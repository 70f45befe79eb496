import { type } from 'arktype';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as z325 } from 'zod3';
import { z as z40 } from 'zod40';
import { z as z41 } from 'zod41';
import { z as z322 } from 'zod322';
import { createCrib, defineTool, type ToolCall, type ToolResult, type ToolSpec } from '../../src/index.ts';
import { createRetriever } from '../../src/search/tool-search.ts';

// `npm run typecheck` is what fails here; running them costs nothing.
describe('types', () => {
  it('the input of a tool is inferred from a zod schema, after its transforms', () => {
    defineTool({
      name: 'at',
      description: '',
      input: z.object({
        day: z.string().transform((text) => new Date(text)),
        count: z.number().default(1),
        note: z.string().optional(),
      }),
      run: (input, call) => {
        expectTypeOf(input).toEqualTypeOf<{ day: Date; count: number; note?: string | undefined }>();
        expectTypeOf(call).toEqualTypeOf<ToolCall>();
      },
    });
  });

  it('the input and the answer of a tool are inferred from schemas of every zod', () => {
    type Inferred = { day: Date; count: number; note?: string | undefined };
    const shown = (input: Inferred): Inferred => input;
    const named = { name: 'at', description: '' };
    const toDate = (text: string) => new Date(text);
    const of40 = z40.object({
      day: z40.string().transform(toDate),
      count: z40.number().default(1),
      note: z40.string().optional(),
    });
    const of41 = z41.object({
      day: z41.string().transform(toDate),
      count: z41.number().default(1),
      note: z41.string().optional(),
    });
    const of325 = z325.object({
      day: z325.string().transform(toDate),
      count: z325.number().default(1),
      note: z325.string().optional(),
    });
    const of322 = z322.object({
      day: z322.string().transform(toDate),
      count: z322.number().default(1),
      note: z322.string().optional(),
    });
    defineTool({ ...named, input: of40, run: (input) => expectTypeOf(shown(input)).toEqualTypeOf(input) });
    defineTool({ ...named, input: of41, run: (input) => expectTypeOf(shown(input)).toEqualTypeOf(input) });
    defineTool({ ...named, input: of325, run: (input) => expectTypeOf(shown(input)).toEqualTypeOf(input) });
    defineTool({ ...named, input: of322, run: (input) => expectTypeOf(shown(input)).toEqualTypeOf(input) });
    const ofMini = mini.object({ count: mini._default(mini.number(), 1) });
    defineTool({ ...named, input: ofMini, run: (input) => expectTypeOf(input).toEqualTypeOf<{ count: number }>() });
    // @ts-expect-error -- the answer is text, not a number
    defineTool({ ...named, input: of322, output: z322.object({ a: z322.string() }), run: () => ({ a: 1 }) });
  });

  it('the input of a tool is inferred from an arktype schema', () => {
    defineTool({
      name: 'ark',
      description: '',
      input: type({ city: 'string', 'days?': 'number' }),
      run: (input) => {
        expectTypeOf(input.city).toEqualTypeOf<string>();
        expectTypeOf(input.days).toEqualTypeOf<number | undefined>();
      },
    });
  });

  it('the input of a tool is inferred from a raw JSON Schema', () => {
    defineTool({
      name: 'raw',
      description: '',
      input: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          depth: { type: 'integer', default: 1 },
          mode: { enum: ['fast', 'slow'] },
          tags: { type: 'array', items: { type: 'string' } },
          range: { type: 'object', properties: { from: { type: 'number' } }, required: ['from'] },
          note: { type: ['string', 'null'] },
        },
        required: ['path', 'mode'],
      },
      run: (input) => {
        expectTypeOf(input.path).toEqualTypeOf<string>();
        expectTypeOf(input.depth).toEqualTypeOf<number>();
        expectTypeOf(input.mode).toEqualTypeOf<'fast' | 'slow'>();
        expectTypeOf(input.tags).toEqualTypeOf<string[] | undefined>();
        expectTypeOf(input.range).toEqualTypeOf<{ from: number } | undefined>();
        expectTypeOf(input.note).toEqualTypeOf<string | null | undefined>();
      },
    });
  });

  it('the return value of a tool is checked against its output schema', () => {
    const base = { description: '', input: z.object({}), output: z.object({ sum: z.number() }) };
    defineTool({ ...base, name: 'good', run: () => ({ sum: 1 }) });
    // @ts-expect-error the output schema wants a number
    defineTool({ ...base, name: 'bad', run: () => ({ sum: 'one' }) });
  });

  it('unknown options do not compile', () => {
    const base = { name: 'x', description: '', input: z.object({}), run: () => 1 };
    // @ts-expect-error there is no such option
    const crib = () => createCrib({ tolls: [] });
    // @ts-expect-error an effect is a boolean
    const tool = () => defineTool({ ...base, effects: { readOnly: 'yes' } });
    expectTypeOf(crib).toBeFunction();
    expectTypeOf(tool).toBeFunction();
  });

  it('a result is narrowed by its status', () => {
    const narrow = (result: ToolResult) => {
      if (result.ok) return result.content;
      return result.status === 'failed' ? result.error.code : result.waiting.id;
    };
    expectTypeOf(narrow).returns.not.toBeAny();
    expectTypeOf(defineTool<{ type: 'object' }>).returns.toEqualTypeOf<ToolSpec>();
  });

  it('a retriever without a crib returns the given tools', async () => {
    const retriever = createRetriever([{ name: 'a', description: '', cost: 1 }], { embeddings: 'none' });
    const [found] = await retriever.search('a', { filter: (tool) => tool.cost === 1 });
    expectTypeOf(found?.tool.cost).toEqualTypeOf<number | undefined>();
    expectTypeOf(found?.confidence).toEqualTypeOf<'high' | 'low' | undefined>();
    // @ts-expect-error -- a tool has a name
    expect(() => createRetriever([{ description: '' }])).toThrow('no name');
  });
});
