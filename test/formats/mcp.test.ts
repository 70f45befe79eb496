import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { CallToolResultSchema, ListToolsResultSchema } from '@modelcontextprotocol/core';
import { type CallToolResult, Server, type Tool } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { toolError } from '../../src/core/tool-error.ts';
import { done, failed, type ToolResult } from '../../src/core/tool-result.ts';
import { fromMcpCalls, toMcp, toMcpResults } from '../../src/formats/mcp.ts';
import { answerAll, ECHOED, PICTURE, RECURSIVE, REFUSED, specOf, WAITING } from './specs.ts';

function resultOf(result: ToolResult): CallToolResult {
  const [shown] = toMcpResults([{ id: '1', name: 'tool', result }]);
  return CallToolResultSchema.parse(shown);
}

test('a real client lists the tools of a real server and calls them', async () => {
  const output = { type: 'object', properties: { echo: { type: 'string' } }, required: ['echo'] };
  const tools: Tool[] = toMcp([specOf('echo', { title: 'Echo', output }), specOf('tree', { input: RECURSIVE })]);
  const server = new Server({ name: 'crib', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', (request): CallToolResult => {
    const answers = answerAll(fromMcpCalls(request.params), ({ name }) => (name === 'echo' ? ECHOED : REFUSED));
    return toMcpResults(answers)[0] ?? { content: [] };
  });
  const client = new Client({ name: 'test', version: '1' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  const listed = await client.listTools();
  expect(listed.tools.map(({ name }) => name)).toEqual(['echo', 'tree']);
  expect(listed.tools[0]).toMatchObject({ title: 'Echo', outputSchema: output, inputSchema: specOf('echo').input });
  const called = await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
  expect(called).toMatchObject({
    content: [{ type: 'text', text: '{"echo":"hi"}' }],
    structuredContent: { echo: 'hi' },
  });
  expect(called).not.toHaveProperty('isError');
  const refused = await client.callTool({ name: 'tree', arguments: { label: 'x' } });
  expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('invalid_input') }] });
  await client.close();
});

test('only known effects are included', () => {
  const [unknown, known] = toMcp([
    specOf('a'),
    specOf('b', { effects: { readOnly: true, destructive: false, idempotent: true, openWorld: false } }),
  ]);
  expect(unknown).not.toHaveProperty('annotations');
  expect(known?.annotations).toEqual({
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  });
});

test('nothing of meta is passed on', () => {
  const [tool] = toMcp([specOf('a', { meta: { _meta: { x: 1 }, icons: [{ src: 'https://example.com' }] } })]);
  expect(Object.keys(tool ?? {})).toEqual(['name', 'description', 'inputSchema']);
});

test('every list is valid in the protocol, whatever the root of the schemas', () => {
  const specs = [
    specOf('bare', { input: {} }),
    specOf('either', { input: { anyOf: [{ required: ['a'] }, { required: ['b'] }] }, output: { type: 'array' } }),
    specOf('tree', { input: RECURSIVE, output: RECURSIVE }),
  ];
  const tools = toMcp(specs);
  expect(ListToolsResultSchema.parse({ tools }).tools).toEqual(tools);
  expect(tools[1]?.inputSchema).toEqual({ type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] });
  expect(tools[1]).not.toHaveProperty('outputSchema');
});

test('content passes through without loss', () => {
  const annotated = {
    type: 'text',
    text: 'hi',
    annotations: { audience: ['user'], priority: 0.5 },
    _meta: { trace: 1 },
  } as const;
  const content = [annotated, ...(PICTURE.ok ? PICTURE.content : [])];
  expect(resultOf(done(content)).content).toEqual(content);
});

test('a resource with neither text nor data becomes a valid one', () => {
  const result = resultOf(done([{ type: 'resource', resource: { uri: 'file:///empty' } }]));
  expect(result.content).toEqual([{ type: 'resource', resource: { uri: 'file:///empty', text: '' } }]);
});

test('structured content is an object or is left out', () => {
  expect(resultOf(done('{}', {})).structuredContent).toEqual({});
  for (const data of [[1], 'text', 7, null, false])
    expect(resultOf(done('said', data))).not.toHaveProperty('structuredContent');
});

test("a failed call is marked and keeps the tool's text", () => {
  const said = {
    ...failed(toolError('tool_error', 'It broke')),
    content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    data: { at: 3 },
  } as const;
  expect(resultOf(said)).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: 'tool_error: It broke' }, { type: 'image' }],
    structuredContent: { at: 3 },
  });
});

test('a waiting call is marked, with what is needed to continue it', () => {
  expect(resultOf(WAITING)).toMatchObject({
    isError: true,
    _meta: {
      'toolcrib/waiting': { for: 'approval', id: 'apr_1', expiresAt: Date.UTC(2030, 0, 1), ask: { tool: 'pay' } },
    },
  });
});

test('a call is read from a whole request or from its params', () => {
  const params = { name: 'echo', arguments: { text: 'hi' } };
  expect(fromMcpCalls(params)).toEqual([{ name: 'echo', input: { text: 'hi' } }]);
  expect(fromMcpCalls({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })).toEqual([
    { id: '7', name: 'echo', input: { text: 'hi' } },
  ]);
  expect(fromMcpCalls({ name: 'now' })).toEqual([{ name: 'now', input: {} }]);
  expect(fromMcpCalls({ id: 1, method: 'tools/list', params: {} })).toEqual([]);
  expect(fromMcpCalls({})).toEqual([{ name: '', input: {} }]);
});
