import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Approve,
  audit,
  type CribOptions,
  createCrib,
  defineExtension,
  logging,
  type ToolCall,
  type ToolInput,
} from '../../src/index.ts';
import { createStoreFolder } from './store-folder.ts';

const MARKER = 'marker-7f3a9c';
const db = { url: `db://${MARKER}`, query: () => MARKER.length };

function toolFor(run: (input: unknown, call: ToolCall) => unknown, more: Partial<ToolInput> = {}): ToolInput {
  return { name: 'look', description: 'Looks', input: { type: 'object' }, run, ...more } as ToolInput; // as defineTool reads it
}

async function openWith(tool: ToolInput, options: CribOptions = {}, approve?: Approve) {
  const crib = await createCrib({ tools: [tool], ...options });
  onTestFinished(() => crib.close());
  return { crib, chest: await crib.open(undefined, { id: 'alice', ...(approve !== undefined && { approve }) }) };
}

describe('chest.call(…, { context })', () => {
  it('hands the objects of one call to its tool, by identity, and to no other call', async () => {
    const seen: unknown[] = [];
    const { chest } = await openWith(toolFor((_, call) => void seen.push(call.context.db)));
    await chest.call('look', {}, { context: { db } });
    await chest.call('look');
    expect(seen[0]).toBe(db);
    expect(seen[1]).toBeUndefined();
  });

  it('reaches every call of callAll', async () => {
    const { chest } = await openWith(toolFor((_, call) => String(call.context.user)));
    const calls = [{ id: '1', name: 'look', input: {} }];
    const [answer] = await chest.callAll(calls, { context: { user: 'ann' } });
    expect(answer?.result).toMatchObject({ content: [{ text: 'ann' }] });
  });

  it('reaches extensions, which add to it, and calls that the tool makes', async () => {
    const seen: unknown[] = [];
    const inner = toolFor((_, call) => void seen.push({ ...call.context }), { name: 'inner' });
    const outer = toolFor((_, call) => call.tools.call('inner', {}));
    const tagging = defineExtension({
      name: 'tagging',
      before: ({ context }) => ({ tag: `of ${String(context.user)}` }),
    });
    const { chest } = await openWith(outer, { tools: [outer, inner], extensions: [tagging] });
    await chest.call('look', {}, { context: { user: 'ann' } });
    expect(seen).toEqual([{ user: 'ann', tag: 'of ann' }]);
  });

  it('is a copy that cannot be changed', async () => {
    const context: Record<string, unknown> = { db };
    const { chest } = await openWith(
      toolFor((_, call) => [Reflect.set(call.context, 'db', 1), call.context === context]),
    );
    expect(await chest.call('look', {}, { context })).toMatchObject({ data: [false, false] });
  });

  class Session {
    readonly db = db;
  }
  const throwing = {
    get db(): unknown {
      throw new Error('closed');
    },
  };
  it.each<[string, unknown, string]>([
    ['a text', 'db', 'The option "context" of a call must be an object, got "db".'],
    ['a list', [db], 'The option "context" of a call must be an object, got a list.'],
    ['null', null, 'The option "context" of a call must be an object, got null.'],
    ['an instance', new Session(), 'The option "context" of a call must be a plain object such as { session }.'],
    ['a getter that throws', throwing, '"db" of The option "context" of a call cannot be read: its getter throws.'],
  ])('refuses %s', async (_, context, message) => {
    const run = vi.fn();
    const { chest } = await openWith(toolFor(run));
    expect(await chest.call('look', {}, { context } as never)).toMatchObject({
      error: { code: 'invalid_input', message },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('is not answered from the cache, which does not know the objects', async () => {
    const run = vi.fn((_: unknown, call: ToolCall) => String(call.context.user));
    const cached = toolFor(run, { effects: { readOnly: true }, policy: { cacheMs: 60_000 } });
    const { chest } = await openWith(cached);
    await chest.call('look', {}, { context: { user: 'ann' } });
    expect(await chest.call('look', {}, { context: { user: 'bob' } })).toMatchObject({ content: [{ text: 'bob' }] });
    expect(run).toHaveBeenCalledTimes(2);
  });
});

describe('the context of a call', () => {
  it('never reaches records: audit, approvals, logs, idempotency keys, kept results', async () => {
    const lines: string[] = [];
    const { folder, texts } = createStoreFolder();
    const { crib, chest } = await openWith(
      toolFor(() => 'done', { policy: { approval: 'always' } }),
      {
        store: { url: `sqlite:${folder}/crib.db` },
        extensions: [
          logging({ level: 'debug', sink: (line: unknown) => void lines.push(JSON.stringify(line)) } as never),
          audit({}),
        ],
      },
      () => ({ approved: true, remember: { forMs: 60_000 } }),
    );
    const options = { context: { db, [MARKER]: 1 }, idempotencyKey: 'k1', conversation: 'c1', turn: 't1' };
    expect(await chest.call('look', {}, options)).toMatchObject({ ok: true });
    expect(await chest.call('look', {}, options)).toMatchObject({ ok: true });
    await crib.close();
    const stored = texts();
    expect(stored).toContain('look'); // the search sees what is stored
    expect(stored).toContain('alice');
    expect(stored).not.toContain(MARKER);
    expect(lines.join('\n')).toContain('look');
    expect(lines.join('\n')).not.toContain(MARKER);
    expect(JSON.stringify([crib.warnings(), crib.metrics()])).not.toContain(MARKER);
  });
});

describe('a call with context is never parked', () => {
  const stored: CribOptions = { store: { url: 'memory:' } };
  const asks = (run: (input: unknown, call: ToolCall) => unknown) => toolFor(run, { policy: { approval: 'always' } });

  it('if no approver is available, it is denied with what to do', async () => {
    const run = vi.fn();
    const { crib, chest } = await openWith(asks(run), stored);
    const result = await chest.call('look', {}, { park: true, context: { db } });
    expect(result).toMatchObject({
      error: {
        code: 'denied',
        message:
          '"look" requires approval because its policy requires approval for every call, but no approver is available. A call with context cannot be parked: pass approve(), or call it without context.',
      },
    });
    expect(await crib.approvals.list()).toEqual([]);
    expect(run).not.toHaveBeenCalled();
  });

  it('it does not use a parked call: a parked call runs with its own arguments', async () => {
    const run = vi.fn(() => 'ran');
    const { crib, chest } = await openWith(asks(run), stored);
    const parked = await chest.call('look', {}, { park: true });
    if (parked.status !== 'waiting') throw new Error(parked.status);
    const { id } = parked.waiting;
    await crib.approvals.answer(id, { decision: 'approve' }, { id: 'olga', operator: true });
    for (const options of [{ approvalId: id }, {}])
      expect(await chest.call('look', {}, { ...options, park: true, context: { db } })).toMatchObject({
        error: { code: 'denied' },
      });
    expect(run).not.toHaveBeenCalled();
    expect(await chest.call('look', {}, { approvalId: id })).toMatchObject({ ok: true });
  });

  it('a denial of the parked call applies to it', async () => {
    const { crib, chest } = await openWith(
      toolFor(() => 'ran', { policy: { approval: 'always', approvers: 'caller' } } as Partial<ToolInput>),
      stored,
    );
    const parked = await chest.call('look', {}, { park: true });
    if (parked.status !== 'waiting') throw new Error(parked.status);
    await crib.approvals.answer(parked.waiting.id, { decision: 'deny' }, { id: 'olga', operator: true });
    const result = await chest.call('look', {}, { context: { db }, answers: { approval: true } });
    expect(result).toMatchObject({ error: { code: 'denied', message: 'The approver denied "look".' } });
  });

  it('if it is approved at once, it runs with its context', async () => {
    const approve = vi.fn<Approve>(() => true);
    const { chest } = await openWith(
      asks((_, call) => call.context.db === db),
      stored,
      approve,
    );
    expect(await chest.call('look', {}, { context: { db } })).toMatchObject({ data: true });
    expect(JSON.stringify(approve.mock.calls)).not.toContain(MARKER);
  });
});
