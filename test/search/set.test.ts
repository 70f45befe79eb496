import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';

interface LabelledTool {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly server: string;
  readonly category?: string;
  readonly schema: { readonly type: string; readonly properties: Readonly<Record<string, object>> };
}

interface LabelledRequest {
  readonly id: string;
  readonly query: string;
  readonly relevant: readonly string[];
}

interface RecordedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: object;
}

function readText(file: string): string {
  return readFileSync(new URL(`./set/${file}`, import.meta.url), 'utf8');
}

function readLines(file: string): unknown[] {
  return readText(file)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** What occurs more than once, whatever its case and spacing. */
function repeated(texts: readonly string[]): string[] {
  const plain = texts.map((text) => text.toLowerCase().replace(/\s+/g, ' ').trim());
  return plain.filter((text, index) => plain.indexOf(text) !== index);
}

const tools = readLines('tools.jsonl') as LabelledTool[]; // the first test checks the shape
const requests = readLines('queries.jsonl') as LabelledRequest[]; // the first test checks the shape
const turns = readLines('turns.jsonl') as LabelledRequest[]; // likewise
const answerable = requests.filter(({ relevant }) => relevant.length > 0);
const unanswerable = requests.filter(({ relevant }) => relevant.length === 0);
const toolIds = new Set(tools.map(({ id }) => id));

describe('the labelled set', () => {
  test('has only entries of the shape that eval takes', () => {
    const text = { type: 'string', pattern: '\\S' };
    const shape = (properties: Record<string, object>, optional: readonly string[] = []) => ({
      type: 'object',
      properties,
      required: Object.keys(properties).filter((key) => !optional.includes(key)),
      additionalProperties: false,
    });
    const ajv = new Ajv2020();
    const isTool = ajv.compile(
      shape({ id: text, name: text, description: text, server: text, category: text, schema: { type: 'object' } }, [
        'category',
      ]),
    );
    const isRequest = ajv.compile(shape({ id: text, query: text, relevant: { type: 'array', items: text } }));
    expect(tools.filter((tool) => !isTool(tool))).toEqual([]);
    expect([...requests, ...turns].filter((request) => !isRequest(request))).toEqual([]);
  });

  test('is large enough to gate search', () => {
    expect(tools.length).toBeGreaterThanOrEqual(250);
    expect(new Set(tools.map(({ server }) => server)).size).toBeGreaterThanOrEqual(25);
    expect(answerable.length).toBeGreaterThanOrEqual(180);
    expect(unanswerable.length).toBeGreaterThanOrEqual(40);
  });

  test('labels requests only with tools that exist, three at most, none twice', () => {
    expect(requests.flatMap(({ relevant }) => relevant.filter((id) => !toolIds.has(id)))).toEqual([]);
    const overlabelled = requests.filter(({ relevant }) => relevant.length > 3 || repeated(relevant).length > 0);
    expect(overlabelled).toEqual([]);
  });

  test('has the same requests in the words of agents and of people', () => {
    const byId = new Map(turns.map((turn) => [turn.id, turn]));
    expect(requests.filter(({ id, relevant }) => byId.get(id)?.relevant.join() !== relevant.join())).toEqual([]);
    expect(requests.filter(({ id, query }) => byId.get(id)?.query === query)).toEqual([]);
    const asked = new Set(requests.map(({ id }) => id));
    // Agents do not search for what a model can answer or write by itself.
    expect(turns.filter(({ id }) => !asked.has(id) && !id.startsWith('far'))).toEqual([]);
  });

  test('has at least one request for every tool', () => {
    const asked = new Set(requests.flatMap(({ relevant }) => relevant));
    expect([...toolIds].filter((id) => !asked.has(id))).toEqual([]);
  });

  test('has no duplicates', () => {
    expect(repeated(tools.map(({ id }) => id))).toEqual([]);
    expect(repeated(requests.map(({ id }) => id))).toEqual([]);
    const descriptions = tools.map(({ description }) => description);
    expect(repeated([...descriptions, ...turns.map(({ query }) => query)])).toEqual([]);
    // Agents may put two turns alike, but what they ask must not be a description.
    expect(repeated([...descriptions, ...new Set(requests.map(({ query }) => query))])).toEqual([]);
  });

  test('names each tool by its server and name', () => {
    expect(tools.filter(({ id, server, name }) => id !== `${server}.${name}`)).toEqual([]);
  });

  test('has valid schemas of two to eight parameters, most of them described', () => {
    const ajv = new Ajv2020();
    addFormats.default(ajv);
    expect(tools.filter(({ schema }) => !ajv.validateSchema(schema))).toEqual([]);
    const counts = tools.map(({ schema }) => Object.keys(schema.properties).length);
    expect(counts.filter((count) => count < 2 || count > 8)).toEqual([]);
    const parameters = tools.flatMap(({ schema }) => Object.values(schema.properties));
    expect(parameters.filter((parameter) => 'description' in parameter).length / parameters.length).toBeGreaterThan(
      0.75,
    );
  });

  test('has near misses for half of the unanswerable requests', () => {
    const near = unanswerable.filter(({ id }) => id.startsWith('near'));
    expect(near.length * 2).toBeGreaterThanOrEqual(unanswerable.length);
    expect(answerable.filter(({ id }) => !/^q\d{3}$/.test(id))).toEqual([]);
  });
});

test('the recorded tools of the Playwright server are complete', () => {
  const { tools: recorded } = JSON.parse(readText('playwright-tools.json')) as { tools: RecordedTool[] }; // checked below
  expect(recorded.map(({ name }) => name)).toContain('browser_click');
  expect(repeated(recorded.map(({ name }) => name))).toEqual([]);
  for (const tool of recorded) {
    expect(Object.keys(tool)).toEqual(['name', 'description', 'inputSchema', 'annotations']);
    expect(tool.name).toMatch(/^browser_/);
    expect(tool.description).not.toBe('');
  }
});
