import { describe, expect, it } from 'vitest';
import { type Ask, execute, serve } from './served.ts';

const stop = (ask: Ask, token: string, body: object) => ask('/api/stops', { body, token });
const resume = (ask: Ask, token: string, query: string) => ask(`/api/stops?${query}`, { method: 'DELETE', token });
const add = (ask: Ask) => execute(ask, 'add', { a: 1, b: 2 });

describe('emergency stops over REST', () => {
  it('refuse calls with 503 until they are resumed; a second stop is told of the first', async () => {
    const { ask, token } = await serve();
    const first = await stop(ask, token, { target: 'tool:add', note: 'it adds wrongly' });
    const made = { target: 'tool:add', note: 'it adds wrongly', by: 'operator', since: expect.any(String) };
    expect(first).toMatchObject({ status: 201, json: { stop: made, result: 'stopped', ended: 0 } });
    expect(await add(ask)).toMatchObject({
      status: 503,
      json: { ok: false, error: { code: 'unavailable', message: expect.stringContaining('it adds wrongly') } },
    });
    expect(await stop(ask, token, { target: 'tool:add', note: 'other' })).toMatchObject({
      status: 200,
      json: { stop: made, result: 'already' },
    });
    expect((await ask('/api/stops', { token })).json).toEqual({ stops: [first.json.stop] });
    expect(await resume(ask, token, 'target=tool:add')).toMatchObject({ status: 200, json: { resumed: made } });
    expect((await add(ask)).status).toBe(200);
    expect(await resume(ask, token, 'target=tool:add')).toMatchObject({
      status: 404,
      json: { error: { message: 'tool:add is not stopped, so it cannot be resumed. No stop is in force.' } },
    });
  });

  it('cancel calls in flight on request', async () => {
    const { ask, token, deeds } = await serve();
    const gate = deeds.hold();
    const waiting = execute(ask, 'wait', {});
    await gate.entered;
    expect((await stop(ask, token, { target: 'all', cancel: true })).json).toMatchObject({ ended: 1 });
    expect((await waiting).json).toMatchObject({ error: { code: expect.stringMatching(/cancelled|unknown_outcome/) } });
    gate.open();
  });

  it('are shown where a tool, its explanation and its source are', async () => {
    const { ask, token } = await serve();
    await stop(ask, token, { target: 'source:code', note: 'repairs' });
    const said = [expect.stringMatching(/stopped by the operator \(source:code, since .*: repairs\)/)];
    expect((await ask('/api/tools/add', { token })).json.stops).toEqual(said);
    expect((await ask('/api/tools/add')).json).not.toHaveProperty('stops');
    expect((await ask('/api/tools/add/explain', { token })).json.stops).toEqual(said);
    const { sources } = (await ask('/api/sources', { token })).json;
    expect(sources).toContainEqual(
      expect.objectContaining({ name: 'code', stop: expect.objectContaining({ note: 'repairs' }) }),
    );
  });

  it.each([
    [{}, 'target'],
    [{ target: 'tool:ad' }, 'Did you mean "add"?'],
    [{ target: 'everything' }, 'use tool:NAME, source:NAME, caller:ID, profile:NAME or all'],
    [{ target: 'tool:add', note: 'x'.repeat(201) }, '200'],
    [{ target: 'tool:add', note: 'a\u0000b' }, 'without control characters'],
    [{ target: 'tool:add', cancel: 'yes' }, 'cancel'],
    [{ target: 'tool:add', by: 'mallory' }, 'by'],
    [{ target: 'caller:a\u0000b' }, 'without control characters'],
    [{ target: 7 }, 'target'],
  ])('%j is a 400 that says why, and stops nothing', async (body, message) => {
    const { ask, token } = await serve();
    const answer = await stop(ask, token, body);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(message.replaceAll('"', '\\"'));
    expect((await ask('/api/stops', { token })).json).toEqual({ stops: [] });
  });

  it('are for operators: a caller can neither stop nor resume nor list', async () => {
    const { ask, crib } = await serve({ access: true });
    const { key } = await crib.keys.create({ name: 'dev', roles: ['dev'] }, 'test');
    const admin = await crib.keys.create({ name: 'admin', roles: ['admin'] }, 'test');
    expect((await stop(ask, key, { target: 'all' })).status).toBe(403);
    expect((await stop(ask, 'nothing', { target: 'all' })).status).toBe(401);
    expect(await stop(ask, admin.key, { target: 'all' })).toMatchObject({
      status: 201,
      json: { stop: { by: 'key:admin' } },
    });
    expect((await resume(ask, key, 'target=all')).status).toBe(403);
    expect((await ask('/api/stops', { token: key })).status).toBe(403);
    expect((await execute(ask, 'add', { a: 1, b: 2 }, {}, key)).status).toBe(503);
  });
});
