import { describe, expect, it } from 'vitest';
import { type Crib, done, type ToolCall, type ToolInput } from '../../../src/index.ts';
import { ERAS } from './eras.ts';
import { startGateway } from './gateway.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const PERSON = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

/** Tools that answer in every way there is. */
function toolsOf(onAbort: () => void = () => {}): readonly ToolInput[] {
  return [
    {
      name: 'add',
      title: 'Add',
      description: 'Adds two numbers',
      input: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
        additionalProperties: false,
      },
      effects: { readOnly: true, openWorld: false },
      run: ({ a, b }: { a: number; b: number }) => a + b,
    },
    { name: 'person', description: 'Somebody', output: PERSON, run: () => ({ name: 'Ann' }) },
    {
      name: 'numbers',
      description: 'A list',
      output: { type: 'array', items: { type: 'integer' } },
      run: () => [1, 2],
    },
    { name: 'word', description: 'A word', output: { type: 'string' }, run: () => 'hello' },
    {
      name: 'media',
      description: 'Everything',
      run: () =>
        done([
          { type: 'text', text: 'see', annotations: { audience: ['user'], priority: 0.5 } },
          { type: 'image', data: PIXEL, mimeType: 'image/png' },
          { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav', _meta: { take: 2 } },
          { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt', title: 'A', size: 3 },
          { type: 'resource', resource: { uri: 'file:///b', mimeType: 'text/plain', text: 'b' } },
          { type: 'resource', resource: { uri: 'file:///c', blob: 'AAEC' } },
        ]),
    },
    {
      name: 'steps',
      description: 'Reports',
      run: (_input: unknown, call: ToolCall) => {
        call.report({ progress: 0, total: 3 });
        call.report({ progress: 1, total: 3, message: 'one' });
        call.report(1);
        call.report(2);
        call.report('nearly');
        return 'there';
      },
    },
    {
      name: 'hang',
      description: 'Waits',
      run: (_input: unknown, call: ToolCall) =>
        new Promise((_, reject) => {
          call.report('under way');
          call.signal.addEventListener('abort', () => {
            onAbort();
            reject(new Error('aborted'));
          });
        }),
    },
    {
      name: 'where',
      description: 'Says what it knows of the call',
      run: (_input: unknown, { conversation, turn, timeZone, door, traceparent }: ToolCall) =>
        JSON.stringify({ conversation, turn, timeZone, door, traceparent }),
    },
    {
      name: 'broken',
      description: 'Fails',
      run: () => {
        throw new Error('The printer is on fire');
      },
    },
  ];
}

describe.each(Object.entries(ERAS))('a client of %s', (era, connect) => {
  const isModern = era === '2026-07-28';

  it('lists tools in the order of the catalog, with titles, schemas and known effects', async () => {
    const gateway = await startGateway({ tools: toolsOf() });
    const tools = await (await connect(gateway.url())).list();
    expect(tools.map(({ name }) => name)).toEqual(gateway.crib.catalog.specs.map(({ name }) => name));
    expect(tools[0]).toEqual({
      name: 'add',
      title: 'Add',
      description: 'Adds two numbers',
      inputSchema: gateway.crib.get('add')?.input,
      annotations: { readOnlyHint: true, openWorldHint: false },
    });
    expect(tools[1]?.outputSchema).toEqual(PERSON);
    expect(tools.find(({ name }) => name === 'numbers')?.outputSchema).toEqual(
      isModern
        ? { type: 'array', items: { type: 'integer' } }
        : {
            type: 'object',
            properties: { result: { type: 'array', items: { type: 'integer' } } },
            required: ['result'],
          },
    );
  });

  it('gets structured content in the shape that the list promises', async () => {
    const gateway = await startGateway({ tools: toolsOf() });
    const client = await connect(gateway.url());
    await client.list();
    expect(await client.call('add', { a: 1, b: 2 })).toMatchObject({
      content: [{ type: 'text', text: '3' }],
      structuredContent: isModern ? 3 : { result: 3 },
    });
    expect(await client.call('person')).toMatchObject({ structuredContent: { name: 'Ann' } });
    expect(await client.call('numbers')).toMatchObject({ structuredContent: isModern ? [1, 2] : { result: [1, 2] } });
    expect(await client.call('word')).toMatchObject({ structuredContent: isModern ? 'hello' : { result: 'hello' } });
  });

  it('gets text, images, audio, links and resources as the tool made them', async () => {
    const gateway = await startGateway({ tools: toolsOf() });
    const { content, isError } = await (await connect(gateway.url())).call('media');
    expect(isError).toBeUndefined();
    expect(content).toEqual([
      { type: 'text', text: 'see', annotations: { audience: ['user'], priority: 0.5 } },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav', _meta: { take: 2 } },
      { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt', title: 'A', size: 3 },
      { type: 'resource', resource: { uri: 'file:///b', mimeType: 'text/plain', text: 'b' } },
      { type: 'resource', resource: { uri: 'file:///c', blob: 'AAEC' } },
    ]);
  });

  it('gets progress on request, with increasing numbers', async () => {
    const gateway = await startGateway({ tools: toolsOf() });
    const seen: unknown[] = [];
    const client = await connect(gateway.url());
    expect(await client.call('steps', {}, { onProgress: (progress) => seen.push(progress) })).toMatchObject({
      content: [{ text: 'there' }],
    });
    expect(seen).toMatchObject([
      { progress: 0, total: 3 },
      { progress: 1, total: 3, message: 'one' },
      { progress: 2 },
      { progress: 3, message: 'nearly' },
    ]);
    expect(await client.call('steps')).toMatchObject({ content: [{ text: 'there' }] });
  });

  it('ends a call by disconnecting', async () => {
    let isOver = () => {};
    const over = new Promise<void>((resolve) => {
      isOver = resolve;
    });
    const gateway = await startGateway({ tools: toolsOf(isOver) });
    const client = await connect(gateway.url());
    const controller = new AbortController();
    const running = untilRunning(gateway.crib);
    const call = client.call('hang', {}, { signal: controller.signal }).catch((error: unknown) => error);
    await running;
    controller.abort();
    await over;
    await call;
    expect(await client.call('add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] });
  });

  it('sends the conversation of a call', async () => {
    const gateway = await startGateway({ tools: toolsOf() });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const meta = {
      'toolcrib/conversation': 'c1',
      'toolcrib/turn': 't1',
      'toolcrib/timeZone': 'Europe/Berlin',
      traceparent,
    };
    const { content } = await (await connect(gateway.url())).call('where', {}, { meta });
    const said = JSON.parse(content[0]?.text ?? '');
    expect(said).toMatchObject({ conversation: 'c1', turn: 't1', timeZone: 'Europe/Berlin', door: 'mcp' });
    expect(said.traceparent).toContain('0af7651916cd43dd8448eb211c80319c');
  });

  it('gets a failure in words, and a protocol error for an unknown tool', async () => {
    const gateway = await startGateway({ tools: toolsOf() });
    const client = await connect(gateway.url());
    expect(await client.call('broken')).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'tool_error: The printer is on fire' }],
    });
    const invalid = await client.call('add', { a: 'x', c: 1 });
    expect(invalid).toMatchObject({ isError: true });
    expect(invalid.content[0]?.text).toMatch(/invalid_input[\s\S]*\/a/);
    await expect(client.call('ad')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringMatching(/The tool "ad" was not found.*add/),
    });
  });
});

/** Resolves when a call has begun. */
function untilRunning(crib: Crib): Promise<void> {
  return new Promise((resolve) => {
    crib.extensions.add({ name: 'watch', priority: 500, onStart: () => queueMicrotask(resolve) });
  });
}
