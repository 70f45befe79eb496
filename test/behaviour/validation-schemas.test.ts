import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  type AnySchema,
  type Approve,
  createCrib,
  defineExtension,
  defineTool,
  type ToolSpec,
} from '../../src/index.ts';

async function call(tool: ToolSpec, input: unknown, approve?: Approve) {
  const crib = await createCrib({ tools: [tool] });
  return (await crib.open(undefined, approve === undefined ? {} : { approve })).call(tool.name, input);
}

describe.each<[string, AnySchema]>([
  ['zod', z.object({ count: z.number().min(1), unit: z.enum(['kg', 'lb']) })],
  ['arktype', type({ count: 'number >= 1', unit: "'kg' | 'lb'" })],
  [
    'valibot',
    toStandardJsonSchema(v.object({ count: v.pipe(v.number(), v.minValue(1)), unit: v.picklist(['kg', 'lb']) })),
  ],
  [
    'a raw JSON Schema',
    {
      type: 'object',
      properties: { count: { type: 'number', minimum: 1 }, unit: { enum: ['kg', 'lb'] } },
      required: ['count', 'unit'],
    },
  ],
])('a tool whose schema is written in %s', (_, input) => {
  const run = vi.fn((given: unknown) => given);
  const weigh = defineTool({ name: 'weigh', description: 'Weighs', input, run });

  it('shows a JSON Schema', () => {
    expect(weigh.input).toMatchObject({
      type: 'object',
      properties: { count: { minimum: 1 }, unit: { enum: ['kg', 'lb'] } },
      required: ['count', 'unit'],
    });
    expect(JSON.parse(JSON.stringify(weigh.input))).toEqual(weigh.input);
  });

  it('runs with valid arguments', async () => {
    expect(await call(weigh, { count: 2, unit: 'kg' })).toMatchObject({ ok: true, data: { count: 2, unit: 'kg' } });
  });

  it('lists the issues of invalid arguments, with paths, and does not run', async () => {
    run.mockClear();
    const result = await call(weigh, { count: 0, unit: 'stone' });
    expect(result).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
    const issues = result.status === 'failed' ? (result.error.issues ?? []) : [];
    expect(issues.map((issue) => issue.path).sort()).toEqual(['/count', '/unit']);
    expect(run).not.toHaveBeenCalled();
  });
});

describe("an author's own schema", () => {
  const AT = z.object({ at: z.string().transform((text) => new Date(text)) });

  it('a transform reaches the tool', async () => {
    const tool = defineTool({ name: 'plan', description: '', input: AT, run: ({ at }) => at.getUTCFullYear() });
    expect(await call(tool, { at: '2030-05-01' })).toMatchObject({ data: 2030 });
  });

  it('approval sees JSON', async () => {
    const approve = vi.fn<Approve>(() => true);
    const tool = defineTool({ name: 'plan', description: '', input: AT, policy: { approval: 'always' }, run: () => 1 });
    await call(tool, { at: '2030-05-01' }, approve);
    expect(approve.mock.calls[0]?.[0].arguments).toEqual({ at: '2030-05-01' });
  });

  it('extensions see JSON as call.input', async () => {
    const seen: unknown[] = [];
    const tool = defineTool({ name: 'plan', description: '', input: AT, run: () => 1 });
    const crib = await createCrib({
      tools: [tool],
      extensions: [defineExtension({ name: 'look', before: (call) => void seen.push(call.input) })],
    });
    await (await crib.open()).call('plan', { at: '2030-05-01' });
    expect(seen).toEqual([{ at: '2030-05-01' }]);
  });

  it('approval sees the transformed JSON, and the tool gets it', async () => {
    const approve = vi.fn<Approve>(() => true);
    const input = z.object({ name: z.string().trim() });
    const tool = defineTool({
      name: 'greet',
      description: '',
      input,
      policy: { approval: 'always' },
      run: ({ name }) => name,
    });
    expect(await call(tool, { name: '  Ann ' }, approve)).toMatchObject({ content: [{ text: 'Ann' }] });
    expect(approve.mock.calls[0]?.[0].arguments).toEqual({ name: 'Ann' });
  });

  it('an asynchronous refinement is awaited', async () => {
    const free = z.object({ name: z.string().refine(async (name) => name !== 'taken', 'is taken') });
    const run = vi.fn(() => 'ok');
    const tool = defineTool({ name: 'claim', description: '', input: free, run });
    expect(await call(tool, { name: 'mine' })).toMatchObject({ ok: true });
    expect(await call(tool, { name: 'taken' })).toMatchObject({
      error: { code: 'invalid_input', issues: [{ path: '/name', message: 'is taken' }] },
    });
    expect(run).toHaveBeenCalledOnce();
  });

  it('a refinement that throws refuses the call and does not reveal the message', async () => {
    const input = z.object({ name: z.string() }).refine(() => {
      throw new Error('password is hunter2');
    });
    const run = vi.fn();
    const result = await call(defineTool({ name: 'claim', description: '', input, run }), { name: 'x' });
    expect(result).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect(run).not.toHaveBeenCalled();
  });

  it('defaults are filled in and the object of the caller is never touched', async () => {
    const input = z.object({ page: z.number().default(1) });
    const given = {};
    expect(
      await call(defineTool({ name: 'list', description: '', input, run: ({ page }) => page }), given),
    ).toMatchObject({ data: 1 });
    expect(given).toEqual({});
  });

  it('a schema that changes its input in place changes a copy', async () => {
    const input = z.object({ list: z.array(z.number()) }).transform((value) => {
      value.list.push(99);
      return value;
    });
    const given = { list: [1] };
    await call(defineTool({ name: 'list', description: '', input, run: () => 1 }), given);
    expect(given).toEqual({ list: [1] });
  });

  it('a custom output schema is validated, too, and the answer stays unchanged', async () => {
    const output = z.object({ total: z.number() });
    const answer = (value: unknown) =>
      call(defineTool({ name: 'sum', description: '', input: {}, output, run: () => value as never }), {}); // wrong on purpose
    expect(await answer({ total: 1, extra: true })).toMatchObject({ ok: true, data: { total: 1, extra: true } });
    expect(await answer({ total: '1' })).toMatchObject({
      error: { code: 'invalid_output', issues: [{ path: '/total' }] },
    });
  });
});

describe('arguments, once validated', () => {
  it.each<[string, AnySchema]>([
    ['zod', z.object({ list: z.array(z.number()) })],
    ['a raw JSON Schema', { type: 'object' }],
  ])('are frozen for a tool with %s', async (_, input) => {
    const run = (given: { list: number[] }) => Object.isFrozen(given) && Object.isFrozen(given.list);
    const tool = defineTool({ name: 'tool', description: '', input, run: run as never }); // the type follows from either schema
    expect(await call(tool, { list: [1] })).toMatchObject({ data: true });
  });
});
