import { describe, expect, it } from 'vitest';
import type { ToolInput } from '../../../src/index.ts';
import { type CallAnswer, ERAS } from './eras.ts';
import { startGateway } from './gateway.ts';

/** Schemas that point at their own root and parts, and one that is not an object. */
const SCHEMAS = {
  object: {
    type: 'object',
    properties: { rows: { type: 'array', items: { $ref: '#/$defs/row' } } },
    required: ['rows'],
    $defs: { row: { type: 'string' } },
    additionalProperties: false,
  },
  tree: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { rows: { type: 'array', items: { type: 'string' } }, inner: { $ref: '#' } },
    required: ['rows'],
  },
  list: { type: 'array', items: { $ref: '#/definitions/row' }, definitions: { row: { type: 'string' } } },
  either: { anyOf: [{ type: 'object', required: ['rows'] }, { type: 'null' }] },
  nested: { type: 'array', items: { anyOf: [{ type: 'string' }, { $ref: '#' }] } },
  text: { type: 'string' },
} as const;

const answerOf = (name: string, rows: readonly string[]): unknown => {
  if (name === 'list') return rows;
  if (name === 'nested') return [...rows, rows];
  return name === 'text' ? rows.join('\n') : { rows };
};

const TOOLS = Object.entries(SCHEMAS).map(
  ([name, output]) =>
    ({
      name,
      description: `Answers by ${name}`,
      input: { type: 'object', properties: { count: { type: 'integer' } } },
      output,
      run: ({ count = 1 }: { count?: number }) => answerOf(name, Array(count).fill('a row of some length')),
    }) as ToolInput, // of schemas that are known not to be wrong
);

const KEEPING = { 'toolcrib.yaml': 'results: { offloadBytes: 2000 }\n' };

// The SDKs of both eras hold structured content to the schema that was listed, and refuse an answer without it.
describe.each(Object.entries(ERAS))('output schemas to a client of %s', (era, connect) => {
  const isModern = era === '2026-07-28';

  it.each(Object.keys(SCHEMAS))('%s: the listed schema is the one that is sent', async (name) => {
    const { url } = await startGateway({ tools: TOOLS });
    const client = await connect(url());
    const listed = (await client.list()).find((tool) => tool.name === name);
    const isObject = name === 'object' || name === 'tree';
    if (isModern || isObject)
      expect(listed?.outputSchema).toEqual(SCHEMAS[name as keyof typeof SCHEMAS]); // one of its keys
    else expect(listed?.outputSchema).toMatchObject({ type: 'object', required: ['result'] });
    const { structuredContent, isError } = await client.call(name, { count: 2 });
    expect(isError).not.toBe(true);
    const rows = answerOf(name, ['a row of some length', 'a row of some length']);
    expect(structuredContent).toEqual(isModern || isObject ? rows : { result: rows });
  });

  it.each(Object.keys(SCHEMAS))('%s: a notice about a large stored answer fits the listed schema', async (name) => {
    const { url } = await startGateway({ tools: TOOLS, files: KEEPING });
    const client = await connect(url());
    const names = (await client.list()).map((tool) => tool.name);
    expect(names).toContain('read_result');
    const small = await client.call(name, { count: 1 });
    expect(small.isError).not.toBe(true);
    const large: CallAnswer = await client.call(name, { count: 500 });
    expect(large.isError).not.toBe(true);
    const { id, bytes } =
      (large.structuredContent as Record<string, { id: string; bytes: number }>)['toolcrib/result'] ?? {};
    expect(bytes).toBeGreaterThan(2000);
    expect(large._meta?.['toolcrib/result']).toMatchObject({ id, bytes });
    expect(large.content[0]?.text).toContain(id);
    const part = await client.call('read_result', { id, grep: 'row', length: 100 });
    expect(part.content[0]?.text).toContain('a row of some length');
  });

  it('an answer that could not be stored is noted, too', async () => {
    const files = { 'toolcrib.yaml': 'results: { offloadBytes: 2000, quotaBytes: 10 }\n' };
    const { url } = await startGateway({ tools: TOOLS, files });
    const client = await connect(url());
    await client.list();
    expect(await client.call('object', { count: 500 })).toMatchObject({
      structuredContent: { 'toolcrib/result': { bytes: expect.any(Number) } },
      content: [{ text: expect.stringContaining('could not be stored') }],
    });
  });
});
