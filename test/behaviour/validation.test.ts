import { describe, expect, it, vi } from 'vitest';
import { createCrib, type Issue, type JsonSchema, retry, type Source, type ToolInput } from '../../src/index.ts';

const run = vi.fn((input: unknown) => input);

async function callWith(input: JsonSchema, given: unknown) {
  run.mockClear();
  const crib = await createCrib({ tools: [{ name: 'tool', description: '', input, run }] });
  return (await crib.open()).call('tool', given);
}

async function issuesOf(input: JsonSchema, given: unknown): Promise<readonly Issue[]> {
  const result = await callWith(input, given);
  expect(result).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
  return result.status === 'failed' ? (result.error.issues ?? []) : [];
}

const ORDER: JsonSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    size: { enum: ['small', 'large'] },
    mail: { type: 'string', format: 'email' },
    lines: { type: 'array', items: { type: 'object', properties: { amount: { type: 'number', minimum: 1 } } } },
  },
  required: ['id'],
  additionalProperties: false,
};

describe('arguments are validated', () => {
  it.each<[string, unknown, string, RegExp]>([
    ['missing required', {}, '/id', /required/],
    ['wrong type', { id: 'one' }, '/id', /integer/],
    ['enum', { id: 1, size: 'huge' }, '/size', /"small".*"large"/],
    ['format', { id: 1, mail: 'nobody' }, '/mail', /email/],
    ['additional properties', { id: 1, colour: 'red' }, '/colour', /known/],
    ['deep inside', { id: 1, lines: [{ amount: 2 }, { amount: 0 }] }, '/lines/1/amount', /1/],
  ])('%s', async (_, given, path, words) => {
    const issues = await issuesOf(ORDER, given);
    expect(issues).toEqual([{ path, message: expect.stringMatching(words) }]);
    expect(run).not.toHaveBeenCalled();
  });

  it('all issues are listed, with paths', async () => {
    const issues = await issuesOf(ORDER, { id: 'x', size: 'huge', lines: [{ amount: 'y' }] });
    expect(issues.map((issue) => issue.path).sort()).toEqual(['/id', '/lines/0/amount', '/size']);
  });

  it('valid arguments reach the tool unchanged', async () => {
    const given = { id: 1, size: 'large', mail: 'a@example.com', lines: [{ amount: 2 }] };
    expect(await callWith(ORDER, given)).toMatchObject({ ok: true, data: given });
  });

  it('types are not converted', async () => {
    expect(await issuesOf(ORDER, { id: '1' })).toHaveLength(1);
  });

  it('invalid arguments are never retried', async () => {
    const tool: ToolInput = {
      name: 'tool',
      description: '',
      input: ORDER,
      effects: { idempotent: true },
      policy: { retries: 5 },
      run,
    };
    run.mockClear();
    const crib = await createCrib({ tools: [tool], extensions: [retry({ firstDelayMs: 0 })] });
    expect(await (await crib.open()).call('tool', {})).toMatchObject({
      error: { code: 'invalid_input', retryable: false },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('inherited names of objects do not count as arguments', async () => {
    const schema = { type: 'object', properties: { constructor: { type: 'string' } }, required: ['constructor'] };
    expect(await issuesOf(schema, {})).toHaveLength(1);
  });
});

describe('defaults are applied', () => {
  const PAGED: JsonSchema = {
    type: 'object',
    properties: {
      page: { type: 'integer', default: 1 },
      sort: { type: 'object', properties: { by: { default: 'name' } } },
    },
  };

  it('at any depth', async () => {
    expect(await callWith(PAGED, { sort: {} })).toMatchObject({ data: { page: 1, sort: { by: 'name' } } });
  });

  it('on a copy: the object of the caller is never touched', async () => {
    const given = Object.freeze({ sort: Object.freeze({}) });
    expect(await callWith(PAGED, given)).toMatchObject({ ok: true });
    const mine = { sort: {} };
    await callWith(PAGED, mine);
    expect(mine).toEqual({ sort: {} });
  });

  it('again for every call', async () => {
    const schema = { type: 'object', properties: { list: { type: 'array', default: [] } } };
    const crib = await createCrib({
      tools: [{ name: 'tool', description: '', input: schema, run: (input: { list: number[] }) => input.list }],
    });
    const chest = await crib.open();
    const first = await chest.call('tool');
    if (first.ok && Array.isArray(first.data)) attemptPush(first.data);
    expect(await chest.call('tool')).toMatchObject({ data: [] });
  });

  function attemptPush(list: unknown[]) {
    try {
      list.push(1);
    } catch {
      // frozen: as good as a copy
    }
  }
});

describe("a schema's own dialect decides", () => {
  const pair = { type: 'array', items: [{ type: 'string' }, { type: 'number' }] };

  it.each([
    ['draft-07', 'http://json-schema.org/draft-07/schema#'],
    ['2019-09', 'https://json-schema.org/draft/2019-09/schema'],
  ])('%s: items as a list is a tuple', async (_, $schema) => {
    const schema = { $schema, type: 'object', properties: { pair } };
    expect(await callWith(schema, { pair: ['a', 1] })).toMatchObject({ ok: true });
    expect(await issuesOf(schema, { pair: ['a', 'b'] })).toMatchObject([{ path: '/pair/1' }]);
  });

  it.each([
    ['2020-12', 'https://json-schema.org/draft/2020-12/schema'],
    ['no dialect: 2020-12', undefined],
  ])('%s: prefixItems is a tuple', async (_, $schema) => {
    const schema = {
      ...($schema && { $schema }),
      type: 'object',
      properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] } },
    };
    expect(await callWith(schema, { pair: ['a', 1] })).toMatchObject({ ok: true });
    expect(await issuesOf(schema, { pair: ['a', 'b'] })).toMatchObject([{ path: '/pair/1' }]);
  });

  it('draft-07: prefixItems means nothing', async () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }] } },
    };
    expect(await callWith(schema, { pair: [1] })).toMatchObject({ ok: true });
  });
});

describe('limits of a schema', () => {
  const HOSTILE = { type: 'object', properties: { name: { type: 'string', pattern: '^(?=(a+)+$)(a+)+\\1$' } } };
  const remoteTool = (input: JsonSchema): ToolInput => ({ name: 'tool', description: '', input, run: () => 'ran' });
  const from = (tool: ToolInput): Source => ({
    name: 'remote',
    start: async () => ({
      specs: () => [tool] as never, // a plain tool, which the crib turns into a spec
      onChange: () => () => {},
      status: () => ({ state: 'ready' }),
      close: async () => {},
    }),
  });

  it('remote $ref is never fetched: an error at load in local specs', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const input = { type: 'object', properties: { a: { $ref: 'https://example.com/schema.json' } } };
    await expect(createCrib({ tools: [remoteTool(input)] })).rejects.toMatchObject({
      code: 'invalid_schema',
      message: expect.stringContaining('remote references are not fetched'),
    });
    expect(fetched).not.toHaveBeenCalled();
    fetched.mockRestore();
  });

  it('remote $ref is never fetched: a remote tool that has one is listed and answers unavailable', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    const input = { type: 'object', properties: { a: { $ref: 'https://example.com/schema.json' } } };
    const crib = await createCrib({ sources: [from(remoteTool(input))] });
    const chest = await crib.open();
    expect(chest.list()).toHaveLength(1);
    expect(await chest.call('tool', { a: 1 })).toMatchObject({ error: { code: 'unavailable' } });
    expect(fetched).not.toHaveBeenCalled();
    fetched.mockRestore();
  });

  it('a hostile pattern in a local spec is an error at load', async () => {
    await expect(createCrib({ tools: [remoteTool(HOSTILE)] })).rejects.toMatchObject({
      code: 'invalid_schema',
      message: expect.stringMatching(/"tool".*pattern/),
    });
  });

  it('a hostile pattern of a remote tool is left out of the validation and reported by check', async () => {
    const crib = await createCrib({ sources: [from(remoteTool(HOSTILE))] });
    expect(crib.warnings()).toContainEqual(expect.stringMatching(/"tool" of remote: pattern/));
    const chest = await crib.open();
    expect(await chest.call('tool', { name: `${'a'.repeat(60)}!` })).toMatchObject({ ok: true });
    expect(await chest.call('tool', { name: 5 })).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it('a pattern that would hang another engine is answered', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string', pattern: '^(a+)+$' } } };
    expect(await issuesOf(schema, { name: `${'a'.repeat(5000)}!` })).toMatchObject([{ path: '/name' }]);
  });
});

describe('output is validated where an output schema exists', () => {
  const OUTPUT = {
    type: 'object',
    properties: { total: { type: 'number' }, page: { default: 1 } },
    required: ['total'],
  };
  const answering = async (answer: unknown, output: JsonSchema = OUTPUT) => {
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', output, run: () => answer }] });
    return (await crib.open()).call('tool');
  };

  it('an answer that keeps the promise passes through, unchanged', async () => {
    expect(await answering({ total: 3, more: 1 })).toEqual({
      ok: true,
      status: 'done',
      content: [{ type: 'text', text: '{"total":3,"more":1}' }],
      data: { total: 3, more: 1 },
    });
  });

  it('an answer that breaks it is invalid_output, with the issues', async () => {
    expect(await answering({ total: 'three' })).toMatchObject({
      ok: false,
      error: { code: 'invalid_output', issues: [{ path: '/total', message: expect.stringContaining('number') }] },
    });
  });

  it('an answer in words is checked as words', async () => {
    expect(await answering('short', { type: 'string', maxLength: 5 })).toMatchObject({ ok: true });
    expect(await answering('too long', { type: 'string', maxLength: 5 })).toMatchObject({
      error: { code: 'invalid_output' },
    });
  });

  it('a failure is not an answer and keeps its code', async () => {
    const failure = { ok: false, status: 'failed', error: { code: 'conflict', message: 'taken', retryable: false } };
    expect(await answering(failure)).toEqual(failure);
  });

  it('without an output schema every answer passes', async () => {
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', run: () => ({ total: 'three' }) }] });
    expect(await (await crib.open()).call('tool')).toMatchObject({ ok: true });
  });
});

describe('a schema on which collecting all errors fails', () => {
  it('still reports the issues of the arguments', async () => {
    const input = {
      type: 'object',
      anyOf: [
        {
          patternProperties: { '^[ad]$': { type: 'string' } },
          anyOf: [{ properties: { e: { const: 'x' }, a: { type: 'string' } } }],
        },
        {},
      ],
      properties: { d: { type: 'string', minLength: 2 } },
    };
    const crib = await createCrib({ tools: [{ name: 'odd', description: '', input, run: () => 'ran' }] });
    expect(await (await crib.open()).call('odd', { d: 'x', e: 'yy' })).toMatchObject({
      error: { code: 'invalid_input', issues: [{ path: '/d' }] },
    });
  });
});
