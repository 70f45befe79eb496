import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Caller, createCrib, type ToolCall, type ToolInput } from '../../src/index.ts';
import { cribOf, folderWith, write } from '../crib/workshop.ts';

const tool = (name: string, description: string, more: object = {}): ToolInput => ({
  name,
  description,
  input: { type: 'object' },
  run: (input, call) => ({ ran: name, input, profile: call.profile, caller: call.caller.id }),
  ...more,
});

/** A tool that delegates by itself, as an author writes it. */
const hand = tool('hand_on', 'Hand on work', {
  run: async (input: { readonly to: string; readonly tool: string }, call: ToolCall) => {
    const opened = await call.delegate(input.to);
    return opened.ok ? opened.chest.call(input.tool, { by: 'hand_on' }) : { refused: opened.error };
  },
});
const destructive = { ...hand, name: 'hand_off', effects: { destructive: true } } as ToolInput;
const secret = tool('fire', 'Dismiss an employee', { policy: { access: [{ roles: ['boss'] }] } });
const wipe = tool('wipe', 'Wipe a disk', { effects: { destructive: true } });

async function open(caller: Caller = {}, profile = 'desk') {
  const rows: unknown[] = [];
  const crib = await createCrib({
    tools: [hand, destructive, tool('read_book', 'Read a book'), tool('greet', 'Greet a visitor'), secret, wipe],
    profiles: {
      desk: { include: ['greet', 'hand_on'], delegate: { library: 'open', cellar: 'ask', attic: 'closed' } },
      library: { include: ['read_book', 'fire', 'hand_on', 'wipe'], delegate: { desk: 'open' } },
      guarded: { include: ['none_*'], approve: 'delegate', delegate: { library: 'open' } },
      strict: { include: ['hand_on', 'hand_off'], approve: 'hand_on', delegate: { library: 'open' } },
      cellar: { include: ['read_book'], description: 'Books that are out of print\nand more' },
      attic: { include: ['read_book'] },
    },
    store: 'memory',
    extensions: [
      {
        name: 'watch',
        priority: 500,
        onEnd: ({ spec, profile: under, parent }) => void rows.push([spec.name, under, parent?.spec.name]),
      },
    ],
  });
  onTestFinished(() => crib.close());
  return { crib, chest: await crib.open(profile, { id: 'alice', ...caller }), rows };
}

const READ = { ran: 'read_book', profile: 'library', caller: 'alice' };

describe('delegation', () => {
  it('opens the target profile for the same caller, with records of both', async () => {
    const { chest, rows } = await open();
    expect(await chest.call('hand_on', { to: 'library', tool: 'read_book' })).toMatchObject({ ok: true, data: READ });
    expect(rows).toEqual([
      ['read_book', 'library', 'hand_on'],
      ['hand_on', 'desk', undefined],
    ]);
  });

  it('shows only what the caller may use there', async () => {
    const fire = { to: 'library', tool: 'fire' };
    expect(await (await open()).chest.call('hand_on', fire)).toMatchObject({ error: { code: 'unknown_tool' } });
    expect(await (await open({ roles: ['boss'] })).chest.call('hand_on', fire)).toMatchObject({ ok: true });
    expect(await (await open()).chest.call('hand_on', { to: 'library', tool: 'greet' })).toMatchObject({
      error: { code: 'unknown_tool' },
    });
  });

  it.each([
    ['desk: {}', 'denied'],
    ['desk: { delegate: { library: ask } }', 'denied'],
    ['desk: { delegate: { library: closed } }', 'denied'],
    ['desk: { delegate: { library: open }, exclude: [wipe] }', undefined],
  ])('that is open ends with its grant: %s', async (after, code) => {
    const configOf = (desk: string) => `profiles: { ${desk}, library: {} }\n`;
    const folder = folderWith({ 'toolcrib.yaml': configOf('desk: { delegate: { library: open } }') });
    const codes: unknown[] = [];
    const long = tool('work_long', 'Work for long', {
      run: async (_input: unknown, call: ToolCall) => {
        const opened = await call.delegate('library');
        if (!opened.ok) return opened.error;
        const note = async () => {
          const result = await opened.chest.call('read_book', {});
          codes.push('error' in result ? result.error.code : undefined);
        };
        await note();
        write(folder, { 'toolcrib.yaml': configOf(after) });
        await crib.reload();
        await note();
        return 'done';
      },
    });
    const crib = await cribOf(folder, { tools: [long, tool('read_book', 'Read a book')] });
    const chest = await crib.open('desk', { id: 'alice' });
    expect(await chest.call('work_long')).toMatchObject({ ok: true });
    expect(codes).toEqual([undefined, code]);
  });

  it.each(['attic', 'nowhere', 'desk', '__proto__', 'constructor', ''])('to %j is closed', async (to) => {
    const { chest } = await open();
    const closed = { code: 'denied', message: expect.stringContaining('it may delegate to only library, cellar') };
    expect(await chest.call('hand_on', { to, tool: 'read_book' })).toMatchObject({ data: { refused: closed } });
    expect(await chest.call('delegate', { profile: to || 'x', tool: 'read_book' })).toMatchObject({ error: closed });
  });

  it('needs no grant under all tools, which no profile exceeds', async () => {
    const { crib } = await open();
    const all = await crib.openAll({ id: 'olga' });
    const read = { data: { ran: 'read_book', profile: 'attic', caller: 'olga' } };
    expect(await all.call('hand_on', { to: 'attic', tool: 'read_book' })).toMatchObject(read);
    expect(await all.call('hand_on', { to: 'nowhere', tool: 'read_book' })).toMatchObject({
      data: { refused: { code: 'denied' } },
    });
  });

  it('asks an approver where the profile says ask', async () => {
    const questions: unknown[] = [];
    const answer = (isYes: boolean) => (request: { readonly question?: string }) => {
      questions.push(request.question);
      return isYes;
    };
    const down = { to: 'cellar', tool: 'read_book' };
    const yes = await open({ approve: answer(true) });
    expect(await yes.chest.call('hand_on', down)).toMatchObject({ data: { profile: 'cellar' } });
    const no = await open({ approve: answer(false) });
    expect(await no.chest.call('hand_on', down)).toMatchObject({ data: { refused: { code: 'denied' } } });
    expect(questions).toEqual(Array.from({ length: 2 }, () => 'May "desk" delegate to the profile "cellar"?'));
    const { crib, chest } = await open();
    const waiting = chest.call('hand_on', down);
    const [asked] = await vi.waitUntil(async () => {
      const list = await crib.approvals.list({ state: 'waiting' });
      return list.length > 0 && list;
    });
    await crib.approvals.answer(asked?.id ?? '', { decision: 'approve' }, { id: 'olga', operator: true });
    expect(await waiting).toMatchObject({ data: { profile: 'cellar' } });
  });

  it('needs only the grant of the profile; the caller itself cannot open the target', async () => {
    const { crib, chest } = await open({ profiles: ['desk'] });
    await expect(crib.open('library', { id: 'alice', profiles: ['desk'] })).rejects.toThrow('may not use');
    expect(await chest.call('hand_on', { to: 'library', tool: 'read_book' })).toMatchObject({ data: READ });
    // A parked call is opened again under its own profile, so it is refused instead.
    const parked = await chest.call('hand_on', { to: 'library', tool: 'wipe' }, { park: true });
    expect(parked).toMatchObject({ ok: false, error: { code: 'denied' } });
  });

  it('a call under the target requires approval like any other', async () => {
    const { crib, chest } = await open();
    const waiting = await chest.call('hand_on', { to: 'library', tool: 'wipe' }, { park: true });
    expect(waiting).toMatchObject({ status: 'waiting' });
    expect(await crib.approvals.list({})).toMatchObject([{ tool: 'wipe', profile: 'library' }]);
  });

  it('a call that waited under the target is made when the outer call is sent again with its approval, once', async () => {
    const { crib, chest } = await open();
    const wipe = { profile: 'library', tool: 'wipe', arguments: { disk: 'a' } };
    const waiting = await chest.call('delegate', wipe, { park: true });
    if (waiting.status !== 'waiting') throw new Error(JSON.stringify(waiting));
    const { id } = waiting.waiting;
    const again = (input: object = wipe) => chest.call('delegate', input, { park: true, approvalId: id });
    expect(await again()).toMatchObject({ status: 'waiting', waiting: { id } });
    await crib.approvals.answer(id, { decision: 'approve' }, { id: 'olga', operator: true });
    expect(await again({ ...wipe, arguments: { disk: 'b' } })).toMatchObject({ error: { code: 'denied' } });
    expect(await again()).toMatchObject({ data: { ran: 'wipe', profile: 'library', input: { disk: 'a' } } });
    expect(await again()).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining('already used') },
    });
    expect(await crib.approvals.list({})).toHaveLength(1);
  });

  it('the approval of the delegation itself is not taken for one of the call under the target', async () => {
    const { crib, chest } = await open({}, 'guarded');
    const given = { profile: 'library', tool: 'read_book' };
    const waiting = await chest.call('delegate', given, { park: true });
    if (waiting.status !== 'waiting') throw new Error(JSON.stringify(waiting));
    const { id: approvalId } = waiting.waiting;
    expect(await crib.approvals.get(approvalId)).toMatchObject({ tool: 'delegate' });
    await crib.approvals.answer(approvalId, { decision: 'approve' }, { id: 'olga', operator: true });
    expect(await chest.call('delegate', given, { approvalId })).toMatchObject({ ok: true, data: READ });
  });

  it.each([
    ['its profile', 'hand_on'],
    ['its effects', 'hand_off'],
  ])('an approval of a call inside is none for a call that requires its own by %s', async (_, outer) => {
    const { crib, chest } = await open({}, 'strict');
    const given = { to: 'library', tool: 'wipe' };
    const call = async (approvalId?: string) =>
      chest.call(outer, given, { park: true, ...(approvalId !== undefined && { approvalId }) });
    const ids: string[] = [];
    for (const tool of [outer, 'wipe']) {
      const waiting = await call(ids[0]);
      if (waiting.status !== 'waiting') throw new Error(JSON.stringify(waiting));
      ids.push(waiting.waiting.id);
      expect(await crib.approvals.get(waiting.waiting.id)).toMatchObject({ tool });
      await crib.approvals.answer(waiting.waiting.id, { decision: 'approve' }, { id: 'olga', operator: true });
    }
    expect(await call(ids[1])).toMatchObject({ error: { code: 'denied' } });
  });

  it('in a circle ends at the limit of nested calls', async () => {
    const around = tool('around', 'Go round', {
      run: async (_: unknown, call: ToolCall) => {
        const opened = await call.delegate(call.profile === 'a' ? 'b' : 'a');
        return opened.ok ? opened.chest.call('around', {}) : 'closed';
      },
    });
    const crib = await createCrib({
      tools: [around],
      profiles: { a: { delegate: { b: 'open' } }, b: { delegate: { a: 'open' } } },
    });
    const result = await (await crib.open('a', { id: 'alice' })).call('around', {});
    expect(result).toMatchObject({ error: { code: 'denied', message: expect.stringContaining('levels deep') } });
    await crib.close();
  });
});

describe('the tool delegate', () => {
  it('is listed where the profile may delegate, and its description lists the targets', async () => {
    const { crib, chest } = await open();
    const { description = '' } = chest.list().find(({ name }) => name === 'delegate') ?? {};
    expect(description).toContain('Profile library, 3 tools:\n  - hand_on: Hand on work\n  - read_book');
    expect(description).toContain('Profile cellar, after approval: Books that are out of print, 1 tool:');
    expect(description).not.toMatch(/attic|fire/);
    const cellar = await crib.open('cellar', { id: 'alice' });
    expect(cellar.list().map(({ name }) => name)).toEqual(['read_book']);
    expect(await cellar.call('delegate', { profile: 'desk', tool: 'greet' })).toMatchObject({
      error: { code: 'unknown_tool' },
    });
  });

  it('says what a target is for by the names of its tools, where no text does', async () => {
    const tools = ['invoice_list', 'invoice_send'].map((name) => tool(name, name));
    const crib = await createCrib({
      bundles: [{ name: 'billing', tools }],
      profiles: { desk: { include: ['none_*'], delegate: { office: 'open' } }, office: {} },
    });
    onTestFinished(() => crib.close());
    const [listed] = (await crib.open('desk', { id: 'alice' })).list();
    expect(listed?.description).toContain(
      'Profile office, 2 tools:\n  - billing (2 tools): invoice_list, invoice_send',
    );
  });

  it('finds tools of a target and calls them', async () => {
    const { chest } = await open();
    const found = await chest.call('delegate', { profile: 'library', query: 'read a book' });
    expect(found).toMatchObject({ data: { tools: [{ name: 'read_book', inputSchema: { type: 'object' } }] } });
    expect(JSON.stringify(found)).not.toContain('greet');
    const called = await chest.call('delegate', { profile: 'library', tool: 'read_book', arguments: { page: 1 } });
    expect(called).toMatchObject({ ok: true, data: { ...READ, input: { page: 1 } } });
  });

  it.each([
    { profile: 'library' },
    { profile: 'library', query: 'x', tool: 'y' },
    { tool: 'read_book' },
    { profile: 5 },
  ])('refuses %j', async (input) => {
    const { chest } = await open();
    expect(await chest.call('delegate', input)).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it('works inside a script', async () => {
    const crib = await createCrib({
      tools: [tool('read_book', 'Read a book')],
      profiles: { agent: { include: ['none_*'], expose: 'script', delegate: { library: 'open' } }, library: {} },
    });
    const chest = await crib.open('agent', { id: 'alice' });
    const code = 'return tools.delegate({ profile: "library", tool: "read_book" })';
    expect(await chest.call('execute_script', { code })).toMatchObject({ data: READ });
    await crib.close();
  });

  it.each([
    ['may open the target', undefined],
    ['reaches the target by delegation alone', ['agent']],
  ])('a script waits for calls that it delegates, and each is made once, if its caller %s', async (_, mayOpen) => {
    const made: string[] = [];
    const note = (name: string, effects: object) =>
      tool(name, name, { effects, run: ({ n }: { readonly n: number }) => void made.push(`${name} ${n}`) });
    const crib = await createCrib({
      tools: [note('look', { readOnly: true }), note('wipe', { destructive: true })],
      profiles: { agent: { include: ['look'], expose: 'script', delegate: { library: 'open' } }, library: {} },
      store: 'memory',
    });
    onTestFinished(() => crib.close());
    const chest = await crib.open('agent', { id: 'alice', ...(mayOpen !== undefined && { profiles: mayOpen }) });
    const code = `
      await tools.look({ n: 0 });
      const wipe = (n) => tools.delegate({ profile: 'library', tool: 'wipe', arguments: { n } });
      const ends = await Promise.allSettled([wipe(1), wipe(2), wipe(3), wipe(3)]);
      return ends.map(({ status, reason }) => reason?.code ?? status);`;
    const waiting = await chest.call('execute_script', { code }, { park: true });
    if (waiting.status !== 'waiting') throw new Error(JSON.stringify(waiting));
    const [request] = await crib.approvals.list({ state: 'waiting' });
    expect(request).toMatchObject({ id: waiting.waiting.id, items: [1, 2, 3, 3].map((n) => ({ arguments: { n } })) });
    const ids = request?.items?.map(({ id }) => id) ?? [];
    const olga = { id: 'olga', operator: true } as const;
    for (const [place, id] of ids.entries())
      await crib.approvals.answer(id, { decision: place === 1 ? 'deny' : 'approve' }, olga);
    const ended = await crib.tasks.wait(waiting.waiting.callId ?? '');
    expect(ended).toMatchObject({ ok: true, data: ['fulfilled', 'denied', 'fulfilled', 'fulfilled'] });
    expect(made.toSorted()).toEqual(['look 0', 'wipe 1', 'wipe 3', 'wipe 3']);
  });
});
