import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditIntent, type Crib, createCrib, defineTool } from '../../src/index.ts';
import { configure, cribOf, look, recordFolder, rowsOf, TOOLS, tamper, verify, work } from './recorded.ts';

const PAYMENTS = 'extensions: { audit: { requireFor: ["tag:payment"] } }';
const kinds = (folder: string) =>
  look(folder, 'SELECT entry FROM toolcrib_audit ORDER BY number').map(({ entry }) => {
    const { kind, tool, outcome } = JSON.parse(String(entry)) as Record<string, string>;
    return `${kind} ${tool} ${outcome}`;
  });

/** What stands in the database while `pay` runs. */
async function payingCrib(folder: string, seen: string[], options: Parameters<typeof cribOf>[1] = {}): Promise<Crib> {
  const pay = defineTool({
    name: 'pay',
    description: 'Pay',
    input: { type: 'object' },
    tags: ['payment'],
    run: () => void seen.push(...kinds(folder)),
  });
  return cribOf(folder, { tools: [...TOOLS, pay], ...options });
}

describe('`requireFor`: an intent row is committed after approval, just before the tool runs; the outcome row follows', () => {
  it('is in the database when the tool runs, after the approval, and the outcome row refers to it', async () => {
    const folder = recordFolder(PAYMENTS);
    const seen: string[] = [];
    const crib = await payingCrib(folder, seen);
    const chest = await crib.open(undefined, { id: 'alice', approve: () => true });
    await chest.call('add', {});
    expect(await chest.call('pay', {}, { id: 'the-payment' })).toMatchObject({ ok: true });
    expect(seen).toEqual(['call add done', 'intent pay intent']);
    await chest.call('wipe', {}, { id: 'the-wipe' });
    await crib.close();
    const rows = await rowsOf(folder);
    expect(rows.map(({ kind, tool }) => `${kind} ${tool}`)).toEqual([
      'call add',
      'intent pay',
      'call pay',
      'intent wipe',
      'call wipe',
    ]);
    expect(rows[1]).toMatchObject({ callId: 'the-payment', caller: 'alice', argumentsHash: expect.any(String) });
    expect(rows[2]).toMatchObject({ callId: 'the-payment', intents: 1, outcome: 'done' });
    expect(rows[3]).toMatchObject({ approval: { by: expect.any(String) } });
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 5 });
  });

  it('is absent for a call that was refused before', async () => {
    const folder = recordFolder(PAYMENTS);
    await work(folder, async (_, crib) => {
      const chest = await crib.open(undefined, { id: 'alice', approve: () => false });
      expect(await chest.call('wipe', {})).toMatchObject({ error: { code: 'denied' } });
    });
    expect(kinds(folder)).toEqual(['call wipe denied']);
  });

  it('a tool whose intent cannot be written does not run and answers unavailable; others are unaffected', async () => {
    const folder = recordFolder(PAYMENTS);
    const seen: string[] = [];
    const crib = await payingCrib(folder, seen);
    const chest = await crib.open(undefined, { id: 'alice' });
    await chest.call('pay', {});
    expect(seen.splice(0)).toEqual(['intent pay intent']);
    renameSync(join(folder, 'crib.db'), join(folder, 'away.db'));
    const refused = await chest.call('pay', {});
    expect(refused).toMatchObject({ ok: false, error: { code: 'unavailable', retryable: true } });
    expect(JSON.stringify(refused)).not.toContain(folder);
    expect(await chest.call('add', {})).toMatchObject({ ok: true });
    renameSync(join(folder, 'away.db'), join(folder, 'crib.db'));
    expect(seen).toEqual([]);
    expect(await chest.call('pay', {})).toMatchObject({ ok: true });
    await crib.close();
    expect(kinds(folder)).toEqual([
      'intent pay intent',
      'call pay done',
      'intent pay intent',
      'call pay unavailable',
      'call add done',
      'intent pay intent',
      'call pay done',
    ]);
    expect((await verify(folder)).ok).toBe(true);
  });

  it('does not let a tool run in a crib without a store', async () => {
    const crib = await createCrib({ tools: TOOLS, extensions: [auditIntent({ requireFor: 'add' })] });
    const chest = await crib.open();
    expect(await chest.call('add', {})).toMatchObject({ ok: false, error: { code: 'unavailable' } });
    expect(await chest.call('outer', {})).toMatchObject({ ok: true, data: false });
    await crib.close();
  });

  it('applies to nested calls, and selects by bundle, source and name', async () => {
    const folder = recordFolder(
      'bundles: { careful: { include: [add] } }\nextensions: { audit: { requireFor: ["bundle:careful", "fa*"] } }',
    );
    await work(folder, async (chest) => {
      await chest.call('outer', {});
      await chest.call('fail', {});
    });
    expect(kinds(folder)).toEqual([
      'intent add intent',
      'call add done',
      'call outer done',
      'intent fail intent',
      'call fail tool_error',
    ]);
  });

  it('a bundle that changes at run time changes which tools need an intent row', async () => {
    const folder = recordFolder(
      'bundles: { careful: { include: [add] } }\nextensions: { audit: { requireFor: ["bundle:careful"] } }',
    );
    await work(folder, async (chest, crib) => {
      crib.bundles.addTools('careful', ['fail']);
      await chest.call('fail', {});
    });
    expect(kinds(folder)).toEqual(['intent fail intent', 'call fail tool_error']);
  });

  it('a running call is not reported as an intent without outcome, but noted', async () => {
    const folder = recordFolder(PAYMENTS);
    await work(folder, async (chest, crib) => {
      const running = Promise.withResolvers<void>();
      const isOver = Promise.withResolvers<void>();
      crib.register(
        defineTool({
          name: 'slow',
          description: '',
          input: {},
          tags: ['payment'],
          run: async () => {
            running.resolve();
            await isOver.promise;
          },
        }),
      );
      const call = chest.call('slow', {}, { id: 'the-slow' });
      await running.promise;
      const report = await crib.audit.verify();
      expect(report).toMatchObject({ ok: true, notes: [expect.stringContaining('"the-slow"')] });
      isOver.resolve();
      await call;
      expect((await crib.audit.verify()).notes).toEqual([]);
    });
    expect((await verify(folder)).ok).toBe(true);
  });

  it('counts each announced run, whichever gate repeats it', async () => {
    const folder = recordFolder(PAYMENTS);
    const again = {
      name: 'again',
      priority: 500,
      wrap: async (call: never, next: (call: never) => unknown) => {
        await next(call);
        return next(call);
      },
    };
    const crib = await payingCrib(folder, [], { extensions: [again as never] });
    await (await crib.open()).call('pay', {});
    await crib.close();
    const rows = await rowsOf(folder);
    expect(rows.map(({ kind, intents }) => [kind, intents])).toEqual([
      ['intent', undefined],
      ['intent', undefined],
      ['call', 2],
    ]);
    tamper(folder, 'DELETE FROM toolcrib_audit_checkpoints');
    expect((await verify(folder)).ok).toBe(true);
  });

  it('an edit of the configuration applies from the next call on, in the same chain', async () => {
    const folder = recordFolder();
    const crib = await cribOf(folder);
    const chest = await crib.open(undefined, { id: 'alice' });
    await chest.call('add', {});
    configure(folder, 'extensions: { audit: { requireFor: [add], retentionDays: 30 } }');
    await crib.reload();
    await chest.call('add', {});
    configure(folder, 'extensions: { audit: false }');
    await crib.reload();
    await chest.call('add', {});
    await crib.close();
    expect(kinds(folder)).toEqual(['call add done', 'intent add intent', 'call add done']);
    expect(await verify(folder)).toMatchObject({ ok: true, chains: [{ rows: 3 }] });
  });

  it('a selector that matches nothing is reported at start', async () => {
    const folder = recordFolder('extensions: { audit: { requireFor: ["tag:paymnet"] } }');
    const crib = await cribOf(folder);
    expect(crib.warnings()).toContain('Extension "auditIntent": requireFor "tag:paymnet" matches no tool.');
  });

  it.each([
    [{ requireFor: [''] }, 'is not a selector'],
    [{ requireFor: 7 }, 'must be a list of selectors'],
    [{ requireFor: ['colour:red'] }, 'not a selector prefix'],
    [{ requireFo: [] }, 'Did you mean "requireFor"?'],
  ])('refuses %j with a sentence', (options, sentence) => {
    expect(() => auditIntent(options as never)).toThrow(sentence);
  });
});
