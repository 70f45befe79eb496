import { describe, expect, it, vi } from 'vitest';
import {
  type Crib,
  createCrib,
  defineExtension,
  done,
  failed,
  type ToolCall,
  type ToolInput,
  toolError,
} from '../../src/index.ts';

const run = vi.fn(() => 'ran');
const tool: ToolInput = { name: 'tool', description: '', run };
const loose = (value: unknown) => value as never; // plain JavaScript returns anything

async function callTool(crib: Crib) {
  return (await crib.open()).call('tool');
}

describe('hooks', () => {
  const hooked = async (hooks: Omit<Parameters<typeof defineExtension>[0], 'name'>) => {
    run.mockClear();
    return callTool(await createCrib({ tools: [tool], extensions: [defineExtension({ name: 'gate', ...hooks })] }));
  };

  it('veto: a reason refuses the call as denied', async () => {
    expect(await hooked({ veto: () => 'not on Sundays' })).toMatchObject({
      error: { code: 'denied', message: 'not on Sundays' },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('veto: a promised reason refuses, too', async () => {
    expect(await hooked({ veto: async () => 'not on Sundays' })).toMatchObject({ error: { code: 'denied' } });
    expect(run).not.toHaveBeenCalled();
  });

  it('veto: true without a reason refuses, too', async () => {
    expect(await hooked({ veto: () => loose(true) })).toMatchObject({ ok: false });
    expect(run).not.toHaveBeenCalled();
  });

  it('veto: undefined lets the call through', async () => {
    expect(await hooked({ veto: () => undefined })).toMatchObject({ ok: true });
  });

  it('veto runs before before', async () => {
    const before = vi.fn();
    await hooked({ veto: () => 'no', before });
    expect(before).not.toHaveBeenCalled();
  });

  it.each(['veto', 'before'] as const)('%s that throws refuses, and the tool does not run', async (hook) => {
    const result = await hooked({
      [hook]: () => {
        throw new Error('secret detail');
      },
    });
    expect(result).toMatchObject({ ok: false, error: { code: 'internal' } });
    expect(JSON.stringify(result)).not.toContain('secret detail');
    expect(run).not.toHaveBeenCalled();
  });

  it('after that throws refuses', async () => {
    expect(await hooked({ after: () => Promise.reject(new Error('secret detail')) })).toMatchObject({
      ok: false,
      error: { code: 'internal' },
    });
  });

  it('after that returns an invalid result refuses', async () => {
    expect(await hooked({ after: () => loose('fine') })).toMatchObject({ ok: false, error: { code: 'internal' } });
  });
});

describe('state set by one', () => {
  const setting = (name: string, priority: number, context: Record<string, unknown>) =>
    defineExtension({ name, priority, before: () => context });
  const reading = (name: string, priority: number, seen: unknown[]) =>
    defineExtension({ name, priority, before: (call) => void seen.push(call.context) });

  it('is visible to inner ones of the same call', async () => {
    const seen: unknown[] = [];
    await callTool(
      await createCrib({
        tools: [tool],
        extensions: [setting('outer', 600, { user: 'ann' }), reading('inner', 500, seen)],
      }),
    );
    expect(seen).toEqual([{ user: 'ann' }]);
  });

  it('is not visible to outer ones, on the way in or out', async () => {
    const seen: unknown[] = [];
    const outer = defineExtension({ name: 'outer', priority: 600, after: (call) => void seen.push(call.context) });
    await callTool(await createCrib({ tools: [tool], extensions: [outer, setting('inner', 500, { user: 'ann' })] }));
    expect(seen).toEqual([{}]);
  });

  it('is not visible to other calls', async () => {
    const seen: unknown[] = [];
    const once = [{ user: 'ann' }];
    const outer = defineExtension({ name: 'outer', priority: 600, before: () => once.pop() });
    const crib = await createCrib({ tools: [tool], extensions: [outer, reading('inner', 500, seen)] });
    await callTool(crib);
    await callTool(crib);
    expect(seen).toEqual([{ user: 'ann' }, {}]);
  });

  it('is added to the state of outer ones', async () => {
    const seen: unknown[] = [];
    const extensions = [setting('a', 600, { x: 1, y: 1 }), setting('b', 550, { y: 2 }), reading('c', 500, seen)];
    await callTool(await createCrib({ tools: [tool], extensions }));
    expect(seen).toEqual([{ x: 1, y: 2 }]);
  });

  it('reaches the tool', async () => {
    const run = (_: unknown, call: ToolCall) => call.context.user;
    const crib = await createCrib({
      tools: [{ ...tool, run } as ToolInput],
      extensions: [setting('outer', 600, { user: 'ann' })],
    }); // the same tool with another function
    expect(await callTool(crib)).toMatchObject({ content: [{ text: 'ann' }] });
  });
});

describe('after and onError', () => {
  const failing: ToolInput = {
    ...tool,
    run: () => failed(toolError('upstream', 'bad gateway', { retryable: true })),
  } as ToolInput; // as above
  const answer = async (first: ToolInput, hooks: Omit<Parameters<typeof defineExtension>[0], 'name'>) =>
    callTool(await createCrib({ tools: [first], extensions: [defineExtension({ name: 'mine', ...hooks })] }));

  it('after may replace the result', async () => {
    expect(await answer(tool, { after: () => done('other') })).toMatchObject({
      ok: true,
      content: [{ text: 'other' }],
    });
  });

  it('after that returns nothing keeps the result', async () => {
    expect(await answer(tool, { after: () => undefined })).toMatchObject({ content: [{ text: 'ran' }] });
  });

  it('after is not called for failures, onError is not called for results', async () => {
    const asked: string[] = [];
    const hooks = { after: () => void asked.push('after'), onError: () => void asked.push('onError') };
    await answer(tool, hooks);
    await answer(failing, hooks);
    expect(asked).toEqual(['after', 'onError']);
  });

  it('onError may replace the error', async () => {
    const result = await answer(failing, { onError: (_, error) => ({ ...error, message: `sorry: ${error.message}` }) });
    expect(result).toMatchObject({
      ok: false,
      status: 'failed',
      error: { code: 'upstream', message: 'sorry: bad gateway', retryable: true },
    });
    expect(result).not.toHaveProperty('recovered');
  });

  it('onError may turn the error into a result, which is then marked as recovered', async () => {
    expect(await answer(failing, { onError: async () => done('from yesterday') })).toEqual({
      ok: true,
      status: 'done',
      content: [{ type: 'text', text: 'from yesterday' }],
      recovered: true,
    });
  });

  it('onError that returns nothing keeps the failure', async () => {
    expect(await answer(failing, { onError: () => undefined })).toMatchObject({ error: { message: 'bad gateway' } });
  });
});
