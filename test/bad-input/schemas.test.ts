import { describe, expect, it, vi } from 'vitest';
import { createCrib, type JsonSchema, type ToolInput } from '../../src/index.ts';
import { wrong } from './wrong.ts';

const run = vi.fn(() => 'ran');
const tool = (more: object): ToolInput => ({ name: 'tool', description: '', run, ...more });

/** What a caller gets, or that there is nothing to call. */
async function codeOf(given: ToolInput): Promise<string> {
  run.mockClear();
  try {
    const result = await (await (await createCrib({ tools: [given] })).open()).call('tool', { a: 'x' });
    return result.status === 'failed' ? result.error.code : result.status;
  } catch (error) {
    return (error as Error).name; // createCrib rejects with errors only
  }
}

const BROKEN: readonly (readonly [string, JsonSchema])[] = [
  ['a type that does not exist', { type: 'object', properties: { a: { type: 'strnig' } } }],
  ['a limit that is not a number', { type: 'object', properties: { a: { minLength: 'five' } } }],
  ['an enum that is not a list', { type: 'object', properties: { a: { enum: 'x' } } }],
  ['properties that are a list', { type: 'object', properties: ['a'] }],
  ['required that is a text', { type: 'object', required: 'a' }],
  ['a reference to nowhere', { type: 'object', properties: { a: { $ref: '#/$defs/nowhere' } } }],
  ['a dialect that does not exist', { $schema: 'https://example.com/my-dialect', type: 'object' }],
  ['a pattern that is not a regular expression', { type: 'object', properties: { a: { pattern: '(' } } }],
];

describe('a schema that does not compile', () => {
  it.each(BROKEN)('input: %s: the tool never runs', async (_, input) => {
    expect(['ToolcribError', 'unavailable']).toContain(await codeOf(tool({ input })));
    expect(run).not.toHaveBeenCalled();
  });

  it.each(BROKEN)('output: %s: no unchecked result is returned', async (_, output) => {
    expect(['ToolcribError', 'invalid_output', 'unavailable']).toContain(await codeOf(tool({ output })));
  });

  it('does not keep other tools from running', async () => {
    const crib = await createCrib({
      sources: [remote([tool({ input: BROKEN[0]?.[1] }), { ...tool({}), name: 'other' } as ToolInput])],
    }); // the same under another name
    const chest = await crib.open();
    expect(await chest.call('other')).toMatchObject({ ok: true });
    expect(await chest.call('tool', { a: 'x' })).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining('"tool"') },
    });
  });
});

describe('a schema that refers to itself without end', () => {
  it('gets an answer', async () => {
    const input = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(['ToolcribError', 'unavailable', 'invalid_input']).toContain(await codeOf(tool({ input })));
  });
});

function remote(tools: readonly ToolInput[]) {
  return {
    name: 'remote',
    start: async () => ({
      specs: () => wrong(tools),
      onChange: () => () => {},
      status: () => ({ state: 'ready' }) as const,
      close: async () => {},
    }),
  };
}
