import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { FACTS } from '../../src/core/tool-call.ts';
import { createCrib, type ToolCall } from '../../src/index.ts';
import { folderWith } from '../crib/workshop.ts';
import { idOf, OPERATOR, openOffice } from './payments.ts';

describe('an approval that a call names', () => {
  const refused = (what: RegExp) => ({ ok: false, error: { code: 'denied', message: expect.stringMatching(what) } });

  it('is not found for another caller or under another profile', async () => {
    const office = await openOffice({ profiles: { default: {}, counter: {} } });
    const id = idOf(await office.pay(3));
    await office.answer(id, 'approve');
    expect(await office.pay(3, { approvalId: id, as: { id: 'mallory' } })).toMatchObject(refused(/was not found/));
    expect(await office.pay(3, { approvalId: id, as: {} })).toMatchObject(refused(/was not found/));
    const counter = await office.crib.open('counter', { id: 'alice' });
    expect(await counter.call('pay', { amount: 3 }, { approvalId: id })).toMatchObject(refused(/was not found/));
    expect(await counter.call('pay_all', {}, { approvalId: id })).toMatchObject(refused(/was not found/));
    expect(await office.pay(3, { approvalId: id })).toMatchObject({ ok: true });
  });

  it.each(['0000-0000-0000', 'nonsense', '\u0000', '../../etc'])('%j does not exist', async (approvalId) => {
    const office = await openOffice();
    expect(await office.pay(3, { approvalId })).toMatchObject(refused(/was not found/));
    expect(await office.waiting()).toEqual([]);
  });

  it('must be valid even if the tool does not require approval', async () => {
    const office = await openOffice({ tool: { effects: { readOnly: true } } });
    expect(await office.pay(3, { approvalId: '0000-0000-0000' })).toMatchObject(refused(/was not found/));
    expect(office.paid).toEqual([]);
  });

  it('for another tool is refused', async () => {
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    const chest = await office.crib.open(undefined, { id: 'alice' });
    expect(await chest.call('pay_all', {}, { approvalId: id })).toMatchObject(refused(/another tool/));
  });

  it('and that still waits: the call waits as well', async () => {
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    expect(idOf(await office.pay(3, { approvalId: id, park: false }))).toBe(id);
    const asked = vi.fn(() => true);
    expect(await office.pay(3, { approvalId: id, as: { id: 'alice', approve: asked } })).toMatchObject({ ok: true });
    expect(asked).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id, arguments: { amount: 3 } }));
  });

  it('and that was used: the call learns how the first call ended', async () => {
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    await office.answer(id, 'approve');
    await office.pay(3, { approvalId: id });
    expect(await office.pay(3, { approvalId: id })).toMatchObject({
      error: { code: 'conflict', message: expect.stringContaining('ended as done') },
    });
  });
});

describe("the host's approver", () => {
  it('is asked about the request that already waits, and no request is left over', async () => {
    const office = await openOffice();
    const id = idOf(await office.pay(3));
    const approve = vi.fn(() => ({ approved: true, by: 'paula', note: 'fine' }));
    expect(await office.pay(3, { as: { id: 'alice', approve } })).toMatchObject({ ok: true });
    expect(approve).toHaveBeenCalledOnce();
    expect(await office.crib.approvals.list()).toMatchObject([{ id, answer: { by: 'paula', note: 'fine' } }]);
  });

  it('is asked again after a no through the store, once per call', async () => {
    const office = await openOffice();
    await office.answer(idOf(await office.pay(3)), 'deny');
    const approve = vi.fn(() => true);
    expect(await office.pay(3, { as: { id: 'alice', approve } })).toMatchObject({ ok: true });
    expect(approve).toHaveBeenCalledOnce();
  });

  it('that cannot be asked: the call is denied, and no request waits', async () => {
    const office = await openOffice();
    const approve = async () => {
      throw new Error('no terminal');
    };
    expect(await office.pay(3, { as: { id: 'alice', approve } })).toMatchObject({ error: { code: 'denied' } });
    expect(await office.waiting()).toEqual([]);
  });

  it('two calls at once make two requests, and each approval runs one', async () => {
    const office = await openOffice();
    const answers = [true, false, true];
    const approve = vi.fn(async () => answers.shift() === true);
    const calls = [1, 2, 3].map(() => office.pay(3, { as: { id: 'alice', approve } }));
    expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(2);
    expect(approve).toHaveBeenCalledTimes(3);
    expect(office.paid).toHaveLength(2);
  });
});

describe('listed and recorded approvals', () => {
  it('secrets do not appear in listed arguments, however they are written', async () => {
    vi.stubEnv('BANK_TOKEN', 'pa"ss\\wörd-1234');
    const office = await openOffice({
      secrets: { bank: { env: 'BANK_TOKEN' } },
      tool: { input: { type: 'object' } },
    });
    const chest = await office.crib.open(undefined, { id: 'alice' });
    const token = 'pa"ss\\wörd-1234';
    const id = idOf(await chest.call('pay', { deep: [{ [token]: `Bearer ${token}` }] }, { park: true }));
    vi.unstubAllEnvs();
    const [shown] = await office.crib.approvals.list();
    expect(JSON.stringify(shown)).not.toContain('rd-1234');
    expect(JSON.stringify(await office.crib.approvals.get(id))).not.toContain('rd-1234');
  });

  it('a recorder of a call learns its approval and who gave it', async () => {
    const seen: unknown[] = [];
    const watch = { name: 'watch', priority: 500, onEnd: (call: ToolCall) => void seen.push(call[FACTS].approval) };
    const office = await openOffice({ extensions: [watch] });
    const id = idOf(await office.pay(3));
    await office.answer(id, 'approve');
    await office.pay(3);
    expect(seen).toEqual([undefined, { id, by: 'olga' }]);
  });
});

describe('the store failing in the middle of a call', () => {
  const place = () => join(folderWith({}), 'crib.db');
  const unavailable = { ok: false, error: { code: 'unavailable', retryable: true } };
  const lose = (file: string) => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  };

  it('while the crib asks: the call is refused, the tool does not run, and the error hides the store', async () => {
    const file = join(folderWith({ file: '' }), 'file', 'crib.db');
    const office = await openOffice({ url: `sqlite:${file}` });
    const result = await office.pay(3);
    expect(result).toMatchObject(unavailable);
    expect(JSON.stringify(result)).not.toContain('crib.db');
    expect(await office.pay(3, { as: { id: 'alice', approve: () => true } })).toMatchObject(unavailable);
    expect(await office.answer('0000-0000-0000', 'approve')).toMatchObject(unavailable);
    expect(office.paid).toEqual([]);
  });

  it('while the approver decides: a yes that cannot be written does not count', async () => {
    const file = place();
    const office = await openOffice({ url: `sqlite:${file}` });
    const approve = async () => {
      lose(file);
      return true;
    };
    expect(await office.pay(3, { as: { id: 'alice', approve } })).toMatchObject(unavailable);
    expect(office.paid).toEqual([]);
  });

  it('while the tool runs: the caller gets the result, and the approval stays used', async () => {
    const file = place();
    const office = await openOffice({ url: `sqlite:${file}`, work: () => lose(file) });
    const as = { id: 'alice', approve: () => true };
    expect(await office.pay(3, { as })).toMatchObject({ ok: true });
    expect(office.paid).toHaveLength(1);
    expect(office.crib.warnings().join()).toContain('could not be stored');
  });
});

describe('a crib without a store', () => {
  it('has no approvals, parks nothing and takes none up', async () => {
    const crib = await createCrib({
      tools: [{ name: 'wipe', description: '', effects: { destructive: true }, run: () => 'gone' }],
    });
    const chest = await crib.open(undefined, { id: 'alice' });
    expect(await chest.call('wipe', {}, { park: true })).toMatchObject({ error: { code: 'denied' } });
    expect(await chest.call('wipe', {}, { approvalId: '0000-0000-0000' })).toMatchObject({ error: { code: 'denied' } });
    expect(await crib.approvals.list()).toEqual([]);
    expect(await crib.approvals.answer('0000-0000-0000', { decision: 'approve' }, OPERATOR)).toMatchObject({
      ok: false,
    });
  });
});
