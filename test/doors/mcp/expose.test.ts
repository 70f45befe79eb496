import { describe, expect, it } from 'vitest';
import { type CribOptions, defineBundle, done, type ToolCall, type ToolInput } from '../../../src/index.ts';
import { modernRequest, post, type RawMessage } from './clients.ts';
import { type CallAnswer, ERAS } from './eras.ts';
import { type Gateway, startGateway } from './gateway.ts';

const OPERATOR = { id: 'olga', operator: true };
const WHAT = { type: 'object', properties: { what: { type: 'string' } }, additionalProperties: false };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const MEDIA = [
  { type: 'text', text: 'see', annotations: { audience: ['user'] } },
  { type: 'image', data: PIXEL, mimeType: 'image/png' },
] as const;

interface Deeds {
  readonly wiped: unknown[];
  aborted(): void;
}

/** Tools that answer in many ways, none of them shown at first. */
function toolsOf({ wiped, aborted }: Deeds): readonly ToolInput[] {
  return [
    { name: 'person', description: 'Tells of somebody', output: { type: 'object' }, run: () => ({ name: 'Ann' }) },
    { name: 'numbers', description: 'Counts', output: { type: 'array' }, run: () => [1, 2] },
    { name: 'media', description: 'Shows a picture', run: () => done([...MEDIA]) },
    {
      name: 'steps',
      description: 'Goes step by step',
      run: (_: unknown, call: ToolCall) => {
        call.report({ progress: 1, total: 2, message: 'half' });
        return 'there';
      },
    },
    {
      name: 'hang',
      description: 'Waits',
      run: (_: unknown, call: ToolCall) =>
        new Promise((_resolve, reject) => {
          call.report('under way');
          call.signal.addEventListener('abort', () => {
            aborted();
            reject(new Error('aborted'));
          });
        }),
    },
    {
      name: 'where',
      description: 'Says what it knows of the call',
      run: (_: unknown, { conversation, door }: ToolCall) => ({ conversation, door }),
    },
    {
      name: 'wipe',
      description: 'Removes everything',
      input: WHAT,
      effects: { destructive: true },
      run: (input: unknown) => {
        wiped.push(input);
        return 'wiped';
      },
    } as ToolInput,
    {
      name: 'fire',
      description: 'Dismisses an employee',
      policy: { access: [{ roles: ['boss'] }] },
      run: () => 'gone',
    },
  ];
}

/** A gateway whose default profile is shown one bundle and searches for the rest. */
async function openSearch(
  options: CribOptions & { readonly files?: Readonly<Record<string, string>> } = {},
): Promise<Gateway & { readonly wiped: unknown[]; readonly aborted: Promise<void> }> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const wiped: unknown[] = [];
  const notes = { name: 'read_note', description: 'Reads a note', input: WHAT, run: () => 'a note' };
  const gateway = await startGateway({
    bundles: [defineBundle({ name: 'notes', tools: [notes] })],
    tools: toolsOf({ wiped, aborted: resolve }),
    profiles: { agent: { expose: 'search', essential: ['notes'] } },
    defaultProfile: 'agent',
    ...options,
  });
  return { ...gateway, wiped, aborted };
}

const throughCallTool = (name: string, given?: object) => ({ name, ...(given !== undefined && { arguments: given }) });
const waitingIn = ({ _meta }: CallAnswer) => _meta?.['toolcrib/waiting'] as { readonly id: string };

describe.each(Object.entries(ERAS))('a client of %s, whose profile exposes search', (era, connect) => {
  const isModern = era === '2026-07-28';

  it('lists the tools of essential bundles and the search tools, and calls do not change that', async () => {
    const { url } = await openSearch();
    const client = await connect(url());
    const before = await client.list();
    expect(before.map(({ name }) => name).sort()).toEqual(['call_tool', 'list_bundles', 'read_note', 'search_tools']);
    await client.call('search_tools', { query: 'tell of somebody' });
    await client.call('call_tool', throughCallTool('person'));
    await client.call('list_bundles');
    expect(await client.list()).toEqual(before);
  });

  it('finds tools with everything that is needed to call them, and without how they run', async () => {
    const { url } = await openSearch();
    const answer = await (await connect(url())).call('search_tools', { query: 'wipe', limit: 1 });
    expect(answer.structuredContent).toEqual({
      tools: [{ name: 'wipe', description: 'Removes everything', inputSchema: WHAT, score: expect.any(Number) }],
      confidence: 'high',
    });
    expect(JSON.parse(answer.content[0]?.text ?? '')).toEqual(answer.structuredContent);
  });

  it('finds a tool for each step of a goal', async () => {
    const { url } = await openSearch();
    const client = await connect(url());
    const goal = { goal: 'remove everything, then show a picture', limit: 2 };
    const { tools } = (await client.call('search_tools', goal)).structuredContent as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(['wipe', 'media']);
    for (const wrong of [{}, { ...goal, query: 'wipe' }])
      expect(await client.call('search_tools', wrong)).toMatchObject({ isError: true });
  });

  it('runs a script that calls tools, with its progress, if the profile exposes scripts', async () => {
    const { url } = await openSearch({ profiles: { agent: { expose: 'script', essential: ['notes'] } } });
    const client = await connect(url());
    const listed = await client.list();
    expect(listed.map(({ name }) => name).sort()).toEqual(['execute_script', 'read_note', 'search_tools']);
    const seen: unknown[] = [];
    const code =
      'const [person, numbers] = await Promise.all([tools.person(), tools.numbers()]); console.log("read"); return { person, numbers }';
    const onProgress = (progress: unknown) => seen.push(progress);
    expect(await client.call('execute_script', { code }, { onProgress })).toMatchObject({
      structuredContent: { person: { name: 'Ann' }, numbers: [1, 2] },
    });
    expect(seen).toMatchObject([{ message: 'read' }]);
    const refused = await client.call('execute_script', { code: 'return tools.wipe({ what: "all" })' });
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Waiting for approval') }],
    });
  });

  it('gets the same result through call_tool as from the tool itself', async () => {
    const { url } = await openSearch();
    const client = await connect(url());
    await client.list(); // what it knows of output schemas it holds answers to
    for (const name of ['person', 'numbers', 'media', 'where', 'read_note'])
      expect(await client.call('call_tool', throughCallTool(name)), name).toEqual(await client.call(name));
    expect(await client.call('call_tool', throughCallTool('person'))).toMatchObject({
      structuredContent: { name: 'Ann' },
    });
    expect(await client.call('call_tool', throughCallTool('numbers'))).toMatchObject({
      structuredContent: isModern ? [1, 2] : { result: [1, 2] },
    });
    expect((await client.call('call_tool', throughCallTool('media'))).content).toEqual(MEDIA);
  });

  it('gets progress through call_tool, and its conversation reaches the tool', async () => {
    const { url } = await openSearch();
    const client = await connect(url());
    const seen: unknown[] = [];
    const onProgress = (progress: unknown) => seen.push(progress);
    expect(await client.call('call_tool', throughCallTool('steps'), { onProgress })).toMatchObject({
      content: [{ text: 'there' }],
    });
    expect(seen).toMatchObject([{ progress: 1, total: 2, message: 'half' }]);
    const meta = { 'toolcrib/conversation': 'c1' };
    expect(await client.call('call_tool', throughCallTool('where'), { meta })).toMatchObject({
      structuredContent: { conversation: 'c1', door: 'mcp' },
    });
  });

  it('cancels the tool through call_tool', async () => {
    const { url, aborted, crib } = await openSearch();
    const client = await connect(url());
    const controller = new AbortController();
    const { promise: underWay, resolve } = Promise.withResolvers<void>();
    crib.extensions.add({
      name: 'watch',
      priority: 500,
      onStart: ({ spec }) => {
        if (spec.name === 'hang') resolve();
      },
    });
    const call = client.call('call_tool', throughCallTool('hang'), { signal: controller.signal }).catch(() => 'ended');
    await underWay;
    controller.abort();
    await aborted;
    await call;
  });

  it('waits for the approval of the tool that runs; the same call uses it once, under either name', async () => {
    const { url, crib, wiped } = await openSearch();
    const client = await connect(url());
    const wipe = throughCallTool('wipe', { what: 'all' });
    const first = await client.call('call_tool', wipe);
    expect(first).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('approve') }] });
    const { id } = waitingIn(first);
    expect(await crib.approvals.list({ state: 'waiting' })).toMatchObject([
      { id, tool: 'wipe', arguments: { what: 'all' }, reason: 'it is destructive', door: 'mcp' },
    ]);
    expect(waitingIn(await client.call('call_tool', wipe)).id).toBe(id);
    expect(waitingIn(await client.call('wipe', { what: 'all' })).id).toBe(id);
    expect(waitingIn(await client.call('call_tool', throughCallTool('wipe', { what: 'less' }))).id).not.toBe(id);
    await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    expect(await client.call('call_tool', wipe)).toMatchObject({ content: [{ text: 'wiped' }] });
    expect(wiped).toEqual([{ what: 'all' }]);
    expect(waitingIn(await client.call('call_tool', wipe)).id).not.toBe(id);
  });

  it('cannot distinguish a hidden tool from an unknown one', async () => {
    const { url } = await openSearch();
    const client = await connect(url());
    const answers = await Promise.all(['fire', 'never'].map((name) => client.call('call_tool', throughCallTool(name))));
    for (const answer of answers)
      expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('unknown_tool') }] });
    expect(JSON.stringify(answers[0]).replaceAll('fire', 'never')).toBe(JSON.stringify(answers[1]));
    const seen = [
      await client.list(),
      await client.call('search_tools', { query: 'fire, dismiss an employee', limit: 20, expand: true }),
      await client.call('list_bundles'),
    ];
    expect(JSON.stringify(seen)).not.toContain('ismiss');
  });

  it.each([{}, { name: 7 }, { name: 'call_tool' }, { name: 'person', arguments: [] }, { name: 'person', more: 1 }])(
    'gets the error of %j, and nothing runs',
    async (given) => {
      const { url } = await openSearch();
      const answer = await (await connect(url())).call('call_tool', given);
      expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('invalid_input') }] });
    },
  );

  it('whose profile shows all tools has none of these tools', async () => {
    const { url } = await openSearch({ profiles: { agent: { expose: 'search' }, human: {} }, defaultProfile: 'human' });
    const client = await connect(url());
    expect((await client.list()).map(({ name }) => name)).not.toContain('search_tools');
    for (const name of ['search_tools', 'call_tool', 'list_bundles'])
      await expect(client.call(name, { query: 'x', name: 'person' })).rejects.toMatchObject({ code: -32602 });
  });
});

describe('a profile that exposes search', () => {
  /** What `search_tools` says it searches, and who may keep that. */
  async function described(url: string, token?: string) {
    const { body, headers } = modernRequest('tools/list');
    const sent = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
    const { tools, cacheScope } = (await post(url, body, sent)).messages[0]?.result ?? {};
    const search = (tools as readonly { name: string; description: string }[]).find(
      ({ name }) => name === 'search_tools',
    );
    return { text: search?.description ?? '', cacheScope };
  }

  it('describes search_tools for each credential, and marks the answer as private', async () => {
    const roles = 'dev: { profiles: [agent] }, boss: { profiles: [agent] }';
    const { url, crib } = await openSearch({
      files: { 'toolcrib.yaml': `access: { keys: true, roles: { ${roles} } }\n` },
    });
    const keyOf = async (role: string) => (await crib.keys.create({ name: role, roles: [role] }, 'olga')).key;
    const [dev, boss] = [await keyOf('dev'), await keyOf('boss')];
    for (let round = 0; round < 2; round++) {
      const forDev = await described(url(), dev);
      const forBoss = await described(url(), boss);
      expect(forDev).toMatchObject({ cacheScope: 'private', text: expect.stringContaining('It searches 8 tools:') });
      expect(forDev.text).not.toContain('fire');
      expect(forBoss).toMatchObject({ cacheScope: 'private', text: expect.stringContaining('- fire: Dismisses') });
    }
  });

  it('may be cached publicly if no credential is required and none was sent', async () => {
    const { url } = await openSearch();
    expect(await described(url())).toMatchObject({ cacheScope: 'public', text: expect.stringContaining('notes') });
  });

  it('passes the questions of a server through call_tool to its client, round by round', async () => {
    const question = { method: 'elicitation/create', params: { mode: 'form', message: 'Who?', requestedSchema: WHAT } };
    const { url } = await openSearch({
      tools: [{ name: 'ask', description: 'Asks', run: { kind: 'asker' } }],
      executors: [
        {
          kind: 'asker',
          runSchema: { type: 'object' },
          execute: async (call) => {
            const { responses, state } = call.answers?.input ?? {};
            if (state === 'asked') return done(`done ${JSON.stringify(responses)}`);
            const ask = { inputRequests: { who: question }, requestState: 'asked' };
            const expiresAt = Date.now() + 60_000;
            return { ok: false, status: 'waiting', waiting: { for: 'input', id: call.id, expiresAt, ask } };
          },
        },
      ],
    });
    const call = async (more: object = {}): Promise<RawMessage> => {
      const params = { name: 'call_tool', arguments: throughCallTool('ask', {}), ...more };
      const { body, headers } = modernRequest('tools/call', params, { elicitation: { form: {} } });
      return (await post(url(), body, headers)).messages.at(-1) ?? {};
    };
    const { result } = await call();
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { who: { params: { message: 'Who?' } } },
    });
    const inputResponses = { who: { action: 'accept', content: { what: 'Ann' } } };
    const answered = await call({ inputResponses, requestState: result?.requestState });
    expect(answered.result).toMatchObject({ content: [{ text: `done ${JSON.stringify(inputResponses)}` }] });
  });
});
