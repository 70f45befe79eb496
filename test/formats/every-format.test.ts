import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freezeJson, type JsonSchema } from '../../src/core/json.ts';
import type { CallRequest } from '../../src/core/tool-call.ts';
import { ToolcribError, toolError } from '../../src/core/tool-error.ts';
import { type CallAnswer, failed } from '../../src/core/tool-result.ts';
import type { ToolSpec } from '../../src/core/tool-spec.ts';
import { fromAiSdkCalls, toAiSdk, toAiSdkResults } from '../../src/formats/ai-sdk.ts';
import { fromAnthropicCalls, toAnthropic, toAnthropicResults } from '../../src/formats/anthropic.ts';
import { fromGeminiCalls, toGemini, toGeminiResults } from '../../src/formats/gemini.ts';
import { fromLangChainCalls, toLangChain, toLangChainResults } from '../../src/formats/langchain.ts';
import { fromMcpCalls, toMcp, toMcpResults } from '../../src/formats/mcp.ts';
import {
  fromOpenAICalls,
  fromOpenAIResponsesCalls,
  toOpenAI,
  toOpenAIResponses,
  toOpenAIResponsesResults,
  toOpenAIResults,
} from '../../src/formats/openai.ts';
import { ECHOED, PICTURE, RECURSIVE, REFUSED, SECRET, specOf, WAITING } from './specs.ts';

interface Format {
  readonly name: string;
  readonly to: (specs: readonly ToolSpec[]) => unknown;
  readonly from: (message: unknown) => CallRequest[];
  readonly results: (answers: readonly CallAnswer[]) => readonly unknown[];
}

const chest = { call: async () => ECHOED };
const FORMATS: readonly Format[] = [
  { name: 'OpenAI', to: toOpenAI, from: fromOpenAICalls, results: toOpenAIResults },
  {
    name: 'OpenAI responses',
    to: toOpenAIResponses,
    from: fromOpenAIResponsesCalls,
    results: toOpenAIResponsesResults,
  },
  { name: 'Anthropic', to: toAnthropic, from: fromAnthropicCalls, results: toAnthropicResults },
  { name: 'Gemini', to: toGemini, from: fromGeminiCalls, results: toGeminiResults },
  { name: 'MCP', to: toMcp, from: fromMcpCalls, results: toMcpResults },
  { name: 'AI SDK', to: (specs) => toAiSdk(specs, chest), from: fromAiSdkCalls, results: toAiSdkResults },
  {
    name: 'LangChain',
    to: (specs) => toLangChain(specs, chest),
    from: fromLangChainCalls,
    results: toLangChainResults,
  },
];

/** A schema that every kind of reduction has something to do with. */
function awkwardSchema(): JsonSchema {
  return {
    type: 'object',
    properties: { list: { type: 'array' }, 'pair[]': { type: 'array', items: [{ type: 'string' }] } },
    anyOf: [{ required: ['list'] }, { $ref: '#/definitions/other', title: 'Other' }],
    definitions: { other: { properties: { more: { type: 'string' } } } },
  };
}

function scribbleOver(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    scribbleOver(Reflect.get(value, key));
    Reflect.set(value, key, 'scribbled');
  }
}

/** Everything that a reader could find in a value, hidden and symbol keys included. */
function everythingIn(value: unknown): string {
  return `${JSON.stringify(value)}\n${inspect(value, { depth: Infinity, showHidden: true, maxArrayLength: null })}`;
}

// Close enough to real messages that every branch is reached with garbage in it.
const garbage = fc.anything({
  withNullPrototype: true,
  withBigInt: true,
  withSparseArray: true,
  withMap: true,
  withDate: true,
});
const call = fc.record(
  {
    type: fc.constantFrom('function', 'function_call', 'tool_use', 'tool-call', 'custom', 'tool_call'),
    id: garbage,
    call_id: garbage,
    toolCallId: garbage,
    name: garbage,
    toolName: garbage,
    arguments: fc.oneof(fc.string(), garbage),
    args: garbage,
    input: garbage,
    function: fc.oneof(garbage, fc.record({ name: garbage, arguments: fc.oneof(fc.json(), fc.string()) })),
    custom: garbage,
    functionCall: fc.oneof(garbage, fc.record({ name: garbage, args: garbage })),
  },
  { requiredKeys: [] },
);
const calls = fc.array(fc.oneof(call, garbage));
const message = fc.oneof(
  garbage,
  calls,
  fc.jsonValue(),
  fc.record(
    {
      tool_calls: calls,
      invalid_tool_calls: calls,
      toolCalls: calls,
      content: fc.oneof(calls, fc.string(), garbage),
      output: fc.oneof(calls, garbage),
      parts: fc.oneof(calls, garbage),
      candidates: fc.oneof(garbage, fc.array(fc.record({ content: fc.record({ parts: calls }) }))),
      choices: fc.oneof(garbage, fc.array(fc.record({ message: fc.record({ tool_calls: calls }) }))),
      method: fc.constantFrom('tools/call', 'tools/list'),
      params: fc.oneof(call, garbage),
    },
    { requiredKeys: [] },
  ),
);

describe.each(FORMATS)('$name', ({ to, from, results }) => {
  test('a definition does not contain how a tool runs', () => {
    const shown = everythingIn(to([specOf('leaky', { output: { type: 'object' }, title: 'Leaky' })]));
    expect(shown).toContain('leaky');
    expect(shown).not.toContain(SECRET);
    expect(shown).not.toContain('toolcrib.run');
  });

  test('two tools of one name are an error that names both sources', () => {
    const twins = [specOf('read', { source: 'files' }), specOf('read', { source: 'github' })];
    expect(() => to(twins)).toThrow(
      expect.objectContaining({ code: 'duplicate', message: expect.stringMatching(/read.*files.*github/) }),
    );
    expect(() => to(twins)).toThrow(ToolcribError);
  });

  test('the name is exported as it is', () => {
    expect(everythingIn(to([specOf('read_file-2')]))).toContain('read_file-2');
  });

  test('a definition can be changed without changing the spec', () => {
    const input = awkwardSchema();
    const output = { type: 'object', properties: { n: { type: 'number' } } };
    scribbleOver(to([specOf('shared', { input, output })]));
    expect(input).toEqual(awkwardSchema());
    expect(output.properties).toEqual({ n: { type: 'number' } });
  });

  test('a frozen spec can be exported', () => {
    expect(() => to([specOf('frozen', { input: freezeJson(awkwardSchema()) })])).not.toThrow();
  });

  test('a recursive schema keeps its recursion', () => {
    const shown = JSON.stringify(to([specOf('tree', { input: RECURSIVE })]));
    expect(shown).toContain('"$ref":"#/$defs/node"');
    expect(shown).toContain('"label"');
  });

  test('a schema that only refers to itself does not loop', () => {
    const loops: JsonSchema[] = [
      { $ref: '#' },
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
      { anyOf: [{ $ref: '#' }, { allOf: [{ $ref: '#/anyOf/1' }] }] },
      { $ref: '#/nowhere' },
      { $ref: 'https://example.com/remote.json' },
    ];
    expect(() => to(loops.map((input, index) => specOf(`loop_${index}`, { input })))).not.toThrow();
  });

  test('for any output of a model, reading never throws and returns well-formed requests', () => {
    fc.assert(
      fc.property(message, (said) => {
        for (const request of from(said)) {
          expect(typeof request.name).toBe('string');
          expect(['string', 'undefined']).toContain(typeof request.id);
          expect('input' in request).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('a message without calls has no requests', () => {
    for (const said of [undefined, null, '', 'text', 7, true]) expect(from(said)).toEqual([]);
  });

  test('results come in order, one for each answer', () => {
    const answers = ['one', 'two', 'three'].map((id) => ({
      id,
      name: 'echo',
      result: failed(toolError('denied', `No ${id}`)),
    }));
    const shown = results(answers).map((result) => JSON.stringify(result));
    expect(shown).toHaveLength(3);
    for (const [index, answer] of answers.entries()) expect(shown[index]).toContain(`No ${answer.id}`);
  });

  test('a failed result has code, message and issues, and never its cause', () => {
    const shown = everythingIn(results([{ id: 'c1', name: 'echo', result: REFUSED }]));
    expect(shown).toContain('invalid_input: The arguments do not fit.');
    expect(shown).toContain('/text: must be a string');
    expect(shown).not.toContain(SECRET);
  });

  test("a failed result has the tool's own text, once", () => {
    const result = {
      ...failed(toolError('tool_error', 'Disk full')),
      content: [
        { type: 'text', text: 'Disk full' },
        { type: 'text', text: '3 of 4 written' },
      ],
    } as const;
    const shown = JSON.stringify(results([{ id: 'c1', name: 'echo', result }]));
    expect(shown.match(/Disk full/g)).toHaveLength(1);
    expect(shown).toContain('tool_error: Disk full');
    expect(shown).toContain('3 of 4 written');
  });

  test('a waiting result has its id and its expiry', () => {
    const shown = JSON.stringify(results([{ id: 'c1', name: 'pay', result: WAITING }]));
    expect(shown).toContain('apr_1');
    expect(shown).toContain('2030-01-01T00:00:00.000Z');
  });

  test('data without content is shown as JSON', () => {
    const shown = JSON.stringify(
      results([{ id: 'c1', name: 'count', result: { ok: true, status: 'done', content: [], data: [41, 42] } }]),
    );
    expect(shown).toContain('[41,42]');
  });

  test('content that the format cannot carry is noted', () => {
    const shown = JSON.stringify(results([{ id: 'c1', name: 'look', result: PICTURE }]));
    for (const trace of [
      'The page',
      'image/png',
      'audio/wav',
      'https://example.com/a.txt',
      'remember',
      'application/pdf',
    ]) {
      expect(shown).toContain(trace);
    }
  });
});
