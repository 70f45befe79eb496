import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { toolError } from '../../src/core/tool-error.ts';
import { type CallAnswer, done, failed } from '../../src/core/tool-result.ts';
import { fromAnthropicCalls, toAnthropic, toAnthropicResults } from '../../src/formats/anthropic.ts';
import { fromOpenAIResponsesCalls, toOpenAIResponses, toOpenAIResponsesResults } from '../../src/formats/openai.ts';
import { type Chest, createCrib, defineBundle } from '../../src/index.ts';
import { SECRET, specOf } from './specs.ts';

const tool = (name: string, description: string) => ({
  name,
  description,
  input: { type: 'object', properties: { what: { type: 'string' } }, additionalProperties: false },
  run: (input: unknown) => ({ ran: name, input }),
});
const bundles = [
  defineBundle({ name: 'files', tools: [tool('read_file', 'Read a file')] }),
  defineBundle({ name: 'browser', tools: [tool('click', 'Click a button'), tool('scroll', 'Scroll a page')] }),
  defineBundle({ name: 'mail', tools: [tool('send_mail', 'Send a letter by mail')] }),
];

async function open(profile: object = {}): Promise<Chest> {
  const crib = await createCrib({
    bundles,
    profiles: { agent: { expose: 'search', essential: ['files'], active: ['files', 'browser'], ...profile } },
  });
  return crib.open('agent', { id: 'alice' });
}

/** A `fetch` whose server answers with these bodies in turn, and what it was sent. */
function recorded(...bodies: unknown[]) {
  const sent: Record<string, unknown>[] = [];
  const fetch = async (_url: unknown, init?: { body?: unknown }) => {
    sent.push(JSON.parse(String(init?.body)));
    return Response.json(bodies[sent.length - 1]);
  };
  return { fetch, sent };
}

const said = (...content: unknown[]) => ({ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content });
const response = (...output: unknown[]) => ({ id: 'resp_1', object: 'response', output });
const searched = async (chest: Chest, input: object): Promise<CallAnswer[]> => [
  { id: 's1', name: 'search_tools', result: await chest.call('search_tools', input) },
];
/** A search that found these: what is found, and in which order, is told elsewhere. */
const found = (chest: Chest, ...names: string[]): CallAnswer[] => {
  const tools = names.map((name) => {
    const { description = '', input = {} } = chest.get(name) ?? {};
    return { name, description, inputSchema: input as JsonObject, score: 1 };
  });
  return [{ id: 's1', name: 'search_tools', result: done(JSON.stringify({ tools }), { tools }) }];
};
const named = (tools: readonly object[]) => tools.map((entry) => ('name' in entry ? entry.name : undefined));
const deferredIn = (tools: readonly object[]) => named(tools.filter((entry) => 'defer_loading' in entry));

describe('Anthropic', () => {
  test('a model searches, loads the found tools by reference and calls one by its own name', async () => {
    const chest = await open();
    const { fetch, sent } = recorded(
      said({ type: 'tool_use', id: 'toolu_1', name: 'search_tools', input: { query: 'click', limit: 1 } }),
      said({ type: 'tool_use', id: 'toolu_2', name: 'click', input: { what: 'ok' } }),
      said({ type: 'text', text: 'done' }),
    );
    const client = new Anthropic({ apiKey: 'none', fetch });
    const tools: Anthropic.ToolUnion[] = toAnthropic(chest.list(), { deferred: chest.listActive() });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Press ok' }];
    for (let turn = 0; turn < 3; turn++) {
      const { content } = await client.messages.create({ model: 'm', max_tokens: 9, messages, tools });
      const answers = await chest.callAll(fromAnthropicCalls({ content }));
      const results: Anthropic.ToolResultBlockParam[] = toAnthropicResults(answers, { tools });
      messages.push({ role: 'assistant', content }, { role: 'user', content: results });
    }
    expect(messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'tool_reference', tool_name: 'click' }] },
    ]);
    expect(JSON.stringify(messages[4])).toContain('ran');
    expect(sent[2]?.tools).toEqual(sent[0]?.tools);
    expect(deferredIn(sent[0]?.tools as object[])).toEqual(['click', 'scroll']);
  });

  test('a shown tool is sent once and not deferred', async () => {
    const chest = await open();
    const names = named(toAnthropic(chest.list(), { deferred: chest.listActive() }));
    expect(new Set(names).size).toBe(names.length);
    expect([...names].sort()).toEqual(['call_tool', 'click', 'list_bundles', 'read_file', 'scroll', 'search_tools']);
  });

  test('if the crib does not search, Anthropic does, and its own calls are ignored', () => {
    const tools = toAnthropic([specOf('read')], { deferred: [specOf('click')] });
    expect(tools.map((entry) => [entry.name, 'type' in entry && entry.type, 'defer_loading' in entry])).toEqual([
      ['read', false, false],
      ['tool_search_tool_bm25', 'tool_search_tool_bm25_20251119', false],
      ['click', false, true],
    ]);
    const found = { type: 'tool_search_tool_search_result', tool_references: [] };
    const content = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'tool_search_tool_bm25', input: { query: 'click' } },
      { type: 'tool_search_tool_result', tool_use_id: 'srvtoolu_1', content: found },
      { type: 'tool_use', id: 'toolu_1', name: 'click', input: {} },
    ];
    expect(fromAnthropicCalls({ content })).toEqual([{ id: 'toolu_1', name: 'click', input: {} }]);
  });

  test('a result with a tool that was not sent stays text, since a reference to it would fail the request', async () => {
    const chest = await open();
    const tools = toAnthropic(chest.list(), { deferred: chest.listActive() });
    const [block] = toAnthropicResults(found(chest, 'click', 'send_mail'), { tools });
    expect(block?.content?.map(({ type }) => type)).toEqual(['text']);
    expect(JSON.stringify(block)).toContain('send_mail');
    expect(JSON.stringify(block)).toContain('click');
  });

  test('a shown tool needs no reference, and a result with only such tools stays text', async () => {
    const chest = await open({ active: ['files', 'browser', 'mail'] });
    const tools = toAnthropic(chest.list(), { deferred: chest.listActive() });
    const [both] = toAnthropicResults(found(chest, 'read_file', 'click'), { tools });
    expect(both?.content).toContainEqual({ type: 'tool_reference', tool_name: 'click' });
    expect(both?.content).not.toContainEqual({ type: 'tool_reference', tool_name: 'read_file' });
    const [shown] = toAnthropicResults(found(chest, 'read_file'), { tools });
    expect(shown?.content?.[0]).toMatchObject({ type: 'text', text: expect.stringContaining('read_file') });
  });

  test('a failed search and one without results are described in words', async () => {
    const chest = await open();
    const tools = toAnthropic(chest.list(), { deferred: chest.listActive() });
    const [nothing] = toAnthropicResults(await searched(chest, { query: 'zzzz qqqq' }), { tools });
    expect(nothing?.content?.[0]).toMatchObject({ type: 'text', text: expect.stringContaining('No tool found') });
    const [refused] = toAnthropicResults(await searched(chest, { query: '' }), { tools });
    expect(refused).toMatchObject({ is_error: true, content: [{ type: 'text' }] });
  });

  test('without the list of sent tools a search is text, as for any other vendor', async () => {
    const [block] = toAnthropicResults(found(await open(), 'click'));
    expect(block?.content?.map(({ type }) => type)).toEqual(['text']);
  });

  test('10,000 tools are exported, including the search, and one more is an error', () => {
    const deferred = Array.from({ length: 9999 }, (_, index) => specOf(`tool_${index}`, { input: {} }));
    expect(toAnthropic([], { deferred })).toHaveLength(10_000);
    expect(() => toAnthropic([specOf('one_more')], { deferred })).toThrow(
      expect.objectContaining({ code: 'too_many_tools' }),
    );
  });

  test('a tool with the name of the search is refused', () => {
    expect(() => toAnthropic([], { deferred: [specOf('tool_search_tool_bm25')] })).toThrow(
      expect.objectContaining({ code: 'duplicate', message: expect.stringMatching(/Anthropic.*inline/) }),
    );
  });
});

describe('OpenAI responses', () => {
  test('a model searches with the crib, gets the definitions and calls one by its own name', async () => {
    const chest = await open();
    const search = {
      type: 'tool_search_call',
      id: 'ts_1',
      call_id: 'call_1',
      execution: 'client',
      status: 'completed',
    };
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_2', name: 'click', namespace: 'click' };
    const { fetch, sent } = recorded(
      response({ ...search, arguments: { query: 'click', limit: 1 } }),
      response({ ...call, arguments: '{"what":"ok"}' }),
      response(),
    );
    const client = new OpenAI({ apiKey: 'none', fetch });
    const tools: OpenAI.Responses.Tool[] = toOpenAIResponses(chest.list(), { deferred: chest.listActive() });
    let input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Press ok' }];
    for (let turn = 0; turn < 3; turn++) {
      const answer = await client.responses.create({ model: 'm', input, tools });
      input = toOpenAIResponsesResults(await chest.callAll(fromOpenAIResponsesCalls(answer)), { tools });
    }
    expect(named(sent[0]?.tools as object[])).toEqual(expect.arrayContaining(['read_file', 'call_tool']));
    expect(JSON.stringify(sent[0]?.tools)).not.toContain('"click"');
    expect(sent[0]?.tools).toContainEqual({
      type: 'tool_search',
      execution: 'client',
      description: expect.stringContaining('browser (2 tools)'),
      parameters: expect.objectContaining({ properties: expect.objectContaining({ query: expect.anything() }) }),
    });
    const parameters = { type: 'object', properties: { what: { type: 'string' } }, additionalProperties: false };
    const click = { type: 'function', name: 'click', description: 'Click a button', parameters, strict: false };
    expect(sent[1]?.input).toEqual([
      {
        type: 'tool_search_output',
        call_id: 'call_1',
        execution: 'client',
        status: 'completed',
        tools: [{ ...click, defer_loading: true }],
      },
    ]);
    expect(sent[2]?.input).toEqual([
      { type: 'function_call_output', call_id: 'call_2', output: expect.stringContaining('"ran":"click"') },
    ]);
  });

  test('a search finds inactive tools, too, and loads no shown one', async () => {
    const chest = await open();
    const tools = toOpenAIResponses(chest.list(), { deferred: chest.listActive() });
    const [item] = toOpenAIResponsesResults(found(chest, 'read_file', 'send_mail'), { tools });
    expect(item).toMatchObject({ type: 'tool_search_output', tools: [{ name: 'send_mail' }] });
  });

  test('if the crib does not search, OpenAI does, and its own searches are ignored', () => {
    const tools = toOpenAIResponses([specOf('read')], { deferred: [specOf('click')] });
    expect(deferredIn(tools)).toEqual(['click']);
    expect(tools.at(-1)).toEqual({ type: 'tool_search' });
    const output = [
      { type: 'tool_search_call', call_id: null, execution: 'server', arguments: { paths: ['click'] } },
      { type: 'tool_search_output', call_id: null, execution: 'server', tools: [] },
      { type: 'function_call', call_id: 'c', name: 'click', arguments: '{}' },
    ];
    expect(fromOpenAIResponsesCalls({ output })).toEqual([{ id: 'c', name: 'click', input: {} }]);
  });

  test('a failed search loads nothing and is not reported as complete', async () => {
    const tools = [{ type: 'tool_search', execution: 'client' }];
    const answer = { id: 's1', name: 'search_tools', result: failed(toolError('rate_limited', 'Too often')) };
    const empty = { type: 'tool_search_output', call_id: 's1', execution: 'client', tools: [] };
    expect(toOpenAIResponsesResults([answer], { tools })).toEqual([{ ...empty, status: 'incomplete' }]);
  });

  test('a search that was sent as a function is answered as one', async () => {
    const chest = await open();
    const tools = toOpenAIResponses(chest.list());
    expect(named(tools)).toContain('search_tools');
    const [item] = toOpenAIResponsesResults(found(chest, 'click'), { tools });
    expect(item).toMatchObject({ type: 'function_call_output', output: expect.stringContaining('click') });
  });

  test('tools that OpenAI searches count towards its limit, tools that the crib searches do not', async () => {
    const deferred = Array.from({ length: 128 }, (_, index) => specOf(`tool_${index}`));
    expect(() => toOpenAIResponses([specOf('read')], { deferred })).toThrow(/at most 128 tools, but 129 were given/);
    const search = specOf('search_tools', { source: 'toolcrib' });
    expect(toOpenAIResponses([search, specOf('read')], { deferred })).toHaveLength(2);
  });
});

describe.each([
  { name: 'Anthropic', to: toAnthropic, results: toAnthropicResults },
  { name: 'OpenAI responses', to: toOpenAIResponses, results: toOpenAIResponsesResults },
])('deferral for $name', ({ to, results }) => {
  test('a deferred tool that shares its name with a shown one of another source is refused', () => {
    const twins = () => to([specOf('read', { source: 'files' })], { deferred: [specOf('read', { source: 'github' })] });
    expect(twins).toThrow(
      expect.objectContaining({ code: 'duplicate', message: expect.stringMatching(/read.*files.*github/) }),
    );
    expect(() => to([], { deferred: [specOf('read', { source: 'a' }), specOf('read', { source: 'b' })] })).toThrow(
      expect.objectContaining({ code: 'duplicate' }),
    );
  });

  test('also if the crib searches', () => {
    const search = specOf('search_tools', { source: 'toolcrib' });
    const twins = [specOf('read', { source: 'a' }), specOf('read', { source: 'b' })];
    expect(() => to([search], { deferred: twins })).toThrow(expect.objectContaining({ code: 'duplicate' }));
  });

  test('no other tool can load one by an answer that resembles a search result, nor can a failed search', async () => {
    const chest = await open();
    const tools = to(chest.list(), { deferred: chest.listActive() });
    const [answer] = found(chest, 'click');
    if (answer?.result.status !== 'done') throw new Error('nothing was found');
    const { data = null } = answer.result;
    const refused = { ...failed(toolError('denied', 'No')), data };
    const shown = JSON.stringify(
      results(
        [
          { ...answer, name: 'read_file' },
          { ...answer, result: refused },
        ],
        { tools },
      ),
    );
    expect(shown).not.toContain('"type":"tool_reference"');
    expect(shown).not.toContain('"type":"function"');
  });

  test('without tools to defer the definitions are the usual ones', () => {
    const shown = [specOf('read'), specOf('search_tools', { source: 'toolcrib' })];
    for (const options of [{}, { deferred: [] }, { deferred: shown }]) expect(to(shown, options)).toEqual(to(shown));
  });

  test('a deferred definition does not contain how a tool runs', () => {
    expect(JSON.stringify(to([], { deferred: [specOf('leaky')] }))).not.toContain(SECRET);
  });

  test.each([
    [{ defered: [] }, 'unknown_option'],
    [{ deferred: 'all' }, 'invalid_option'],
    [null, 'invalid_option'],
  ])('invalid options are an error: %j', (options, code) => {
    expect(() => to([], options as never)).toThrow(expect.objectContaining({ code }));
  });

  test.each([
    [{ tool: [] }, 'unknown_option'],
    [{ tools: {} }, 'invalid_option'],
  ])('the sent tools must be a list of tools: %j', (options, code) => {
    expect(() => results([], options as never)).toThrow(expect.objectContaining({ code }));
  });

  test.each([undefined, null, 7, 'text', [], { tools: 7 }, { tools: [null, 7, { name: 7 }, { name: 'x' }] }])(
    'a search result of another shape loads nothing: %j',
    (data) => {
      const result = { ok: true, status: 'done', content: [], ...(data !== undefined && { data }) } as const;
      const tools = [{ name: 'x', defer_loading: true }, { type: 'tool_search', execution: 'client' }, null, 7];
      const shown = JSON.stringify(
        results([{ id: 's', name: 'search_tools', result: result as never }], { tools: tools as never }),
      );
      expect(shown).not.toContain('tool_reference');
      expect(shown).not.toContain('"type":"function"');
    },
  );
});
