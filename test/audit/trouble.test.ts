import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toGapRow } from '../../src/audit/audit-entry.ts';
import { createChainWriter } from '../../src/audit/chain-writer.ts';
import { createPassingKey } from '../../src/audit/signing-keys.ts';
import type { Store } from '../../src/core/ports/store.ts';
import type { ToolCall } from '../../src/core/tool-call.ts';
import { packRows } from '../../src/store/audit-append.ts';
import { openStore } from '../../src/store/open-store.ts';
import { callOf, DONE, START, type TimedTrail, timedTrail } from './trail.ts';

/** A trail over a file that can be taken away and put back. */
async function fragileTrail(): Promise<TimedTrail & { folder: string; away(): void; back(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-trouble-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const file = join(folder, 'crib.db');
  const trail = await timedTrail({ url: `sqlite:${file}`, privateFolder: () => folder });
  const move = (from: string, to: string) => renameSync(join(folder, from), join(folder, to));
  return { ...trail, folder, away: () => move('crib.db', 'away.db'), back: () => move('away.db', 'crib.db') };
}

const numbers = (rows: readonly { readonly tool: string }[]) => rows.map(({ tool }) => tool);

describe('a store that cannot be written', () => {
  it('loses no row if it recovers, and is reported once', async () => {
    const trail = await fragileTrail();
    trail.record(callOf({ tool: 'one' }), DONE);
    await trail.flush();
    trail.away();
    for (const tool of ['two', 'three']) {
      trail.record(callOf({ tool }), DONE);
      await expect(trail.flush()).rejects.toMatchObject({ code: 'store_unavailable' });
    }
    trail.back();
    trail.record(callOf({ tool: 'four' }), DONE);
    expect(numbers(await trail.rows())).toEqual(['one', 'two', 'three', 'four']);
    expect(trail.warnings).toEqual([
      expect.stringMatching(/^The audit log cannot be written; its rows are waiting: The store .+ was removed/),
    ]);
    await trail.close();
  });

  it('is retried automatically', async () => {
    const trail = await fragileTrail();
    trail.record(callOf({ tool: 'one' }), DONE);
    await trail.flush();
    trail.away();
    trail.record(callOf({ tool: 'two' }), DONE);
    await expect(trail.flush()).rejects.toThrow();
    trail.back();
    trail.pass(1000); // the first pause
    await until(async () => (await trail.store.audit.count()) === 2);
    await trail.close();
  });

  it('rows beyond the limit are lost and counted, and a gap row has the number', { timeout: 120_000 }, async () => {
    const trail = await fragileTrail();
    trail.record(callOf({ tool: 'first' }), DONE);
    await trail.flush();
    trail.away();
    trail.record(callOf({ tool: 'second' }), DONE);
    await expect(trail.flush()).rejects.toThrow();
    const call = callOf();
    for (let index = 0; index < 100_007; index++) trail.record(call, DONE);
    expect(trail.room()).toBeUndefined(); // no call waits for a store that fails
    trail.back();
    await trail.flush();
    trail.record(callOf({ tool: 'last' }), DONE);
    await trail.flush();
    expect(await trail.store.audit.count()).toBe(1 + 1 + 100_000 + 1 + 1);
    expect(trail.warnings).toContainEqual(expect.stringContaining('rows are being lost'));
    const [gap] = (await trail.rows()).filter(({ kind }) => kind === 'gap');
    expect(gap).toMatchObject({ kind: 'gap', outcome: 'lost', count: 7 });
    await trail.close();
    const { verifyAudit } = await import('../../src/audit/verify-audit.ts');
    const report = await verifyAudit({ store: trail.store, privateFolder: () => trail.folder, keySettings: {} });
    expect(report).toMatchObject({ ok: true, rows: 100_004 });
    expect(report.notes).toContainEqual(expect.stringContaining('7 rows of chain'));
  });

  it('closing reports the number of lost rows', async () => {
    const trail = await fragileTrail();
    trail.record(callOf(), DONE);
    await trail.flush();
    trail.away();
    trail.record(callOf(), DONE);
    trail.record(callOf(), DONE);
    await trail.close();
    trail.record(callOf(), DONE); // the listener is gone
    expect(trail.warnings).toContainEqual('2 rows of the audit log could not be written and are lost.');
    trail.back();
  });
});

describe('a store that is slow', () => {
  it('makes calls wait for room while rows are written, for a limited time', async () => {
    const store = await openStore({ url: 'memory:', env: {} });
    let release = (): void => {};
    const slow: Store = {
      ...store,
      audit: {
        ...store.audit,
        append: async (batch) => {
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          return store.audit.append(batch);
        },
      },
    };
    const trail = await timedTrail({ store: slow });
    const call = callOf();
    for (let index = 0; index < 80_600; index++) trail.record(call, DONE);
    await until(async () => release.name !== 'release');
    const waiting = trail.room();
    expect(waiting).toBeInstanceOf(Promise);
    release();
    await waiting;
    const again = trail.room();
    trail.pass(2000);
    await again;
    expect(trail.room()).toBeUndefined(); // it hangs: calls go on
  });
});

describe('another writer of the same chain', () => {
  it('gets the chain: this process begins a chain of its own', async () => {
    const trail = await fragileTrail();
    trail.record(callOf({ tool: 'one' }), DONE);
    await trail.flush();
    const [chain] = await trail.store.audit.chains();
    const [row] = await trail.store.audit.rows(chain?.chain ?? '', 0, 1);
    if (chain === undefined || row === undefined) throw new Error('nothing was written');
    const packed = [packRows([toGapRow(1, START, START)])];
    await trail.store.audit.append({ header: chain, after: { count: 1, hash: row.hash }, packed });
    trail.record(callOf({ tool: 'two' }), DONE);
    await trail.flush();
    const chains = await trail.store.audit.chains();
    expect(chains).toHaveLength(2);
    const other = chains.find((candidate) => candidate.chain !== chain.chain);
    expect(await trail.store.audit.rows(other?.chain ?? '', 0, 9)).toMatchObject([{ tool: 'two', number: 1 }]);
    await trail.close();
  });
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve));
}

describe('a row that cannot be made', () => {
  it('blocks no later row, and its absence is recorded', async () => {
    const trail = await timedTrail({
      redact: (text) => {
        if (text === 'eve') throw new Error('broken');
        return text;
      },
    });
    for (const caller of ['eve', 'ann', 'bob']) trail.record(callOf({ caller }), DONE);
    const rows = await trail.rows();
    expect(rows.map(({ kind, caller }) => [kind, caller])).toEqual([
      ['gap', undefined],
      ['call', 'ann'],
      ['call', 'bob'],
    ]);
  });

  it('is recorded as lost if a member is not a text', async () => {
    const trail = await timedTrail();
    for (const broken of [{ profile: 1n }, { spec: { name: () => 1, source: 'code' } }, {}])
      trail.record({ ...callOf(), ...broken } as unknown as ToolCall, DONE); // as a tool may have broken it
    expect((await trail.rows()).map(({ kind }) => kind)).toEqual(['gap', 'gap', 'call']);
  });
});

describe('a chain', () => {
  it('is registered outside the database before it has a row', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolcrib-trouble-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    const store = await openStore({ url: `sqlite:${join(folder, 'crib.db')}`, env: {} });
    const seen: string[] = [];
    const watched: Store = {
      ...store,
      audit: {
        ...store.audit,
        append: (batch) => {
          seen.push(...readdirSync(join(folder, 'audit')).filter((name) => name.startsWith(batch.header.chain)));
          return store.audit.append(batch);
        },
      },
    };
    const trail = await timedTrail({ store: watched, privateFolder: () => folder });
    trail.record(callOf(), DONE);
    await trail.flush();
    expect(seen).toHaveLength(1);
    await trail.close();
  });

  it.runIf(process.platform === 'linux')('has no row before its first checkpoint is written', async () => {
    const store = await openStore({ url: 'memory:', env: {} });
    onTestFinished(() => store.close());
    const kept = { folder: '/proc', origin: '01234567' }; // a folder that can be listed and not be written
    const place = {
      audit: store.audit,
      key: createPassingKey(),
      kept,
      store: { location: 'x', id: '1' },
      now: () => START,
    };
    const writer = createChainWriter(place);
    const packed = packRows([toGapRow(1, START, START)]);
    for (let round = 0; round < 3; round++) await expect(writer.write([packed])).rejects.toThrow('/proc/01234567');
    expect([await store.audit.chains(), await store.audit.count()]).toEqual([[], 0]);
  });
});
