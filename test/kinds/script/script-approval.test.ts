import { expect, it, onTestFinished, vi } from 'vitest';
import { type Approve, createCrib } from '../../../src/index.ts';
import { shopTools } from './script-shop.ts';

const CODE = `
  const read = await tools.echo({ a: 1 });
  try { return [read, await tools.wipe({ disk: 'c' })] } catch (error) { return [read, error.code, error.message] }`;

async function open(approve?: Approve, timeoutMs = 60_000) {
  const runs: unknown[] = [];
  const wipe = {
    name: 'wipe',
    description: 'Wipe a disk',
    input: { type: 'object' },
    effects: { destructive: true },
    run: (input: unknown) => {
      runs.push(input);
      return 'wiped';
    },
  } as const;
  const crib = await createCrib({
    tools: [...shopTools, wipe],
    store: 'memory',
    profiles: { agent: { expose: 'script', policy: { timeoutMs } } },
  });
  onTestFinished(() => crib.close());
  const chest = await crib.open('agent', { id: 'alice', ...(approve !== undefined && { approve }) });
  return { crib, chest, runs };
}

it('Approval holds inside scripts: exactly one request carrying tool, arguments, caller and reason.', async () => {
  const asked: unknown[] = [];
  const { chest, runs } = await open(({ tool, arguments: given, caller, reason, inside }) => {
    asked.push({ tool, given, caller: caller.id, reason, inside });
    return true;
  });
  expect(await chest.call('execute_script', { code: CODE }, { timeoutMs: 30_000 })).toMatchObject({
    data: [{ a: 1 }, 'wiped'],
  });
  const reason = 'it is destructive';
  expect(asked).toEqual([{ tool: 'wipe', given: { disk: 'c' }, caller: 'alice', reason, inside: ['execute_script'] }]);
  expect(runs).toEqual([{ disk: 'c' }]);
});

it('a denied call is an error in the script, and its tool does not run', async () => {
  const { chest, runs } = await open(() => false);
  const result = await chest.call('execute_script', { code: CODE }, { timeoutMs: 30_000 });
  expect(result).toMatchObject({ ok: true, data: [{ a: 1 }, 'denied', expect.any(String)] });
  expect(runs).toEqual([]);
});

it('without an approver who is present, a script that may not wait is refused the call', async () => {
  const { crib, chest, runs } = await open();
  const result = await chest.call('execute_script', { code: CODE }, { timeoutMs: 30_000 });
  expect(result).toMatchObject({ data: [{ a: 1 }, 'denied', expect.stringContaining('Call "wipe" directly.')] });
  expect(await crib.approvals.list({})).toMatchObject([]);
  expect(runs).toEqual([]);
});

it('the time of a script stands still while an approver decides', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<boolean>();
  const { chest } = await open(() => {
    asked.resolve();
    return answer.promise;
  }, 100);
  const result = chest.call('execute_script', { code: CODE });
  await asked.promise;
  await vi.advanceTimersByTimeAsync(200_000);
  answer.resolve(true);
  expect(await result).toMatchObject({ ok: true, data: [{ a: 1 }, 'wiped'] });
});

it('an approval does not count for a tool that was changed while the script waited', async () => {
  const { crib, chest, runs } = await open();
  const result = await chest.call('execute_script', { code: CODE }, { park: true });
  if (result.status !== 'waiting') throw new Error('not waiting');
  const { id, callId = '' } = result.waiting;
  crib.unregister('wipe');
  crib.register({
    name: 'wipe',
    description: 'Wipe all disks',
    input: { type: 'object' },
    effects: { destructive: true },
    run: (input: unknown) => void runs.push(input),
  });
  expect(await crib.approvals.answer(id, { decision: 'approve' }, { id: 'boss', operator: true })).toMatchObject({
    ok: true,
  });
  expect(await crib.tasks.wait(callId)).toMatchObject({
    data: [{ a: 1 }, 'denied', expect.stringContaining('before it changed')],
  });
  expect(runs).toEqual([]);
});

it('every inner call is in the audit log below the script, also a refused one, on behalf of its caller', async () => {
  const { crib, chest } = await open();
  const id = 'the-script';
  await chest.call(
    'execute_script',
    { code: `${CODE.replace('return', 'await tools.no_such_tool({}).catch(() => 0); return')}` },
    { id },
  );
  const rows = await crib.calls.list();
  const shown = rows.map(({ tool, outcome, parentId, caller, profile }) => [tool, outcome, parentId, caller, profile]);
  expect(shown.toSorted()).toEqual([
    ['echo', 'done', id, 'alice', 'agent'],
    ['execute_script', 'done', undefined, 'alice', 'agent'],
    ['no_such_tool', 'unknown_tool', id, 'alice', 'agent'],
    ['wipe', 'denied', id, 'alice', 'agent'],
  ]);
});
