import { describe, expect, it } from 'vitest';
import { type DeskOptions, spentOf, useDesks } from './agent-desk.ts';

const { server: modelServer, desk } = useDesks();
const READ = { calls: [{ name: 'read_book', input: { title: 'Emma' } }] };
const WAYS = ['openai', 'anthropic'].flatMap((api) => [true, false].map((stream) => ({ api, stream })));

describe.each(WAYS)('an agent over $api, stream: $stream', (way) => {
  const open = (given: DeskOptions = {}) => desk({ ...given, model: { ...way, ...given.model } });

  it('calls tools of its profile for the caller until the model answers', async () => {
    const { ask } = await open();
    modelServer().play([READ, 'Emma is about Emma.']);
    const result = await ask();
    expect(result).toMatchObject({ ok: true, content: [{ text: 'Emma is about Emma.' }] });
    expect(modelServer().asked[1]?.results).toEqual(['Emma, read for alice under library']);
    expect(spentOf(result)).toEqual({ steps: 2, calls: 1, inputTokens: 20, outputTokens: 10 });
  });

  it('sends the task, the instructions, the tools of the profile, and nothing of other profiles', async () => {
    const { ask } = await open({ run: { instructions: 'Be brief. $$' + '{a}', prompt: 'Q: {question} {{a}}' } });
    modelServer().play(['Done.']);
    await ask('Who?');
    const [{ body, path }] = modelServer().asked as never as [{ body: never; path: string }];
    expect(path).toBe(way.api === 'openai' ? '/v1/chat/completions' : '/v1/messages');
    expect(JSON.stringify(body)).toContain('Be brief. $' + '{a}');
    expect(JSON.stringify(body)).toContain('"Q: Who? {a}"');
    const { tools } = body as { tools: readonly { name?: string; function?: { name: string } }[] };
    expect(tools.map((tool) => tool.name ?? tool.function?.name)).toEqual(['read_book', 'echo', 'burn_book', 'helper']);
  });

  it('makes parallel calls and returns each result under its id', async () => {
    const { ask } = await open();
    const titles = ['A', 'B', 'C'];
    modelServer().play([
      { calls: titles.map((title) => ({ name: 'read_book', input: { title }, id: `id_${title}` })) },
      'Read.',
    ]);
    expect(await ask()).toMatchObject({ ok: true });
    expect(modelServer().asked[1]?.results).toEqual(titles.map((title) => `${title}, read for alice under library`));
    const { messages } = modelServer().asked[1]?.body ?? {};
    const ids = JSON.stringify(messages).match(/"(tool_call_id|tool_use_id)":"id_./g);
    expect(ids?.map((id) => id.slice(-1))).toEqual(titles);
  });

  it('tells an unknown tool, wrong arguments and a failed call to the model, which goes on', async () => {
    const { ask } = await open();
    const wrong = [{ name: 'no_such_tool' }, { name: 'read_book', input: { title: 1 } }, { name: 'greet' }];
    modelServer().play([{ calls: wrong }, 'Sorry.']);
    expect(await ask()).toMatchObject({ ok: true, content: [{ text: 'Sorry.' }] });
    const [unknown, invalid, outside] = modelServer().asked[1]?.results ?? [];
    expect(unknown).toContain('unknown_tool');
    expect(invalid).toMatch(/invalid_input[\s\S]*title/);
    expect(outside).toContain('unknown_tool');
  });

  it('ends at the limit of steps', async () => {
    const { ask } = await open({ settings: { maxSteps: 3 } });
    modelServer().play([READ]);
    const result = await ask();
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'tool_error', message: expect.stringContaining('maxSteps') },
    });
    expect(spentOf(result)).toMatchObject({ ending: 'steps', steps: 3, calls: 3 });
    expect(modelServer().asked).toHaveLength(3);
  });

  it('ends at the limit of tokens, also if the server counts none', async () => {
    const { ask } = await open({ settings: { maxTokens: 100 } });
    modelServer().play([{ ...READ, usage: null }]);
    const result = await ask();
    expect(result).toMatchObject({ error: { code: 'tool_error', message: expect.stringContaining('maxTokens') } });
    expect(spentOf(result)).toMatchObject({ ending: 'tokens', steps: 1 });
  });

  it('ends at the limit of cost, by the prices of the model', async () => {
    const prices = { input: 1000, output: 2000 };
    const { ask } = await open({ model: { prices }, run: { maxCost: 0.05 } });
    modelServer().play([READ]);
    const result = await ask();
    expect(result).toMatchObject({ error: { message: expect.stringContaining('maxCost') } });
    expect(spentOf(result)).toMatchObject({ ending: 'cost', steps: 3, cost: 0.06 });
  });

  it('tells a refusal and a cut answer apart from an answer', async () => {
    const { ask } = await open();
    const refusal =
      way.api === 'openai' ? { refusal: 'I cannot.', stop: 'stop' } : { text: 'I cannot.', stop: 'refusal' };
    modelServer().play([refusal]);
    const refused = await ask();
    expect(refused).toMatchObject({
      error: { code: 'tool_error', message: expect.stringContaining('refused the task') },
    });
    expect(spentOf(refused)).toMatchObject({ ending: 'refusal' });
    modelServer().play([{ text: 'Emma is ab', stop: way.api === 'openai' ? 'length' : 'max_tokens' }]);
    const cut = await ask();
    expect(cut).toMatchObject({ error: { code: 'too_large', message: expect.stringContaining('maxOutputTokens') } });
    expect(spentOf(cut)).toMatchObject({ ending: 'length' });
    modelServer().play(['']);
    expect(await ask()).toMatchObject({
      error: { code: 'tool_error', message: expect.stringContaining('without an answer') },
    });
  });

  it('does not run calls of a reply that was cut', async () => {
    const { ask } = await open();
    modelServer().play([{ ...READ, stop: way.api === 'openai' ? 'length' : 'max_tokens' }]);
    expect(spentOf(await ask())).toMatchObject({ ending: 'length', calls: 0 });
  });

  it('reports progress for each step', async () => {
    const { ask } = await open();
    modelServer().play([{ calls: [READ.calls[0], { name: 'echo' }] } as never, 'Done.']);
    const seen: unknown[] = [];
    await ask('?', { onProgress: (progress) => void seen.push(progress) });
    expect(seen).toEqual([
      { progress: 1, total: 20, message: 'Step 1: calls read_book, echo' },
      { progress: 2, total: 20, message: 'Step 2: answer' },
    ]);
  });

  it('ends the request under way when the call is cancelled', async () => {
    const { ask } = await open();
    modelServer().play([
      { raw: (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': wait\n\n') },
    ]);
    const over = new AbortController();
    const asked = ask('?', { signal: over.signal });
    await modelServer().came(1);
    over.abort();
    expect(await asked).toMatchObject({ error: { code: 'cancelled' } });
    await modelServer().idle();
  });

  it('answers with data if the tool has an output schema', async () => {
    const output = { type: 'object', properties: { pages: { type: 'number' } }, required: ['pages'] };
    const { ask } = await open({ more: { output } });
    modelServer().play(['```json\n{"pages": 474}\n```']);
    expect(await ask()).toMatchObject({ ok: true, data: { pages: 474 } });
    expect(JSON.stringify(modelServer().asked[0]?.body)).toContain('JSON Schema');
    modelServer().play(['{"pages": "many"}']);
    expect(await ask()).toMatchObject({ error: { code: 'invalid_output' } });
    modelServer().play(['Many pages.']);
    expect(await ask()).toMatchObject({ error: { code: 'invalid_output', message: expect.stringContaining('JSON') } });
  });
});
