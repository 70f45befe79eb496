import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import {
  fromOpenAICalls,
  fromOpenAIResponsesCalls,
  toOpenAI,
  toOpenAIResponses,
  toOpenAIResponsesResults,
  toOpenAIResults,
} from '../../src/formats/openai.ts';
import { answerAll, ECHOED, PICTURE, PNG, RECURSIVE, REFUSED, specOf } from './specs.ts';

/** A client whose server answers with these bodies in turn and keeps what it was sent. */
function recordedClient(...bodies: unknown[]): { client: OpenAI; sent: Record<string, unknown>[] } {
  const sent: Record<string, unknown>[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }) => {
    sent.push(JSON.parse(String(init?.body)));
    return Response.json(bodies[sent.length - 1]);
  };
  return { client: new OpenAI({ apiKey: 'none', fetch }), sent };
}

function completion(message: object): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message }],
  };
}

function parametersOf(input: JsonSchema): JsonSchema | undefined {
  return toOpenAI([specOf('tool', { input })])[0]?.function.parameters;
}

const TOOL_CALL = { id: 'call_1', type: 'function', function: { name: 'echo', arguments: '{"text":"hi"}' } };

describe('chat completions', () => {
  test('a whole turn goes through the OpenAI client', async () => {
    const { client, sent } = recordedClient(
      completion({
        role: 'assistant',
        content: null,
        tool_calls: [TOOL_CALL, { ...TOOL_CALL, id: 'call_2', function: { name: 'echo', arguments: '{"text":' } }],
      }),
      completion({ role: 'assistant', content: 'done' }),
    );
    const tools: OpenAI.ChatCompletionTool[] = toOpenAI([specOf('echo')]);
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Echo hi' }];
    const first = await client.chat.completions.create({ model: 'm', messages, tools });
    const said = first.choices[0]?.message;
    if (said === undefined) throw new Error('no message');
    const requests = fromOpenAICalls(said);
    expect(requests).toEqual([
      { id: 'call_1', name: 'echo', input: { text: 'hi' } },
      { id: 'call_2', name: 'echo', input: '{"text":' },
    ]);
    expect(fromOpenAICalls(first)).toEqual(requests);
    messages.push(
      said,
      ...toOpenAIResults(answerAll(requests, ({ input }) => (typeof input === 'string' ? REFUSED : ECHOED))),
    );
    await client.chat.completions.create({ model: 'm', messages, tools });
    expect(sent[1]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', tool_call_id: 'call_1', content: '{"echo":"hi"}' },
      {
        role: 'tool',
        tool_call_id: 'call_2',
        content: 'invalid_input: The arguments do not fit.\n- /text: must be a string',
      },
    ]);
    expect(sent[0]?.tools).toEqual([
      { type: 'function', function: { name: 'echo', description: 'What echo does', parameters: specOf('echo').input } },
    ]);
  });

  test('128 tools are exported, and 129 are an error that says what to do', () => {
    const specs = Array.from({ length: 129 }, (_, index) => specOf(`tool_${index}`));
    expect(toOpenAI(specs.slice(1))).toHaveLength(128);
    expect(() => toOpenAI(specs)).toThrow(/at most 128 tools, but 129 were given/);
    expect(() => toOpenAIResponses(specs)).toThrow(expect.objectContaining({ code: 'too_many_tools' }));
  });

  test('a description of 5,000 characters is cut at 1,024 with an ellipsis', () => {
    const [tool] = toOpenAI([specOf('wordy', { description: 'x'.repeat(5000) })]);
    expect(tool?.function.description).toBe(`${'x'.repeat(1023)}…`);
    for (const description of ['🙂'.repeat(2000), `x${'🙂'.repeat(2000)}`]) {
      const cut = toOpenAI([specOf('wordy', { description })])[0]?.function.description;
      expect(cut?.isWellFormed()).toBe(true);
      expect(cut?.length).toBeLessThanOrEqual(1024);
    }
    const [whole] = toOpenAI([specOf('wordy', { description: 'x'.repeat(1024) })]);
    expect(whole?.function.description).toHaveLength(1024);
  });

  test('a schema that OpenAI accepts is passed on unchanged', () => {
    const input = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        a: { type: ['string', 'null'], default: null, pattern: '^x' },
        b: { oneOf: [{ const: 1 }, { type: 'array', items: {} }] },
      },
      patternProperties: { '^x-': true },
      additionalProperties: false,
    };
    expect(parametersOf(input)).toEqual(input);
  });

  test('alternatives at the root are merged into one object', () => {
    const input = {
      description: 'Either',
      oneOf: [
        {
          type: 'object',
          properties: { kind: { const: 'file' }, path: { type: 'string' } },
          required: ['kind', 'path'],
        },
        { $ref: '#/$defs/url' },
      ],
      $defs: {
        url: {
          type: 'object',
          properties: { kind: { const: 'url' }, url: { type: 'string' } },
          required: ['kind', 'url'],
        },
      },
    };
    expect(parametersOf(input)).toEqual({
      description: 'Either',
      type: 'object',
      properties: {
        kind: { anyOf: [{ const: 'file' }, { const: 'url' }] },
        path: { type: 'string' },
        url: { type: 'string' },
      },
      required: ['kind'],
      $defs: input.$defs,
    });
  });

  test('keywords that OpenAI forbids at the root are removed, and required ones are added', () => {
    expect(parametersOf({ not: { required: ['x'] }, enum: [{}], const: {} })).toEqual({
      type: 'object',
      properties: {},
    });
    expect(parametersOf({})).toEqual({ type: 'object', properties: {} });
    expect(parametersOf({ type: ['object', 'null'] })).toMatchObject({ type: 'object' });
  });

  test('every array has a schema for its items', () => {
    const tuple = { type: 'array', items: [{ type: 'number' }, { type: 'number' }], additionalItems: false };
    const input = {
      type: 'object',
      properties: { a: { type: 'array' }, b: { type: ['string', 'array'] }, c: tuple, d: { items: true } },
    };
    expect(parametersOf(input)?.properties).toEqual({
      a: { type: 'array', items: {} },
      b: { type: ['string', 'array'], items: {} },
      c: { type: 'array', prefixItems: tuple.items, items: {}, maxItems: 2 },
      d: { items: true },
    });
  });

  test('a recursive root becomes an object that still refers to its definition', () => {
    expect(parametersOf(RECURSIVE)).toMatchObject({
      type: 'object',
      properties: { label: { type: 'string' } },
      required: ['label'],
      $defs: RECURSIVE.$defs,
    });
    expect(parametersOf(RECURSIVE)).not.toHaveProperty('$ref');
  });

  test('missing arguments mean an empty object, and invalid entries still get a request each', () => {
    const call = (written: unknown) => ({ id: 'c', type: 'function', function: { name: 'now', arguments: written } });
    const calls = [
      call(''),
      call(undefined),
      call({ a: 1 }),
      null,
      7,
      { id: 'x', type: 'custom', custom: { name: 'grep', input: 'a|b' } },
    ];
    expect(fromOpenAICalls({ role: 'assistant', tool_calls: calls })).toEqual([
      { id: 'c', name: 'now', input: {} },
      { id: 'c', name: 'now', input: {} },
      { id: 'c', name: 'now', input: { a: 1 } },
      { name: '', input: {} },
      { name: '', input: {} },
      { id: 'x', name: 'grep', input: 'a|b' },
    ]);
  });

  test('media that a tool message cannot carry are noted', () => {
    const [message] = toOpenAIResults([{ id: 'c', name: 'look', result: PICTURE }]);
    expect(message?.content.split('\n')).toEqual([
      'The page',
      '[image/png, 8 bytes, cannot be shown here]',
      '[audio/wav, 4 bytes, cannot be shown here]',
      '[link: a.txt, https://example.com/a.txt]',
      '[file:///notes.txt]',
      'remember',
      '[b.pdf, application/pdf, 5 bytes, cannot be shown here]',
    ]);
  });
});

describe('responses', () => {
  test('a whole turn goes through the OpenAI client', async () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'echo', arguments: '{"text":"hi"}' };
    const body = { id: 'resp_1', object: 'response', output: [{ type: 'reasoning', id: 'rs_1', summary: [] }, call] };
    const { client, sent } = recordedClient(body, { ...body, output: [] });
    const tools: OpenAI.Responses.Tool[] = toOpenAIResponses([specOf('echo')]);
    const first = await client.responses.create({ model: 'm', input: 'Echo hi', tools });
    const requests = fromOpenAIResponsesCalls(first);
    expect(requests).toEqual([{ id: 'call_1', name: 'echo', input: { text: 'hi' } }]);
    expect(fromOpenAIResponsesCalls(first.output)).toEqual(requests);
    const input: OpenAI.Responses.ResponseInputItem[] = toOpenAIResponsesResults(answerAll(requests, () => ECHOED));
    await client.responses.create({ model: 'm', previous_response_id: first.id, input, tools });
    expect(sent[1]?.input).toEqual([{ type: 'function_call_output', call_id: 'call_1', output: '{"echo":"hi"}' }]);
    expect(sent[0]?.tools).toEqual([
      {
        type: 'function',
        name: 'echo',
        description: 'What echo does',
        parameters: specOf('echo').input,
        strict: false,
      },
    ]);
  });

  test('a long description is passed on in full', () => {
    expect(toOpenAIResponses([specOf('wordy', { description: 'x'.repeat(5000) })])[0]?.description).toHaveLength(5000);
  });

  test('an output schema is kept if it describes an object', () => {
    const output = { type: 'object', properties: { n: { type: 'number' } } };
    const [tool, list] = toOpenAIResponses([
      specOf('count', { output }),
      specOf('list', { output: { type: 'array' } }),
    ]);
    expect(tool?.output_schema).toEqual(output);
    expect(list).not.toHaveProperty('output_schema');
  });

  test('images and PDF files are included, other media are noted', () => {
    const [item] = toOpenAIResponsesResults([{ id: 'c', name: 'look', result: PICTURE }]);
    expect(item?.output).toEqual([
      { type: 'input_text', text: 'The page' },
      { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
      { type: 'input_text', text: '[audio/wav, 4 bytes, cannot be shown here]' },
      { type: 'input_text', text: '[link: a.txt, https://example.com/a.txt]' },
      { type: 'input_text', text: '[file:///notes.txt]\nremember' },
      { type: 'input_file', filename: 'b.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
    ]);
  });
});
