import { describe, expect, it } from 'vitest';
import { startIssuer } from '../../identity/issuer.ts';
import { type Ask, execute, type Served, type ServeOptions, serve } from './served.ts';

const DAY_MS = 86_400_000;

/** A crib behind HTTP that also runs tasks. */
async function serveAndRun(options: ServeOptions = {}): Promise<Served> {
  const served = await serve(options);
  served.crib.server.runTasks();
  return served;
}

const later = { async: true, delayMs: DAY_MS };

/** The task as it is now. */
const taskOf = async (ask: Ask, id: string, token?: string) =>
  (await ask(`/api/tasks/${id}`, token === undefined ? {} : { token })).json.task;

const cancel = (ask: Ask, id: string, token?: string) =>
  ask(`/api/tasks/${id}`, { method: 'DELETE', ...(token !== undefined && { token }) });

const resend = (ask: Ask, id: string, token?: string) =>
  ask(`/api/tasks/${id}/resend`, { method: 'POST', ...(token !== undefined && { token }) });

describe('a call with async', () => {
  it('is answered 202 with the address of its task, which has the result after it ran', async () => {
    const { ask, crib } = await serveAndRun();
    const { status, headers, json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true, conversation: 'c1' });
    const { id } = json.waiting;
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/api/tasks/${id}`);
    expect(json).toEqual({
      ok: false,
      status: 'waiting',
      callId: id,
      waiting: { for: 'task', id, expiresAt: expect.any(Number) },
    });
    expect(json.waiting.expiresAt).toSatisfy(Number.isInteger);
    await crib.tasks.wait(id);
    expect(await taskOf(ask, id)).toMatchObject({
      id,
      tool: 'add',
      state: 'done',
      outcome: 'done',
      caller: { id: 'local' },
      conversation: 'c1',
      door: 'rest',
      attempts: 1,
      arguments: { a: 1, b: 2 },
      result: { ok: true, data: 3 },
      createdAt: expect.stringMatching(/Z$/),
      endedAt: expect.stringMatching(/Z$/),
    });
  });

  it('runs at its time, and at once if that has passed', async () => {
    const { ask, crib } = await serveAndRun();
    const at = new Date(Date.now() + DAY_MS).toISOString();
    const { json: delayed } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true, at, priority: -7 });
    expect(await taskOf(ask, delayed.waiting.id)).toMatchObject({ state: 'queued', priority: -7 });
    const { runAt } = await taskOf(ask, delayed.waiting.id);
    expect(Math.abs(Date.parse(runAt) - Date.parse(at))).toBeLessThan(60_000);
    const { json: due } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true, at: '2001-01-01T00:00:00Z' });
    expect(await crib.tasks.wait(due.waiting.id)).toMatchObject({ ok: true, data: 3 });
  });

  it('waits for approval like any call, and is listed while it does', async () => {
    const { ask, crib, token, deeds } = await serveAndRun();
    const { json } = await execute(ask, 'wipe', { what: 'all' }, { async: true });
    const { id } = json.waiting;
    await expect.poll(async () => (await taskOf(ask, id)).state, { timeout: 10_000 }).toBe('waiting');
    const { approvalId } = await taskOf(ask, id);
    expect(deeds.wiped).toEqual([]);
    await ask(`/api/approvals/${approvalId}`, { token, body: { decision: 'approve' } });
    expect(await crib.tasks.wait(id)).toMatchObject({ ok: true });
    expect(deeds.wiped).toEqual([{ what: 'all' }]);
  });

  it('is refused like any call, and then no task is stored', async () => {
    const { ask } = await serve();
    expect(await execute(ask, 'nothing', {}, { async: true })).toMatchObject({
      status: 404,
      json: { error: { code: 'unknown_tool' } },
    });
    expect(await execute(ask, 'add', { a: 'one' }, { async: true })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_input' } },
    });
    expect((await ask('/api/tasks')).json).toEqual({ tasks: [] });
  });

  it.each([
    [{ async: 'yes' }, '/async'],
    [{ async: true, delayMs: -1 }, '/delayMs'],
    [{ async: true, delayMs: 1e12 }, '/delayMs'],
    [{ async: true, at: 'tomorrow' }, '/at'],
    [{ async: true, priority: 101 }, '/priority'],
    [{ async: true, priority: 0.5 }, '/priority'],
    [{ async: true, expiresMs: 0 }, '/expiresMs'],
    [{ async: true, notify: '' }, '/notify'],
    [{ async: true, stream: true }, '/stream'],
  ])('%j is answered 400 and names %s', async (more, pointer) => {
    const { ask } = await serve();
    const { status, json } = await execute(ask, 'add', { a: 1, b: 2 }, more);
    expect(status).toBe(400);
    expect(json.error.issues.map(({ path }: { path: string }) => path)).toContain(pointer);
  });

  it.each([
    [{ async: true, at: '2001-01-01T00:00:00Z', delayMs: 1 }, '"delayMs" or "at"'],
    [{ async: true, at: Date.now() + 400 * DAY_MS }, 'at most a year'],
    [{ async: true, notify: 'nobody' }, 'The webhook "nobody" was not found'],
    [{ async: true, approvalId: 'aaaa-bbbb-cccc' }, 'Remove "approvalId"'],
    [{ delayMs: 1000 }, '"delayMs" is only for background calls. Add "async": true.'],
    [{ async: false, at: 1 }, '"at" is only for background calls. Add "async": true.'],
  ])('%j is answered 400 with the reason', async (more, reason) => {
    const { ask } = await serve();
    const { status, json } = await execute(ask, 'add', { a: 1, b: 2 }, more);
    expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'invalid_input' });
    expect(json.error.message).toContain(reason);
    expect((await ask('/api/tasks')).json.tasks).toEqual([]);
  });

  it('cannot be streamed, and has the bound of every body', async () => {
    const { ask } = await serve();
    const streamed = await ask('/api/tools/execute/add', {
      body: { arguments: { a: 1, b: 2 }, async: true },
      headers: { accept: 'text/event-stream' },
    });
    expect(streamed).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining('not streamed') } },
    });
    const large = await execute(ask, 'echo', { text: 'x'.repeat(4 * 1024 * 1024) }, { async: true });
    expect(large).toMatchObject({ status: 413, json: { error: { code: 'too_large' } } });
  });
});

describe('the tasks of other callers', () => {
  it('are not listed, shown, cancelled or resent: their ids are answered like unknown ones', async () => {
    const { ask, crib, token } = await serve({ access: true });
    const keys = await Promise.all(
      ['ann', 'bob'].map(async (name) => (await crib.keys.create({ name, roles: ['dev'] }, 'test')).key),
    );
    const [ann, bob] = keys as [string, string];
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, later, ann);
    const { id } = json.waiting;
    const unknown = '00000000-0000-7000-8000-000000000000';
    for (const send of [
      (one: string) => ask(`/api/tasks/${one}`, { token: bob }),
      (one: string) => cancel(ask, one, bob),
      (one: string) => resend(ask, one, bob),
    ]) {
      const theirs = await send(id);
      const missing = await send(unknown);
      expect(theirs).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
      expect(theirs.text.replaceAll(id, unknown)).toBe(missing.text);
    }
    expect((await ask('/api/tasks', { token: bob })).json.tasks).toEqual([]);
    expect((await ask(`/api/tasks?before=${id}`, { token: bob })).json.tasks).toEqual([]);
    expect((await ask('/api/tasks', { token: ann })).json.tasks).toMatchObject([{ id, state: 'queued' }]);
    expect((await ask('/api/tasks', { token })).json.tasks).toMatchObject([{ id, caller: { id: 'key:ann' } }]);
    expect(await cancel(ask, id, token)).toMatchObject({ status: 200, json: { task: { cancelledBy: 'operator' } } });
  });

  it.each(['x', '%00', 'a%0Ab%1b[31m', '..%2f..%2fhealthz', encodeURIComponent('\u202e'), 'x'.repeat(3000)])(
    'the id %j is answered 404',
    async (id) => {
      const { ask } = await serve();
      for (const heard of [await ask(`/api/tasks/${id}`), await cancel(ask, id), await resend(ask, id)])
        expect(heard).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    },
  );
});

describe('DELETE /api/tasks/{id}', () => {
  it('ends a task that has not begun, as often as it is sent, and by several at once', async () => {
    const { ask } = await serve();
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, later);
    const { id } = json.waiting;
    const both = await Promise.all([cancel(ask, id), cancel(ask, id)]);
    for (const { status, json: answer } of [...both, await cancel(ask, id)]) {
      expect(status).toBe(200);
      expect(answer.task).toMatchObject({ id, state: 'done', outcome: 'cancelled', cancelledBy: 'local' });
      expect(answer.task).not.toHaveProperty('result');
    }
    expect((await taskOf(ask, id)).result).toMatchObject({ error: { code: 'cancelled' } });
  });

  it('tells a running task to end', async () => {
    const { ask, crib, deeds } = await serveAndRun();
    const { entered } = deeds.hold();
    const { json } = await execute(ask, 'wait', {}, { async: true });
    const { id } = json.waiting;
    await entered;
    expect(await cancel(ask, id)).toMatchObject({
      status: 202,
      json: { task: { state: 'running', cancelledBy: 'local' } },
    });
    await crib.tasks.wait(id);
    expect((await taskOf(ask, id)).state).toBe('done');
  });

  it('is a conflict for a task that ended otherwise', async () => {
    const { ask, crib } = await serveAndRun();
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true });
    await crib.tasks.wait(json.waiting.id);
    expect(await cancel(ask, json.waiting.id)).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } });
    expect((await taskOf(ask, json.waiting.id)).outcome).toBe('done');
  });

  it('withdraws a parked call, as often as it is sent', async () => {
    const { ask } = await serve();
    const { json } = await execute(ask, 'wipe', { what: 'all' });
    const { id } = json.waiting;
    expect((await ask('/api/tasks?state=waiting')).json.tasks).toMatchObject([{ id, tool: 'wipe', approvalId: id }]);
    for (const heard of [await cancel(ask, id), await cancel(ask, id)])
      expect(heard).toMatchObject({ status: 200, json: { task: { id, state: 'done', outcome: 'cancelled' } } });
    expect((await ask('/api/tasks')).json.tasks).toEqual([]);
  });
});

describe('POST /api/tasks/{id}/resend', () => {
  it('stores an ended task again, with the address of the new one', async () => {
    const { ask, crib } = await serveAndRun();
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true, idempotencyKey: 'k' });
    await crib.tasks.wait(json.waiting.id);
    const { status, headers, json: again } = await resend(ask, json.waiting.id);
    const { id } = again.task;
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/api/tasks/${id}`);
    expect(again.task).toMatchObject({ resentFrom: json.waiting.id, tool: 'add' });
    expect(await crib.tasks.wait(id)).toMatchObject({ ok: true, data: 3 });
  });

  it('submits the new task at this door, whichever door the old one came from', async () => {
    const { ask, crib, token } = await serve();
    const chest = await crib.open('usual', { id: 'ann' });
    const result = await chest.submit('add', { a: 1, b: 2 }, { delayMs: DAY_MS, door: 'library' });
    const id = result.status === 'waiting' ? result.waiting.id : '';
    await cancel(ask, id, token);
    expect((await resend(ask, id, token)).json.task).toMatchObject({
      resentFrom: id,
      door: 'rest',
      caller: { id: 'ann' },
    });
  });

  it('is a conflict while the task is queued or running', async () => {
    const { ask, deeds } = await serveAndRun();
    const { entered, open } = deeds.hold();
    const { json: running } = await execute(ask, 'wait', {}, { async: true });
    const { json: queued } = await execute(ask, 'add', { a: 1, b: 2 }, later);
    await entered;
    for (const { waiting } of [running, queued])
      expect(await resend(ask, waiting.id)).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } });
    open();
  });

  it('is refused if the caller of the task may no longer call', async () => {
    const { ask, crib, token } = await serveAndRun({ access: true });
    const { key, info } = await crib.keys.create({ name: 'ann', roles: ['dev'] }, 'test');
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true }, key);
    await crib.tasks.wait(json.waiting.id);
    await crib.keys.revoke(info.id, 'test');
    expect(await resend(ask, json.waiting.id, token)).toMatchObject({
      status: 403,
      json: { error: { code: 'denied' } },
    });
    expect((await ask('/api/tasks', { token })).json.tasks).toHaveLength(1);
  });
});

it('a caller gives no task a priority over those of others, unless its role allows it', async () => {
  const issuer = await startIssuer();
  const config = `access: { jwt: { issuer: "${issuer.url}", audience: toolcrib }, roles: { dev: { profiles: [usual] }, urgent: { profiles: [usual], maxPriority: 50 } } }\n`;
  const { ask, token } = await serve({ config });
  const codeOf = async (priority: number, who: string) =>
    (await execute(ask, 'add', { a: 1, b: 2 }, { ...later, priority }, who)).json.error?.code;
  const [plain, urgent] = [await issuer.sign({ roles: ['dev'] }), await issuer.sign({ roles: ['dev', 'urgent'] })];
  expect([await codeOf(0, plain), await codeOf(-100, plain)]).toEqual([undefined, undefined]);
  expect([await codeOf(1, plain), await codeOf(100, plain)]).toEqual(['denied', 'denied']);
  expect([await codeOf(50, urgent), await codeOf(51, urgent)]).toEqual([undefined, 'denied']);
  expect(await codeOf(100, token)).toBeUndefined();
  expect((await ask('/api/tasks', { token })).json.tasks).toHaveLength(4);
});

describe('a task of a caller that now has fewer rights', () => {
  it('is resent with these, also by another key or token of the same caller', async () => {
    const issuer = await startIssuer();
    const config = `access: { keys: true, jwt: { issuer: "${issuer.url}", audience: toolcrib }, roles: { boss: { profiles: [usual, other] }, dev: { profiles: [usual] } } }\n`;
    const { ask, crib, token } = await serveAndRun({ config });
    const signed = (roles: readonly string[]) => issuer.sign({ roles });
    const [before, after] = [await signed(['boss']), await signed(['dev'])];
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true, profile: 'other' }, before);
    const { id } = json.waiting;
    await crib.tasks.wait(id);
    const { key } = await crib.keys.create({ name: 'agent', caller: 'alice', roles: ['dev'] }, 'test');
    for (const less of [after, key])
      expect(await resend(ask, id, less)).toMatchObject({ status: 403, json: { error: { code: 'denied' } } });
    for (const same of [before, token])
      expect(await resend(ask, id, same)).toMatchObject({
        status: 202,
        json: { task: { caller: { roles: ['boss'] } } },
      });
    const { json: usual } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true, profile: 'usual' }, before);
    await crib.tasks.wait(usual.waiting.id);
    expect((await resend(ask, usual.waiting.id, after)).json.task.caller).toEqual({ id: 'alice', roles: ['dev'] });
  });

  it('is as old as its identity, however often an operator resends it', async () => {
    const { ask, crib, token } = await serveAndRun();
    const { json } = await execute(ask, 'add', { a: 1, b: 2 }, { async: true });
    await crib.tasks.wait(json.waiting.id);
    const identifiedAt = async (id: string) => (await crib.store?.tasks.get(id))?.identifiedAt;
    const first = await identifiedAt(json.waiting.id);
    expect(await identifiedAt((await resend(ask, json.waiting.id, token)).json.task.id)).toBe(first);
    expect(await identifiedAt((await resend(ask, json.waiting.id)).json.task.id)).toBeGreaterThan(first ?? Infinity);
  });
});

describe('GET /api/tasks', () => {
  it('lists the newest first, page by page, by state, outcome and tool', async () => {
    const { ask } = await serve();
    const tools = ['add', 'long', 'add', 'long', 'add'];
    const submitted: string[] = [];
    for (const tool of tools) {
      const { json } = await execute(ask, tool, tool === 'add' ? { a: 1, b: 2 } : {}, later);
      submitted.push(json.waiting.id);
    }
    const idsOf = async (query: string) =>
      (await ask(`/api/tasks?${query}`)).json.tasks.map(({ id }: { id: string }) => id);
    const ids = await idsOf('limit=5'); // tasks of one millisecond are in the order of their ids
    expect(ids.toSorted()).toEqual(submitted.toSorted());
    const first = (await ask('/api/tasks?limit=3')).json;
    expect(first.tasks.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 3));
    const second = (await ask(`/api/tasks?limit=3&before=${first.nextBefore}`)).json;
    expect(second.tasks.map(({ id }: { id: string }) => id)).toEqual(ids.slice(3));
    expect(second).not.toHaveProperty('nextBefore');
    expect(second.tasks[0]).not.toHaveProperty('arguments');
    expect((await idsOf('tool=long')).toSorted()).toEqual([submitted[1], submitted[3]].toSorted());
    await cancel(ask, ids[0]);
    expect(await idsOf('outcome=cancelled')).toEqual([ids[0]]);
    expect(await idsOf('state=queued')).toEqual(ids.slice(1));
    expect(await idsOf('before=unknown')).toEqual([]);
  });

  it('lists parked calls among the tasks of every page, each once', async () => {
    const { ask } = await serve();
    const submitted: string[] = [];
    for (const tool of ['wipe', 'add', 'wipe', 'add', 'add', 'wipe', 'wipe']) {
      const { json } = await (tool === 'add'
        ? execute(ask, 'add', { a: 1, b: 2 }, later)
        : execute(ask, 'wipe', { what: `${submitted.length}` }));
      submitted.push(json.waiting.id);
    }
    for (const limit of [1, 2, 3]) {
      const listed: string[] = [];
      let next = '';
      do {
        const { json } = await ask(`/api/tasks?limit=${limit}${next}`);
        listed.push(...json.tasks.map(({ id }: { id: string }) => id));
        next = json.nextBefore === undefined ? '' : `&before=${json.nextBefore}`;
      } while (next !== '');
      expect(listed).toHaveLength(submitted.length);
      expect(listed.toSorted()).toEqual(submitted.toSorted());
    }
  });

  it.each(['limit=0', 'limit=1001', 'limit=many', 'state=lost', 'before=', 'colour=red'])(
    '%s is answered 400',
    async (query) => {
      const { ask } = await serve();
      expect(await ask(`/api/tasks?${query}`)).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_input' } },
      });
    },
  );
});
