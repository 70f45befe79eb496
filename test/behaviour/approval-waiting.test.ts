import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ApprovalRequest,
  type Approve,
  approval,
  type Caller,
  type CribOptions,
  createCrib,
  type ToolInput,
} from '../../src/index.ts';

const run = vi.fn((input: unknown): unknown => input);
const pay: ToolInput = { name: 'pay', description: 'Pays', policy: { approval: 'always' }, run };

async function openFor(caller: Caller, options: CribOptions = {}) {
  return (await createCrib({ tools: [pay], ...options })).open(undefined, caller);
}

beforeEach(() => {
  run.mockClear();
});

describe('approval: waiting', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const never: Approve = () => new Promise(() => {});

  it('timed out: denied, saying so', async () => {
    const chest = await openFor({ approve: never });
    const result = chest.call('pay', { amount: 3 });
    await vi.advanceTimersByTimeAsync(300_000);
    expect(await result).toMatchObject({ error: { code: 'denied', message: expect.stringContaining('300000 ms') } });
    expect(run).not.toHaveBeenCalled();
  });

  it('ends when its time is up, and not before', async () => {
    const answers: unknown[] = [];
    const chest = await openFor({ approve: never }, { extensions: [approval({ timeoutMs: 50 })] });
    chest.call('pay', { amount: 3 }).then((result) => answers.push(result));
    await vi.advanceTimersByTimeAsync(49);
    expect(answers).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(answers).toHaveLength(1);
  });

  it.each([
    ['of the tool, before that of the profile', { approvalTimeoutMs: 20 }, { approvalTimeoutMs: 40 }, 20],
    ['of the profile, before that of the extension', {}, { approvalTimeoutMs: 40 }, 40],
    ['of the extension', {}, {}, 50],
  ])('has the time %s', async (_, ofTool, ofProfile, timeMs) => {
    const tools = [{ ...pay, policy: { approval: 'always', ...ofTool } } as ToolInput]; // the same tool
    const extensions = [approval({ timeoutMs: 50 })];
    const chest = await openFor({ approve: never }, { tools, extensions, profiles: { desk: { policy: ofProfile } } });
    const ended = vi.fn();
    const result = chest.call('pay').finally(ended);
    await vi.advanceTimersByTimeAsync(timeMs - 1);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toMatchObject({ error: { message: expect.stringContaining(`within ${timeMs} ms`) } });
  });

  it.each([0, -1, 'long', null])('a time to answer of %j is refused', async (approvalTimeoutMs) => {
    const tools = [{ ...pay, policy: { approvalTimeoutMs } } as unknown as ToolInput];
    await expect(createCrib({ tools })).rejects.toThrow('approvalTimeoutMs');
  });

  it('a time to answer beyond the last possible date ends after a year', async () => {
    const requests: ApprovalRequest[] = [];
    const tools = [{ ...pay, policy: { approval: 'always', approvalTimeoutMs: Number.MAX_SAFE_INTEGER } } as ToolInput]; // the same tool
    const chest = await openFor({ approve: (request) => requests.push(request) > 0 }, { tools });
    await chest.call('pay', { amount: 3 });
    expect((requests[0]?.expiresAt ?? 0) - Date.now()).toBeLessThanOrEqual(365 * 24 * 60 * 60 * 1000);
  });

  it('the approver sees the conversation, the turn and the door of a call', async () => {
    const approve = vi.fn<Approve>(() => true);
    const chest = await openFor({ approve });
    await chest.call('pay', {}, { conversation: 'c1', turn: 't7', door: 'chat' });
    expect(approve.mock.calls[0]?.[0]).toMatchObject({ conversation: 'c1', turn: 't7', door: 'chat' });
  });

  it('the approver sees when the request expires', async () => {
    const requests: ApprovalRequest[] = [];
    const chest = await openFor({ approve: (request) => requests.push(request) > 0 });
    const now = performance.timeOrigin + performance.now();
    await chest.call('pay', { amount: 3 });
    expect(requests[0]?.expiresAt).toBe(Math.round(now + 300_000));
  });

  it('a yes after the time is up does not run the call', async () => {
    const answer = Promise.withResolvers<boolean>();
    const chest = await openFor({ approve: () => answer.promise }, { extensions: [approval({ timeoutMs: 50 })] });
    const result = chest.call('pay', { amount: 3 });
    await vi.advanceTimersByTimeAsync(50);
    answer.resolve(true);
    await result;
    await vi.advanceTimersByTimeAsync(1000);
    expect(run).not.toHaveBeenCalled();
  });

  it('a call whose caller has disconnected is refused, and the approver is told', async () => {
    const requests: ApprovalRequest[] = [];
    const approve: Approve = (request) => {
      requests.push(request);
      return new Promise(() => {});
    };
    const chest = await openFor({ approve });
    const asker = new AbortController();
    const result = chest.call('pay', { amount: 3 }, { signal: asker.signal });
    asker.abort();
    expect(await result).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  it('a call whose caller has disconnected leaves no timer behind', async () => {
    const chest = await openFor({ approve: never });
    const asker = new AbortController();
    const result = chest.call('pay', { amount: 3 }, { signal: asker.signal });
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(1);
    asker.abort();
    await result;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a yes after the caller has disconnected does not run the call', async () => {
    const answer = Promise.withResolvers<boolean>();
    const chest = await openFor({ approve: () => answer.promise });
    const asker = new AbortController();
    const result = chest.call('pay', { amount: 3 }, { signal: asker.signal });
    asker.abort();
    answer.resolve(true);
    await result;
    await vi.advanceTimersByTimeAsync(1000);
    expect(run).not.toHaveBeenCalled();
  });
});
