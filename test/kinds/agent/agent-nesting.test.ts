import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ApprovalRequest, createCrib, type ToolInput } from '../../../src/index.ts';
import { agent, deskTools, spentOf, useDesks } from './agent-desk.ts';
import type { Asked } from './model-server.ts';

const { server: modelServer, desk } = useDesks();
const READ = { calls: [{ name: 'read_book', input: { title: 'Emma' } }] };
const BURN = { calls: [{ name: 'burn_book' }] };

describe('the calls of an agent', () => {
  it('are in the audit log under their parent, on behalf of the caller', async () => {
    const { ask, crib } = await desk();
    modelServer().play([READ, 'Done.']);
    await ask();
    const rows = await crib.calls.list({});
    const outer = rows.find(({ tool }) => tool === 'helper');
    expect(rows.find(({ tool }) => tool === 'read_book')).toMatchObject({
      parentId: outer?.callId,
      caller: 'alice',
      profile: 'library',
    });
    expect(outer).toMatchObject({ caller: 'alice', profile: 'desk' });
    expect(await crib.audit.verify()).toMatchObject({ ok: true });
  });

  it('need the grant of the profile', async () => {
    const open = (delegate: object) =>
      desk({ options: { profiles: { desk: { include: ['helper'], delegate }, library: {} } as never } });
    modelServer().play(['fine']);
    const closed = await open({});
    expect(await closed.ask()).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('cannot delegate') },
    });
    expect(modelServer().asked).toHaveLength(0);
    const asking = await open({ library: 'ask' });
    const waiting = asking.ask();
    const [request] = await vi.waitUntil(async () => {
      const list = await asking.crib.approvals.list({ state: 'waiting' });
      return list.length > 0 && list;
    });
    await asking.crib.approvals.answer(request?.id ?? '', { decision: 'approve' }, { id: 'olga', operator: true });
    expect(await waiting).toMatchObject({ ok: true });
  });

  it('have the tools of the caller’s own profile if the run names none, and all for the operator', async () => {
    const own = await desk({ run: { profile: undefined } });
    modelServer().play([{ calls: [{ name: 'greet' }, READ.calls[0]] } as never, 'Done.']);
    await own.ask();
    expect(modelServer().asked[1]?.results).toEqual(['hello', expect.stringContaining('unknown_tool')]);
    const { crib } = await desk();
    modelServer().play([READ, 'Done.']);
    expect(await (await crib.openAll({ id: 'olga' })).call('helper', { question: '?' })).toMatchObject({ ok: true });
    expect(modelServer().asked[1]?.results).toEqual(['Emma, read for olga under library']);
  });

  it('show what `expose` of the profile shows, and its instructions', async () => {
    const profiles = {
      desk: { include: ['helper'], delegate: { library: 'open' } },
      library: { expose: 'search' },
    } as const;
    const books = { include: ['read_book'], instructions: 'Handle books with care.' };
    const { ask } = await desk({ options: { profiles, config: { bundles: { books } } } });
    const found = { calls: [{ name: 'search_tools', input: { query: 'read a book' } }] };
    const called = { calls: [{ name: 'call_tool', input: { name: 'read_book', arguments: { title: 'Emma' } } }] };
    modelServer().play([found, called, 'Done.']);
    expect(await ask()).toMatchObject({ ok: true });
    const names = modelServer().asked[0]?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
    expect(names).toEqual(['search_tools', 'call_tool', 'list_bundles']);
    expect(modelServer().asked[0]?.body.messages[0].content).toContain('Handle books with care.');
    expect(modelServer().asked[1]?.results[0]).toContain('read_book');
    expect(modelServer().asked[2]?.results[1]).toBe('Emma, read for alice under library');
  });

  it('that require approval are refused to the model, unless an approver is present', async () => {
    const { ask, crib } = await desk();
    modelServer().play([BURN, 'Not burnt.']);
    expect(await ask('?', { park: true })).toMatchObject({ ok: true });
    expect(modelServer().asked[1]?.results[0]).toMatch(/denied: "burn_book" was not run: .*no approver is present/);
    expect(await crib.approvals.list({})).toEqual([]);
    const asked: ApprovalRequest[] = [];
    const present = await desk({ caller: { approve: (request) => asked.push(request) > 0 } });
    modelServer().play([BURN, 'Burnt.']);
    expect(await present.ask()).toMatchObject({ ok: true });
    expect(modelServer().asked[1]?.results[0]).toBe('burnt');
    expect(asked).toMatchObject([{ tool: 'burn_book', caller: { id: 'alice' } }]);
  });

  it('end with the agent', async () => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const slow: ToolInput = {
      name: 'slow',
      description: '',
      input: { type: 'object' },
      run: (_, { signal }) => {
        begun.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            ended.resolve();
            reject(signal.reason);
          });
        });
      },
    };
    const { ask } = await desk({ tools: [slow] });
    modelServer().play([{ calls: [{ name: 'slow' }] }, 'Done.']);
    const over = new AbortController();
    const asked = ask('?', { signal: over.signal });
    await begun.promise;
    over.abort();
    await ended.promise;
    expect(await asked).toMatchObject({ error: { code: 'cancelled' } });
    expect(modelServer().asked).toHaveLength(1);
  });
});

describe('agents that call agents', () => {
  /** Every agent calls the next one, until it gets a result. */
  const onwards = ({ results }: Asked) =>
    results.length > 0 ? `Said: ${results[0]}` : { calls: [{ name: 'helper', input: { question: 'deeper' } }] };

  it('are nested at most maxDepth deep, and the deepest sees no agents', async () => {
    const { ask } = await desk({ settings: { maxDepth: 2 } });
    modelServer().play(onwards);
    expect(await ask()).toMatchObject({ content: [{ text: expect.stringMatching(/^Said: Said: denied.*maxDepth/) }] });
    const shown = modelServer().asked.map(({ body }) => JSON.stringify(body.tools).includes('"helper"'));
    expect(shown.slice(0, 2)).toEqual([true, false]);
  });

  it('share the limits on tokens and cost of the agent around them', async () => {
    const outer = { ...agent({ maxTokens: 30 }), name: 'outer' } as ToolInput;
    const { chest } = await desk({ tools: [outer] });
    modelServer().play(({ results, body }) => {
      const isInner = JSON.stringify(body.messages).includes('inner');
      if (!isInner)
        return results.length > 0 ? 'Outer.' : { calls: [{ name: 'helper', input: { question: 'inner' } }] };
      return READ;
    });
    const result = await chest.call('outer', { question: 'top' });
    expect(result).toMatchObject({ error: { message: expect.stringContaining('maxTokens') } });
    expect(modelServer().asked.length).toBeLessThanOrEqual(3);
    expect(spentOf(result)).toMatchObject({ ending: 'tokens', steps: 1 });
  });

  it('with a limit on cost, a model without prices is refused, inside too', async () => {
    const { ask } = await desk({ run: { maxCost: 1 } });
    expect(await ask()).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining('no prices') },
    });
    const outer = { ...agent({ maxCost: 1, prices: { input: 1, output: 1 } }), name: 'outer' } as ToolInput;
    const { chest } = await desk({ tools: [outer] });
    modelServer().play(onwards);
    modelServer().play(onwards);
    expect(await chest.call('outer', { question: '?' })).toMatchObject({
      content: [{ text: expect.stringContaining('no prices') }],
    });
  });

  it('the setting of a profile lowers limits, and never raises them', async () => {
    const profiles = (maxSteps: unknown) => ({
      desk: { include: ['helper'], delegate: { library: 'open' }, settings: { agent: { maxSteps } } },
      library: {},
    });
    const open = (maxSteps: unknown) =>
      desk({ settings: { maxSteps: 3 }, options: { profiles: profiles(maxSteps) as never } });
    modelServer().play([READ]);
    expect(spentOf(await (await open(1)).ask())).toMatchObject({ steps: 1 });
    expect(spentOf(await (await open(9)).ask())).toMatchObject({ steps: 3 });
    expect(await (await open('many')).ask()).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining('maxSteps') },
    });
  });
});

describe('an agent in the background', () => {
  it('runs as a task, with its progress and result', async () => {
    const { crib, chest } = await desk();
    modelServer().play([READ, 'Done.']);
    const submitted = await chest.submit('helper', { question: '?' });
    expect(submitted).toMatchObject({ status: 'waiting', waiting: { for: 'task' } });
    const id = submitted.status === 'waiting' ? submitted.waiting.id : '';
    const task = await vi.waitUntil(
      async () => {
        const found = await crib.tasks.get(id);
        return found?.state === 'done' && found;
      },
      { timeout: 20_000 },
    );
    expect(JSON.stringify(task)).toContain('Done.');
    expect(modelServer().asked).toHaveLength(2);
  });
});

it('more tools than the API accepts are refused before the first request, with what to do', async () => {
  const many = Array.from(
    { length: 130 },
    (_, index): ToolInput => ({ name: `t${index}`, description: '', run: () => 1 }),
  );
  const { ask } = await desk({ tools: many });
  modelServer().play(['fine']);
  expect(await ask()).toMatchObject({
    error: { code: 'unavailable', message: expect.stringContaining('expose: search') },
  });
  expect(modelServer().asked).toHaveLength(0);
});

it('a crib without a configuration runs agents at public addresses only', async () => {
  const crib = await createCrib({
    tools: [...deskTools, agent({ profile: undefined, model: 'm', baseUrl: modelServer().url })],
  });
  onTestFinished(() => crib.close());
  expect(await (await crib.open()).call('helper', { question: '?' })).toMatchObject({ error: { code: 'denied' } });
});
