import { describe, expect, it } from 'vitest';
import { serve } from './served.ts';

const NIGHTLY = { name: 'nightly', tool: 'add', arguments: { a: 1, b: 2 }, cron: '0 3 * * *' };
const PATH = '/api/schedules';

async function office() {
  const { ask, crib, token } = await serve();
  const operate = (method: string, path = PATH, body?: unknown) =>
    ask(path, { method, token, ...(body !== undefined && { body }) });
  return { ask, crib, operate };
}

describe('schedules over REST', () => {
  it('are added, listed with times as text, and removed', async () => {
    const { operate } = await office();
    const added = await operate('POST', PATH, {
      ...NIGHTLY,
      at: '2999-12-24T18:00:00',
      cron: undefined,
      timeZone: 'Europe/Berlin',
    });
    expect(added).toMatchObject({
      status: 201,
      json: {
        name: 'nightly',
        from: 'store',
        by: 'operator',
        at: '2999-12-24T17:00:00.000Z',
        nextAt: '2999-12-24T17:00:00.000Z',
      },
    });
    expect((await operate('GET')).json).toEqual({ schedules: [added.json] });
    expect(await operate('DELETE', `${PATH}/nightly`)).toMatchObject({ status: 200, json: { removed: ['nightly'] } });
    expect(await operate('DELETE', `${PATH}?name=nightly`)).toMatchObject({
      status: 404,
      json: { error: { code: 'not_found' } },
    });
  });

  it('conflict if the name is taken, and can be replaced', async () => {
    const { operate } = await office();
    await operate('POST', PATH, NIGHTLY);
    expect(await operate('POST', PATH, NIGHTLY)).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } });
    expect(await operate('POST', PATH, { ...NIGHTLY, cron: '0 4 * * *', replace: true })).toMatchObject({
      status: 201,
      json: { cron: '0 4 * * *' },
    });
  });

  it('submit their call now, and answer with the address of the task', async () => {
    const { operate, crib } = await office();
    await operate('POST', PATH, NIGHTLY);
    const { status, headers, json } = await operate('POST', `${PATH}/nightly/run`);
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(`/api/tasks/${json.waiting.id}`);
    expect(await crib.tasks.get(json.callId)).toMatchObject({ tool: 'add', caller: { id: 'schedule:nightly' } });
    expect((await operate('POST', `${PATH}/unknown/run`)).status).toBe(404);
  });

  it('answer with the refusal if their call cannot be submitted', async () => {
    const { operate } = await office();
    await operate('POST', PATH, { ...NIGHTLY, tool: 'unknown' });
    expect((await operate('GET')).json.schedules[0].problem).toContain('The tool "unknown" cannot be called');
    expect(await operate('POST', `${PATH}/nightly/run`)).toMatchObject({
      status: 404,
      json: { error: { code: 'unknown_tool' } },
    });
  });

  it.each<[unknown, string]>([
    [{ ...NIGHTLY, cron: '0 0 31 2 *' }, 'it never matches'],
    [{ ...NIGHTLY, timeZone: 'Mars/X' }, 'is not known'],
    [{ ...NIGHTLY, at: '2999-01-01T00:00:00Z' }, 'it has cron and at'],
    [{ ...NIGHTLY, cron: undefined, at: '2000-01-01T00:00:00Z' }, 'its time is in the past'],
    [{ ...NIGHTLY, name: 'a b' }, 'The name of a schedule'],
    [{ ...NIGHTLY, arguments: { a: 'x'.repeat(300_000) } }, 'at most 262144 are allowed'],
  ])('are refused with the reason: %o', async (body, reason) => {
    const { operate } = await office();
    const { status, json } = await operate('POST', PATH, body);
    expect([status, json.error.code]).toEqual([400, 'invalid_input']);
    expect(json.error.message).toContain(reason);
  });

  it.each([{}, { name: 'a' }, { ...NIGHTLY, name: 7 }, { ...NIGHTLY, missed: 'all' }, { ...NIGHTLY, more: 1 }, []])(
    'of the wrong shape are refused: %o',
    async (body) => {
      const { operate } = await office();
      expect(await operate('POST', PATH, body)).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_input' } },
      });
    },
  );
});
