import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  approval,
  type Crib,
  type CribOptions,
  createCrib,
  defineTool,
  type ToolInput,
  type ToolResult,
} from '../../../src/index.ts';

const OBJECT = { type: 'object' } as const;
const OPERATOR = { id: 'boss', operator: true } as const;

/** A crib whose tools note what they were called with. */
async function open(options: Omit<CribOptions, 'tools'> & { readonly tools?: readonly ToolInput[] } = {}) {
  const made: string[] = [];
  const note = (name: string, effects: object) =>
    defineTool({
      name,
      description: `Notes ${name}`,
      input: OBJECT,
      effects,
      run: (input: unknown) => {
        made.push(`${name} ${JSON.stringify(input)}`);
        return { name, input: input as object };
      },
    });
  const tools = [note('read', { readOnly: true }), note('write', { destructive: true }), note('send', {})];
  const { tools: more = [], ...rest } = options;
  const crib = await createCrib({
    tools: [...tools, ...more],
    store: 'memory',
    profiles: { agent: { expose: 'script' } },
    ...rest,
  });
  onTestFinished(() => crib.close());
  const chest = await crib.open('agent', { id: 'alice' });
  const run = (code: string, more: object = {}) => chest.call('execute_script', { code }, { park: true, ...more });
  return { crib, chest, made, run };
}

function waitingOf(result: ToolResult) {
  if (result.status !== 'waiting') throw new Error(`not waiting: ${JSON.stringify(result)}`);
  return { callId: '', ...result.waiting };
}

function dataOf(result: ToolResult | undefined): unknown {
  if (result?.ok !== true) throw new Error(`failed: ${JSON.stringify(result)}`);
  return result.data;
}

const answer = async (crib: Crib, id: string, decision: 'approve' | 'deny' = 'approve') =>
  expect(await crib.approvals.answer(id, { decision }, OPERATOR)).toMatchObject({ ok: true });

const CODE = `
  const begun = [Date.now(), Math.random()];
  const read = await Promise.all([1, 2, 3, 4, 5].map((n) => tools.read({ n })));
  console.log('read', read.length);
  const found = await search('notes');
  const written = await tools.write({ sum: read.length, begun });
  console.log('written');
  await tools.send({ to: 'all' });
  return { written: written.input, found: found.length, begun };`;

/** Catches what happens to a write. */
const CATCH = `try { return await tools.write({ n: 1 }) } catch (error) { return [error.code, error.message, error.tool] }`;

describe('a script that waits for approval', () => {
  it('A script that waits for an approval is resumed from its journal: inner calls that were made are not made again; time and randomness replay.', async () => {
    const { crib, made, run } = await open();
    const lines: unknown[] = [];
    const { id, callId } = waitingOf(await run(CODE, { onProgress: (line: unknown) => lines.push(line) }));
    expect(made).toEqual([1, 2, 3, 4, 5].map((n) => `read {"n":${n}}`));
    expect(await crib.approvals.list({ state: 'waiting' })).toMatchObject([
      { id, tool: 'write', inside: ['execute_script'] },
    ]);
    expect(await crib.tasks.list()).toMatchObject([{ id: callId, state: 'waiting', approvalId: id }]);
    await answer(crib, id);
    const { written, begun, found } = dataOf(await crib.tasks.wait(callId)) as Record<string, { begun: unknown }>;
    expect(written?.begun).toEqual(begun);
    expect(found).toBe(3);
    expect(made.slice(5)).toEqual([expect.stringContaining('write {"sum":5'), 'send {"to":"all"}']);
    expect(lines).toEqual(['read 5']);
    expect(await crib.tasks.get(callId)).toMatchObject({ progress: 'written' });
  });

  it('is found by the same call sent again, which gets its result once; with the approval id, as often as wanted', async () => {
    const { crib, made, run } = await open();
    const first = waitingOf(await run(CATCH));
    expect(waitingOf(await run(CATCH))).toEqual(first);
    expect(waitingOf(await run(CATCH, { approvalId: first.id }))).toEqual(first);
    await answer(crib, first.id);
    for (const more of [{}, { approvalId: first.id }, { approvalId: first.id }])
      expect(dataOf(await run(CATCH, more))).toEqual({ name: 'write', input: { n: 1 } });
    expect(made).toEqual(['write {"n":1}']);
    expect(waitingOf(await run(CATCH)).callId).not.toBe(first.callId);
  });

  it('is found neither by another caller nor with other arguments', async () => {
    const { crib, run } = await open();
    const { id } = waitingOf(await run(CATCH));
    const bob = await crib.open('agent', { id: 'bob' });
    const options = { park: true, approvalId: id };
    const denied = { error: { code: 'denied' } };
    expect(await bob.call('execute_script', { code: CATCH }, options)).toMatchObject(denied);
    expect(await run(`${CATCH};`, { approvalId: id })).toMatchObject(denied);
    expect(waitingOf(await bob.call('execute_script', { code: CATCH }, { park: true })).id).not.toBe(id);
  });

  it('gets a no as an error that it can catch', async () => {
    const { crib, made, run } = await open();
    const { id, callId } = waitingOf(await run(CATCH));
    expect(await crib.approvals.answer(id, { decision: 'deny', note: 'not today' }, OPERATOR)).toMatchObject({
      ok: true,
    });
    expect(dataOf(await crib.tasks.wait(callId))).toEqual(['denied', expect.stringContaining('not today'), 'write']);
    expect(made).toEqual([]);
  });

  it('gets no answer in time as a no', async () => {
    const { crib, made, run } = await open({ extensions: [approval({ timeoutMs: 50 })] });
    const { callId } = waitingOf(await run(CATCH));
    expect(dataOf(await crib.tasks.wait(callId))).toEqual(['denied', expect.any(String), 'write']);
    expect(made).toEqual([]);
  });

  it('waits for all calls of Promise.all at once, equal ones too; each runs once', async () => {
    const { crib, made, run } = await open();
    const code = 'return (await Promise.allSettled([1, 1, 2].map((n) => tools.write({ n })))).map((one) => one.status)';
    const { id, callId } = waitingOf(await run(code));
    const [request, ...others] = await crib.approvals.list({ state: 'waiting' });
    expect(others).toEqual([]);
    const items = request?.items ?? [];
    expect(items.map((item) => item.arguments.n).toSorted()).toEqual([1, 1, 2]);
    expect(request).toMatchObject({ id });
    await answer(crib, items.find((item) => item.arguments.n === 2)?.id ?? '', 'deny');
    expect(await crib.tasks.get(callId)).toMatchObject({ state: 'waiting' });
    await answer(crib, id);
    expect(dataOf(await crib.tasks.wait(callId))).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(made).toEqual(['write {"n":1}', 'write {"n":1}']);
  });

  it('waits as often as it needs to, and lets calls in flight finish before', async () => {
    const { crib, made, run } = await open();
    const code = `
      const [first, slow] = await Promise.all([tools.write({ n: 1 }), tools.read({ n: 2 })]);
      const second = await tools.write({ n: first.input.n + slow.input.n });
      return second.input.n;`;
    const { id, callId } = waitingOf(await run(code));
    expect(made).toEqual(['read {"n":2}']);
    await answer(crib, id);
    const next = await vi.waitUntil(async () => (await crib.approvals.list({ state: 'waiting' }))[0]);
    expect(next).toMatchObject({ arguments: { n: 3 } });
    expect(waitingOf(await run(code, { approvalId: id }))).toMatchObject({ id: next.id, callId });
    await answer(crib, next.id);
    expect(dataOf(await crib.tasks.wait(callId))).toBe(3);
    expect(made).toEqual(['read {"n":2}', 'write {"n":1}', 'write {"n":3}']);
  });

  it('makes a call that it does not wait for after the approval, too', async () => {
    const { crib, made, run } = await open();
    const { id, callId } = waitingOf(await run(`tools.write({ n: 1 }); return 'over'`));
    await answer(crib, id);
    expect(await crib.tasks.wait(callId)).toMatchObject({ ok: true, content: [{ text: 'over' }] });
    expect(made).toEqual(['write {"n":1}']);
  });

  it('is a task that can be cancelled: its requests are withdrawn', async () => {
    const { crib, made, run } = await open();
    const { id, callId } = waitingOf(await run('return Promise.all([tools.write({ n: 1 }), tools.write({ n: 2 })])'));
    expect(await crib.tasks.cancel(callId, OPERATOR)).toMatchObject({ ok: true, task: { outcome: 'cancelled' } });
    expect(await crib.approvals.get(id)).toMatchObject({ state: 'withdrawn' });
    expect(made).toEqual([]);
  });

  it('waits as a background call, too', async () => {
    const { crib, chest, made } = await open();
    const { id: task } = waitingOf(await chest.submit('execute_script', { code: CATCH }));
    const asked = await vi.waitUntil(async () => (await crib.approvals.list({ state: 'waiting' }))[0]);
    await answer(crib, asked.id);
    expect(dataOf(await crib.tasks.wait(task))).toEqual({ name: 'write', input: { n: 1 } });
    expect(made).toEqual(['write {"n":1}']);
  });

  it('keeps its idempotency key: the same call with the key gets the result as often as wanted', async () => {
    const { crib, made, run } = await open();
    const key = { idempotencyKey: 'k1' };
    const { id, callId } = waitingOf(await run(CATCH, key));
    expect(waitingOf(await run(CATCH, key)).callId).toBe(callId);
    await answer(crib, id);
    for (let count = 0; count < 3; count++) expect(dataOf(await run(CATCH, key))).toMatchObject({ input: { n: 1 } });
    expect(made).toEqual(['write {"n":1}']);
  });

  it('keeps the approval that it was given itself', async () => {
    const report = {
      name: 'report',
      description: 'x',
      effects: { destructive: true },
      run: { kind: 'script', code: CATCH },
    };
    const { crib, chest, made } = await open({ tools: [{ ...report, input: OBJECT } as never] });
    const outer = waitingOf(await chest.call('report', {}, { park: true }));
    await answer(crib, outer.id);
    const inner = await vi.waitUntil(async () => (await crib.approvals.list({ state: 'waiting' }))[0]);
    expect(inner).toMatchObject({ tool: 'write', inside: ['report'] });
    await answer(crib, inner.id);
    expect(dataOf(await chest.call('report', {}, { park: true, approvalId: outer.id }))).toMatchObject({
      input: { n: 1 },
    });
    expect(made).toEqual(['write {"n":1}']);
    expect(await crib.approvals.list({ state: 'waiting' })).toEqual([]);
  });

  it('does not wait where it could not go on: with context, inside another script, or with a journal that is too large', async () => {
    const inner = { name: 'inner', description: 'x', input: OBJECT, run: { kind: 'script', code: CATCH } };
    const { crib, chest, run } = await open({
      tools: [inner as never],
      config: { executors: { script: { journalMb: 1 } } },
    });
    const refused = ['denied', expect.stringContaining('Call "write" directly.'), 'write'];
    expect(dataOf(await run(CATCH, { context: { session: {} } }))).toEqual(refused);
    expect(dataOf(await run('return tools.inner({})'))).toEqual(refused);
    const large = `await tools.read({ text: 'x'.repeat(600000) }); await tools.read({ text: 'x'.repeat(600000) });`;
    expect(dataOf(await run(`${large} ${CATCH}`))).toEqual(refused);
    expect(dataOf(await chest.call('execute_script', { code: CATCH }))).toEqual(refused);
    expect(await crib.approvals.list({})).toEqual([]);
  });

  it('sees results as they are kept: without the values of secrets', async () => {
    vi.stubEnv('TEST_SECRET', 'a-secret-of-this-test');
    const leak = defineTool({
      name: 'leak',
      description: 'x',
      input: OBJECT,
      run: () => ({ key: 'a-secret-of-this-test' }),
    });
    const { crib, run } = await open({ tools: [leak], config: { secrets: { test: { env: 'TEST_SECRET' } } } });
    const { id, callId } = waitingOf(
      await run('const { key } = await tools.leak({}); await tools.write({ n: 1 }); return key'),
    );
    await answer(crib, id);
    expect(await crib.tasks.wait(callId)).toMatchObject({
      ok: true,
      content: [{ text: expect.not.stringContaining('a-secret') }],
    });
  });
});
