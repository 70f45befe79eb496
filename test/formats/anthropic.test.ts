import Anthropic from '@anthropic-ai/sdk';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { failed } from '../../src/core/tool-result.ts';
import {
  type AnthropicTool,
  fromAnthropicCalls,
  toAnthropic,
  toAnthropicResults,
} from '../../src/formats/anthropic.ts';
import { answerAll, ECHOED, PICTURE, PNG, RECURSIVE, REFUSED, specOf, WAITING } from './specs.ts';

function recordedClient(...contents: unknown[]): { client: Anthropic; sent: Record<string, unknown>[] } {
  const sent: Record<string, unknown>[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }) => {
    sent.push(JSON.parse(String(init?.body)));
    return Response.json({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: contents[sent.length - 1],
    });
  };
  return { client: new Anthropic({ apiKey: 'none', fetch }), sent };
}

function schemaOf(input: JsonSchema): AnthropicTool['input_schema'] | undefined {
  return toAnthropic([specOf('tool', { input })])[0]?.input_schema;
}

test('a whole turn goes through the Anthropic client', async () => {
  const { client, sent } = recordedClient(
    [
      { type: 'text', text: 'Let me look' },
      { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} },
      { type: 'tool_use', id: 'toolu_1', name: 'echo', input: { text: 'hi' } },
      { type: 'tool_use', id: 'toolu_2', name: 'echo', input: { text: 7 } },
    ],
    [{ type: 'text', text: 'done' }],
  );
  const tools: Anthropic.Tool[] = toAnthropic([specOf('echo')]);
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Echo hi' }];
  const said = await client.messages.create({ model: 'm', max_tokens: 9, messages, tools });
  const requests = fromAnthropicCalls(said);
  expect(requests).toEqual([
    { id: 'toolu_1', name: 'echo', input: { text: 'hi' } },
    { id: 'toolu_2', name: 'echo', input: { text: 7 } },
  ]);
  const content: Anthropic.ToolResultBlockParam[] = toAnthropicResults(
    answerAll(requests, ({ id }) => (id === 'toolu_1' ? ECHOED : REFUSED)),
  );
  await client.messages.create({
    model: 'm',
    max_tokens: 9,
    messages: [...messages, { role: 'user', content }],
    tools,
  });
  expect(sent[1]?.messages).toMatchObject([
    {},
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: '{"echo":"hi"}' }] },
        { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true },
      ],
    },
  ]);
  expect(sent[0]?.tools).toEqual([{ name: 'echo', description: 'What echo does', input_schema: specOf('echo').input }]);
});

test('images and PDF files are separate blocks, other media are noted', () => {
  const [block] = toAnthropicResults([{ id: 't', name: 'look', result: PICTURE }]);
  expect(block?.content?.map(({ type }) => type)).toEqual(['text', 'image', 'text', 'text', 'text', 'document']);
  expect(block?.content?.[1]).toEqual({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: PNG },
  });
  expect(block).not.toHaveProperty('is_error');
});

test('a block marked as an error contains only text', () => {
  const result = { ...failed(toolError('tool_error', 'It broke')), content: PICTURE.ok ? PICTURE.content : [] };
  const blocks = toAnthropicResults([
    { id: 'a', name: 'look', result },
    { id: 'b', name: 'pay', result: WAITING },
  ]);
  for (const block of blocks) {
    expect(block.is_error).toBe(true);
    expect(new Set(block.content?.map(({ type }) => type))).toEqual(new Set(['text']));
  }
});

test('empty text is left out, since Anthropic refuses it', () => {
  const [block] = toAnthropicResults([
    { id: 't', name: 'quiet', result: { ok: true, status: 'done', content: [{ type: 'text', text: ' ' }] } },
  ]);
  expect(block).toEqual({ type: 'tool_result', tool_use_id: 't' });
});

test('alternatives at the root are merged, those further down are kept', () => {
  const input = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
    allOf: [{ properties: { c: { type: 'number' } }, required: ['c'] }],
    not: { required: ['d'] },
  };
  expect(schemaOf(input)).toEqual({
    type: 'object',
    properties: { ...input.properties, c: { type: 'number' } },
    required: ['c'],
    not: input.not,
  });
});

test('a property whose name Anthropic refuses is described by a pattern instead', () => {
  const long = 'x'.repeat(65);
  const input = {
    type: 'object',
    properties: {
      'filter[id]': { type: 'string' },
      $top: { type: 'integer' },
      [long]: true,
      'ok.name-1': { type: 'string' },
    },
    required: ['filter[id]'],
    additionalProperties: false,
  };
  const schema = schemaOf(input);
  expect(Object.keys(schema?.properties ?? {})).toEqual(['ok.name-1']);
  const validate = new Ajv2020().compile(schema ?? {});
  expect(validate({ 'filter[id]': 'a', $top: 3, [long]: 1, 'ok.name-1': 'b' })).toBe(true);
  expect(validate({ $top: 3 })).toBe(false);
  expect(validate({ 'filter[id]': 7 })).toBe(false);
  expect(validate({ 'filter[id]': 'a', 'filterXid]': 'a' })).toBe(false);
});

test('every schema is valid as draft 2020-12, which Anthropic requires', () => {
  const tuple = {
    type: 'array',
    items: [{ type: 'number' }, { type: 'array', items: [{ type: 'string' }] }],
    additionalItems: { type: 'null' },
  };
  const draft7 = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { pair: tuple },
    definitions: { t: tuple },
  };
  const ajv = new Ajv2020();
  expect(ajv.validateSchema(tuple)).toBe(false);
  expect(ajv.validateSchema(schemaOf(draft7) ?? {})).toBe(true);
  expect(schemaOf(draft7)?.properties).toEqual({
    pair: {
      type: 'array',
      prefixItems: [{ type: 'number' }, { type: 'array', prefixItems: [{ type: 'string' }] }],
      items: { type: 'null' },
    },
  });
  expect(ajv.validateSchema(schemaOf(RECURSIVE) ?? {})).toBe(true);
});

test('a property that is named like a keyword is not changed', () => {
  const input = {
    type: 'object',
    properties: { items: { type: 'string' }, properties: { type: 'object' } },
    default: { items: [1] },
  };
  expect(schemaOf(input)).toEqual(input);
});
