import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import { toDeclaration, toSignature, toTypeScript } from '../../src/formats/typescript.ts';
import { defineTool } from '../../src/index.ts';

const signature = (input: JsonSchema, output?: JsonSchema) =>
  toSignature({ name: 'tool', input, ...(output !== undefined && { output }) });
const of = (schema: JsonSchema) =>
  signature({ type: 'object', properties: {} }, schema).slice('tool(): Promise<'.length, -1);

describe('a JSON Schema as a TypeScript type', () => {
  it.each<[JsonSchema, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ enum: ['a', 1, null] }, '"a" | 1 | null'],
    [{ const: true }, 'true'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] }, '[string, number]'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, '{ a: string }'],
    [{ type: 'object', properties: { 'a-b': {} } }, '{ "a-b"?: unknown }'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'string | number'],
    [
      { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: {} } }] },
      '{ a?: string } & { b?: unknown }',
    ],
    [{ $ref: '#/$defs/town', $defs: { town: { type: 'string' } } }, 'string'],
    [{ $ref: 'https://example.com/schema.json' }, 'unknown'],
    [{ $ref: '#/nowhere' }, 'unknown'],
    [{}, 'unknown'],
  ])('%j', (schema, type) => expect(of(schema)).toBe(type));

  it('ends for a schema that refers to itself', () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' } } };
    expect(of(tree)).toContain('next?: { next?:');
    expect(of({ $ref: '#' })).toBe('unknown');
  });

  it('cuts huge objects and unions', () => {
    const properties = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`p${n}`, { type: 'string' }]));
    expect(of({ type: 'object', properties }).length).toBeLessThan(2000);
    expect(of({ enum: Array.from({ length: 500 }, (_, n) => n) }).length).toBeLessThan(300);
  });
});

it('the input is optional if nothing in it is required, and absent if it is empty', () => {
  expect(signature({ type: 'object', properties: { a: { type: 'string' } } })).toBe(
    'tool(input?: { a?: string }): Promise<unknown>',
  );
  expect(signature({ type: 'object', properties: {} })).toBe('tool(): Promise<unknown>');
  expect(signature({ type: 'object' })).toBe('tool(input?: Record<string, unknown>): Promise<unknown>');
});

it('a description cannot end its comment', () => {
  const spec = defineTool({
    name: 'a-b',
    description: 'Say */ process.exit() /* it\nmore',
    input: { type: 'object', properties: {} },
    run: () => 1,
  });
  expect(toDeclaration(spec)).toBe('/** Say * / process.exit() /* it */\n"a-b"(): Promise<unknown>;');
});

it('the module declares tools, search, input and ToolError', () => {
  const text = toTypeScript([
    defineTool({ name: 'add', description: 'Add', input: { type: 'object', properties: {} }, run: () => 1 }),
  ]);
  for (const part of [
    'export interface Tools {',
    '  add(): Promise<unknown>;',
    'const tools: Tools',
    'function search(',
  ])
    expect(text).toContain(part);
});
