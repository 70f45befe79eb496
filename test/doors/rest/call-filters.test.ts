import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ToolCall, ToolInput } from '../../../src/index.ts';
import { execute, serve } from './served.ts';

const names = (rows: readonly { tool: string }[]) => rows.map(({ tool }) => tool);

/** A tool that calls others, two levels deep. */
const outer = {
  name: 'outer',
  description: 'Call others',
  run: async (_: unknown, call: ToolCall) => {
    await call.tools.call('inner', {});
    await call.tools.call('add', { a: 1, b: 1 });
    return 'ok';
  },
} as ToolInput;
const inner = {
  name: 'inner',
  description: 'Call another',
  run: async (_: unknown, call: ToolCall) => void (await call.tools.call('add', { a: 2, b: 2 })),
} as ToolInput;

describe('the list of calls', () => {
  it('is filtered by every member of a call, and all filters must hold', async () => {
    const { ask, token } = await serve();
    await execute(ask, 'add', { a: 1, b: 2 }, { conversation: 'c1', turn: 't1', profile: 'usual' }, token);
    await execute(ask, 'add', { a: 1, b: 2 }, { conversation: 'C1', turn: 't2', profile: 'other' }, token);
    await execute(ask, 'add', {}, { conversation: 'c1', turn: 't2' }, token);
    await execute(ask, 'wipe', { what: 'x' }, { conversation: 'say "conversation":"c1"' }, token);
    const count = async (query: string) => (await ask(`/api/calls?${query}`, { token })).json.calls.length;
    expect(await count('conversation=c1')).toBe(2);
    expect(await count('conversation=C1')).toBe(1);
    expect(await count('conversation=c1&turn=t2')).toBe(1);
    expect(await count('profile=other')).toBe(1);
    expect(await count('status=failed')).toBe(1);
    expect(await count('status=waiting')).toBe(1);
    expect(await count('status=done')).toBe(2);
    expect(await count('code=invalid_input')).toBe(1);
    expect(await count('code=invalid_input&outcome=done')).toBe(0);
    expect(await count('source=code')).toBe(4);
    expect(await count('source=nothing')).toBe(0);
    expect(await count('parent=nothing')).toBe(0);
    expect(await count('since=2999-01-01T00:00:00Z')).toBe(0);
    expect(await count('until=2999-01-01T00:00:00Z')).toBe(4);
    expect(await count('status=running')).toBe(0);
    expect((await ask('/api/calls?since=yesterday', { token })).status).toBe(400);
    expect((await ask('/api/calls?conversation=c1&turn=t1', { token })).json.calls[0]).toMatchObject({ turn: 't1' });
  });

  it('pages through filtered calls without gaps', async () => {
    const { ask, token } = await serve();
    for (let index = 0; index < 5; index++)
      await execute(ask, 'add', { a: index, b: 0 }, { conversation: index % 2 === 0 ? 'even' : 'odd' }, token);
    const first = await ask('/api/calls?conversation=even&limit=2', { token });
    const second = await ask(`/api/calls?conversation=even&limit=2&cursor=${first.json.nextCursor}`, { token });
    expect([first.json.calls.length, second.json.calls.length, second.json.nextCursor]).toEqual([2, 1, undefined]);
  });

  it('has for a caller its own calls only, whatever it asks for', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    await execute(ask, 'add', { a: 1, b: 2 }, {}, key);
    await execute(ask, 'echo', {}, {}, token);
    expect(names((await ask('/api/calls', { token: key })).json.calls)).toEqual(['add']);
    expect(names((await ask('/api/calls?caller=operator', { token: key })).json.calls)).toEqual(['add']);
    expect(names((await ask('/api/calls', { token })).json.calls)).toEqual(['echo', 'add']);
  });
});

describe('the calls inside a call', () => {
  it('are listed at every depth, for its caller and operators alone', async () => {
    const { ask, crib, token } = await serve({ access: true });
    crib.register([outer, inner]);
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    const other = await crib.keys.create({ name: 'other', roles: ['dev'] }, 'test');
    const { json } = await execute(ask, 'outer', {}, {}, key);
    await execute(ask, 'outer', {}, {}, token);
    const path = `/api/calls/${json.callId}/children`;
    const { calls } = (await ask(path, { token })).json;
    expect(names(calls).toSorted()).toEqual(['add', 'add', 'inner']);
    const within = calls.find(({ tool }: { tool: string }) => tool === 'inner');
    expect(calls.filter(({ parentId }: { parentId: string }) => parentId === within.callId)).toHaveLength(1);
    expect((await ask(path, { token: key })).json.calls).toHaveLength(3);
    expect((await ask(path, { token: other.key })).status).toBe(404);
    expect((await ask('/api/calls/nothing/children', { token })).status).toBe(404);
    expect((await ask(`/api/calls?parent=${json.callId}`, { token })).json.calls).toHaveLength(2);
  });
});

describe('a call in flight', () => {
  it('is listed and cancelled by its caller or an operator', async () => {
    const { ask, crib, deeds, token } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    const other = await crib.keys.create({ name: 'other', roles: ['dev'] }, 'test');
    const gate = deeds.hold();
    const answer = execute(ask, 'wait', {}, { conversation: 'c1', turn: 't1' }, key);
    await gate.entered;
    const { calls } = (await ask('/api/calls?status=running&conversation=c1', { token })).json;
    expect(calls).toEqual([
      expect.objectContaining({ tool: 'wait', caller: 'key:ci', outcome: 'running', turn: 't1' }),
    ]);
    expect((await ask('/api/calls?status=running', { token: other.key })).json.calls).toEqual([]);
    const path = `/api/calls/${calls[0].callId}/cancel`;
    expect((await ask(path, { method: 'POST', token: other.key })).status).toBe(404);
    expect((await ask(path, { method: 'POST', token: key })).json).toEqual({ callId: calls[0].callId, cancelled: 1 });
    expect((await answer).json.error).toMatchObject({
      code: 'unknown_outcome',
      message: expect.stringContaining('cancelled by its caller'),
    });
    await vi.waitFor(async () => expect((await ask(path, { method: 'POST', token: key })).status).toBe(409));
    expect((await ask('/api/calls/nothing/cancel', { method: 'POST', token })).status).toBe(404);
  });

  it('ends with the calls inside it, and with its conversation', async () => {
    const { ask, crib, deeds, token } = await serve();
    crib.register({
      name: 'around',
      description: 'Wait inside',
      run: async (_: unknown, call: ToolCall) => void (await call.tools.call('wait', {})),
    } as ToolInput);
    const gate = deeds.hold();
    const answer = execute(ask, 'around', {}, { conversation: 'c1' }, token);
    await gate.entered;
    const children = async () => {
      const { json } = await ask('/api/calls?status=running', { token });
      const top = json.calls.find(({ parentId }: { parentId?: string }) => parentId === undefined);
      return (await ask(`/api/calls/${top.callId}/children`, { token })).json.calls;
    };
    expect(names(await children())).toEqual(['wait']);
    const cancel = (conversation: string) => ask('/api/calls/cancel', { body: { conversation }, token });
    expect((await cancel('c2')).json).toEqual({ cancelled: 0 });
    expect((await cancel('c1')).json).toEqual({ cancelled: 2 });
    expect((await answer).json.ok).toBe(false);
  });

  it('that waits in the background is cancelled as a task', async () => {
    const { ask, token } = await serve();
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true }, token);
    expect((await ask(`/api/calls/${json.callId}/cancel`, { method: 'POST', token })).json.cancelled).toBe(1);
    expect((await ask(`/api/tasks/${json.callId}`, { token })).json.task.outcome).toBe('cancelled');
  });
});

describe('use', () => {
  it('of each tool and caller is counted for operators', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'ci', roles: ['dev'] }, 'test');
    await execute(ask, 'add', { a: 1, b: 2 }, {}, key);
    await execute(ask, 'add', {}, {}, token);
    const { tools } = (await ask('/api/tools?pattern=add', { token })).json;
    expect(tools[0]).toMatchObject({
      calls30Days: 2,
      lastUsedAt: expect.any(String),
      danger: 'read',
      tokens: expect.any(Number),
    });
    expect((await ask('/api/tools?pattern=wipe', { token })).json.tools[0]).toMatchObject({
      calls30Days: 0,
      danger: 'destructive',
    });
    expect((await ask('/api/tools?pattern=add', { token: key })).json.tools[0]).not.toHaveProperty('calls30Days');
    expect((await ask('/api/callers', { token })).json.callers).toEqual([
      expect.objectContaining({ id: 'key:ci', calls30Days: 1, failed30Days: 0, roles: ['dev'] }),
      expect.objectContaining({ id: 'operator', calls30Days: 1, failed30Days: 1, keys: [] }),
    ]);
    expect((await ask('/api/tools/add/stats', { token })).json).toMatchObject({
      calls: 2,
      failed: 1,
      errorRate: 0.5,
      p50Ms: expect.any(Number),
      byOutcome: { done: 1, invalid_input: 1 },
      lastCalls: [{ outcome: 'invalid_input' }, { outcome: 'done' }],
    });
    expect((await ask('/api/tools/nothing/stats', { token })).json).toMatchObject({
      calls: 0,
      errorRate: 0,
      lastCalls: [],
    });
    const order = async (sort: string) =>
      names2((await ask(`/api/tools?sort=${sort}&limit=1000`, { token })).json.tools);
    expect((await order('calls')).at(-1)).toBe('add');
    expect((await order('lastUsed')).at(-1)).toBe('add');
    expect(await order('name')).toEqual((await order('catalog')).toSorted());
    expect((await ask('/api/tools?sort=calls', { token: key })).status).toBe(403);
    expect((await ask('/api/tools?sort=tokens', { token: key })).status).toBe(200);
  });

  it('of a call that waited for an approval is one call', async () => {
    const { ask, crib, token } = await serve({ access: true });
    onTestFinished(crib.runParked());
    const { json } = await execute(ask, 'wipe', { what: 'all' }, {}, token);
    await ask(`/api/approvals/${json.waiting.id}`, { token, body: { decision: 'approve' } });
    const wiped = async () => (await ask('/api/tools/wipe/stats', { token })).json;
    await expect.poll(async () => (await wiped()).byOutcome).toEqual({ waiting: 1, done: 1 });
    expect(await wiped()).toMatchObject({ calls: 1, failed: 0 });
    await expect.poll(async () => (await ask('/api/tools?pattern=wipe', { token })).json.tools[0].calls30Days).toBe(1);
  });
});

const names2 = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

describe('facets', () => {
  it('count what the caller sees, and list what did not become a tool', async () => {
    const { ask, token } = await serve({
      config: `
tools:
  - { name: hidden_here, description: Not on this machine, run: { kind: shell, command: [echo] }, when: { env: NO_SUCH_VARIABLE_AT_ALL } }
  - { name: add, description: Taken, run: { kind: shell, command: [echo] } }
`,
    });
    const { json } = await ask('/api/tools/facets', { token });
    expect(json.total).toBe((await ask('/api/tools?limit=1', { token })).json.total);
    expect(json.facets.danger).toContainEqual({ value: 'destructive', count: 1 });
    expect(json.facets.tags).toContainEqual({ value: 'math', count: 1 });
    expect(json.facets.state).toEqual([{ value: 'ready', count: json.total }]);
    expect(json.facets.kind).toContainEqual({ value: 'function', count: json.total });
    expect(json.leftOut).toContainEqual(expect.objectContaining({ name: 'hidden_here', why: 'excluded' }));
    expect(json.leftOut).toContainEqual(expect.objectContaining({ name: 'add', source: 'inline', why: 'duplicate' }));
    const own = (await ask('/api/tools/facets')).json;
    expect([own.total, own.facets.kind, own.leftOut]).toEqual([json.total - 1, undefined, undefined]);
    for (const filter of ['danger=destructive', 'state=ready', 'state=down', 'danger=unknown'])
      expect((await ask(`/api/tools?${filter}`)).status).toBe(200);
    expect((await ask('/api/tools?danger=destructive')).json.tools).toHaveLength(1);
    expect((await ask('/api/tools?state=down')).json.tools).toEqual([]);
  });
});
