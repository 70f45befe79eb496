import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { firstHash, nextHash } from '../../src/runtime/audit/proof.ts';

const ROWS = 50_000;

/** A crib on a file with a call of its own and many rows that were written to it by somebody else. */
async function cribWithRows() {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-operator-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'crib.db');
  const crib = await createCrib({
    store: { url: `sqlite:${file}` },
    tools: [{ name: 'add', description: '', run: () => 'added' }],
  });
  onTestFinished(() => crib.close());
  await (await crib.open()).call('add');
  await crib.audit.summary();
  writeRows(file);
  return crib;
}

/** A chain that fits together, but for who signed it. */
function writeRows(file: string): void {
  const database = new DatabaseSync(file, { timeout: 5000 });
  const header = { chain: 'other', key: '', startedAt: 1 };
  database.exec(
    "BEGIN; INSERT INTO toolcrib_audit_chains (chain, public_key, started_at, signature) VALUES ('other', '', 1, '')",
  );
  const insert = database.prepare(`
    INSERT INTO toolcrib_audit (chain, number, at, call_id, tool, caller, outcome, entry, hash)
    VALUES ('other', ?, ?, ?, ?, ?, 'done', ?, ?)`);
  let hash = firstHash(header);
  for (let number = 1; number <= ROWS; number++) {
    const row = { callId: `call ${number}`, tool: `tool ${number % 7}`, caller: `caller ${number % 5}` };
    const rest = { at: number, door: 'rest', kind: 'call', number, outcome: 'done', profile: 'all', source: 'code' };
    const entry = JSON.stringify({ ...row, ...rest });
    hash = nextHash(hash, entry);
    insert.run(number, number, row.callId, row.tool, row.caller, entry, hash);
  }
  database.exec('COMMIT');
  database.close();
}

/** How often the event loop came round while something was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
}

describe('queries of an operator over many rows of the audit do not stop the event loop', () => {
  it('a filter that matches nothing, figures, a look at all rows, and all rows themselves', async () => {
    const crib = await cribWithRows();
    await crib.calls.list({ tool: 'none' }); // starts the thread
    // On a busy machine the thread may be done before the loop comes round; if it were not on a thread it never would.
    const soon = { timeout: 20_000 };
    for (const filter of [{ tool: 'none' }, { caller: 'nobody' }, { outcome: 'denied' }])
      await expect.poll(() => turnsDuring(() => crib.calls.list(filter)), soon).toBeGreaterThan(5);
    await expect.poll(() => turnsDuring(() => crib.audit.summary()), soon).toBeGreaterThan(5);
    const pages = ROWS / 1000;
    expect(await turnsDuring(() => crib.audit.verify())).toBeGreaterThan(pages);
    let exported = 0;
    const exporting = async () => {
      for await (const row of crib.audit.export()) exported += row.number > 0 ? 1 : 0;
    };
    expect(await turnsDuring(exporting)).toBeGreaterThan(pages);
    expect(exported).toBe(ROWS + 1);
  });

  it('find what they found before, filtered or not', async () => {
    const crib = await cribWithRows();
    const found = await crib.calls.list({ tool: 'tool 3', caller: 'caller 1', limit: 2 });
    expect(found.map(({ callId }) => callId)).toEqual(['call 49976', 'call 49941']);
    expect((await crib.calls.list({ limit: 2 })).map(({ tool }) => tool)).toEqual(['add', `tool ${ROWS % 7}`]);
    expect(await crib.calls.list({ tool: 'none' })).toEqual([]);
    await crib.close();
    await expect(crib.calls.list({ tool: 'none' })).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
