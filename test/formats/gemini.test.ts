import { type FunctionCall, GoogleGenAI, type Part, type Tool } from '@google/genai';
import { afterEach, expect, test, vi } from 'vitest';
import type { JsonSchema } from '../../src/core/json.ts';
import { done } from '../../src/core/tool-result.ts';
import { fromGeminiCalls, toGemini, toGeminiResults } from '../../src/formats/gemini.ts';
import { answerAll, ECHOED, PICTURE, PNG, RECURSIVE, REFUSED, specOf } from './specs.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A client whose server answers with these parts in turn and keeps what it was sent. */
function recordedClient(...turns: Part[][]): { client: GoogleGenAI; sent: Record<string, unknown>[] } {
  const sent: Record<string, unknown>[] = [];
  vi.stubGlobal('fetch', async (_url: unknown, init?: { body?: unknown }) => {
    sent.push(JSON.parse(String(init?.body)));
    return Response.json({ candidates: [{ content: { role: 'model', parts: turns[sent.length - 1] } }] });
  });
  return { client: new GoogleGenAI({ apiKey: 'none' }), sent };
}

function parametersOf(input: JsonSchema): JsonSchema | undefined {
  return toGemini([specOf('tool', { input })])[0]?.functionDeclarations[0]?.parametersJsonSchema;
}

test('a whole turn goes through the Gemini client', async () => {
  const functionCall: FunctionCall = { id: 'fc_1', name: 'echo', args: { text: 'hi' } };
  const { client, sent } = recordedClient(
    [{ text: 'Let me see' }, { functionCall, thoughtSignature: 'c2ln' }, { functionCall: { name: 'echo' } }],
    [{ text: 'done' }],
  );
  const tools: Tool[] = toGemini([specOf('echo', { output: { type: 'object' } })]);
  const said = await client.models.generateContent({ model: 'm', contents: 'Echo hi', config: { tools } });
  const requests = fromGeminiCalls(said);
  expect(requests).toEqual([
    { id: 'fc_1', name: 'echo', input: { text: 'hi' } },
    { name: 'echo', input: {} },
  ]);
  const content = said.candidates?.[0]?.content;
  expect(fromGeminiCalls(content)).toEqual(requests);
  const parts: Part[] = toGeminiResults(answerAll(requests, ({ id }) => (id === 'fc_1' ? ECHOED : REFUSED)));
  await client.models.generateContent({
    model: 'm',
    contents: [content ?? {}, { role: 'user', parts }],
    config: { tools },
  });
  expect(sent[1]?.contents).toMatchObject([
    { role: 'model' },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'fc_1', name: 'echo', response: { output: '{"echo":"hi"}' } } },
        { functionResponse: { name: 'echo', response: { error: expect.stringContaining('invalid_input') } } },
      ],
    },
  ]);
  expect(parts[1]?.functionResponse).not.toHaveProperty('id');
  expect(sent[0]?.tools).toEqual([
    {
      functionDeclarations: [
        {
          name: 'echo',
          description: 'What echo does',
          parametersJsonSchema: specOf('echo').input,
          responseJsonSchema: { type: 'object' },
        },
      ],
    },
  ]);
});

test('images and PDF files are part of the response, other media are noted', () => {
  const [part] = toGeminiResults([{ id: 'c', name: 'look', result: PICTURE }]);
  expect(part?.functionResponse.parts).toEqual([
    { inlineData: { mimeType: 'image/png', data: PNG } },
    { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
  ]);
  expect(part?.functionResponse.response).toMatchObject({ output: expect.stringContaining('audio/wav, 4 bytes') });
});

test('an answer with a $ref stays text, because Gemini would look for a file of that name', () => {
  const schema = { $ref: '#/$defs/x' };
  const [part] = toGeminiResults([{ id: 'c', name: 'describe', result: done(JSON.stringify(schema), schema) }]);
  expect(part?.functionResponse.response).toEqual({ output: '{"$ref":"#/$defs/x"}' });
});

test('more than 512 functions are an error, and without functions there is no tool entry', () => {
  const specs = Array.from({ length: 513 }, (_, index) => specOf(`tool_${index}`));
  expect(toGemini(specs.slice(1))[0]?.functionDeclarations).toHaveLength(512);
  expect(() => toGemini(specs)).toThrow(/Gemini accepts at most 512 tools/);
  expect(toGemini([])).toEqual([]);
});

test('JSON Schema that Gemini accepts is passed on unchanged', () => {
  const input = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      a: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      b: { const: 1 },
      c: { $ref: '#/$defs/c', description: 'see' },
    },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
    $defs: { c: { type: 'string', pattern: '^x' } },
    additionalProperties: false,
  };
  expect(parametersOf(input)).toEqual(input);
});

test('older definitions get the name that Gemini knows, and a reference has no siblings that Gemini refuses', () => {
  const input = {
    type: 'object',
    properties: { definitions: { $ref: '#/definitions/node', title: 'Node', type: 'object', description: 'a node' } },
    definitions: { node: { type: 'object', properties: { next: { $ref: '#/definitions/node' } } } },
  };
  expect(parametersOf(input)).toEqual({
    type: 'object',
    properties: { definitions: { $ref: '#/$defs/node', description: 'a node' } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
  });
});

test('a recursive root becomes an object with its definition kept', () => {
  expect(parametersOf(RECURSIVE)).toMatchObject({
    type: 'object',
    properties: { label: { type: 'string' } },
    $defs: RECURSIVE.$defs,
  });
});

test('a long description is passed on in full', () => {
  const [tool] = toGemini([specOf('wordy', { description: 'x'.repeat(5000) })]);
  expect(tool?.functionDeclarations[0]?.description).toHaveLength(5000);
});
