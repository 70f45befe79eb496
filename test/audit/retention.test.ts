import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSigningKey } from '../../src/audit/signing-keys.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import type { AuditReport } from '../../src/core/ports/audit-report.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { audit } from '../../src/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import { callOf, DONE, START, timedTrail } from './trail.ts';

const DAY = 86_400_000;

interface Place {
  readonly folder: string;
  readonly file: string;
}

function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-retention-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return { folder, file: join(folder, 'crib.db') };
}

async function storeAt({ file }: Place, at: number): Promise<Store> {
  return openStore({ url: `sqlite:${file}`, env: {}, now: () => at });
}

/** A process that begins on a day, records calls and ends. */
async function live(
  at: Place,
  day: number,
  { calls, keepDays }: { calls: number; keepDays?: number },
): Promise<readonly string[]> {
  const startAt = START + day * DAY;
  const store = await storeAt(at, startAt);
  const trail = await timedTrail({ store, privateFolder: () => at.folder, startAt });
  trail.keepFor(keepDays);
  for (let index = 0; index < calls; index++) {
    trail.record(callOf({ tool: `day_${day}`, startedAt: startAt }), DONE);
  }
  await trail.flush();
  await trail.close();
  await store.close();
  return trail.warnings;
}

async function verifyAt(at: Place, trustedKeys: readonly string[] = []): Promise<AuditReport> {
  const store = await storeAt(at, START);
  try {
    return await verifyAudit({ store, privateFolder: () => at.folder, keySettings: { trustedKeys } });
  } finally {
    await store.close();
  }
}

function tamper({ file }: Place, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}

describe('retention that keeps the proof', () => {
  it('removes rows that are too old up to a checkpoint, and verify continues from there', async () => {
    const at = place();
    await live(at, 0, { calls: 5 });
    await live(at, 100, { calls: 4 });
    await live(at, 120, { calls: 3, keepDays: 30 });
    expect(await verifyAt(at)).toMatchObject({
      ok: true,
      rows: 7,
      chains: [{ rows: 7, removed: 5, sealed: 12, state: 'closed' }],
      notes: [],
    });
    await live(at, 200, { calls: 2, keepDays: 30 });
    expect(await verifyAt(at)).toMatchObject({ ok: true, rows: 2, chains: [{ removed: 12, sealed: 14 }] });
  });

  it('other removals are found, before and after the cut', async () => {
    const at = place();
    await live(at, 0, { calls: 5 });
    await live(at, 100, { calls: 4, keepDays: 30 });
    tamper(at, 'DELETE FROM toolcrib_audit WHERE number = 6');
    expect((await verifyAt(at)).findings).toMatchObject([{ kind: 'row_removed', number: 6, to: 6 }]);
  });

  it('a row that is added in the place of a removed one is found', async () => {
    const at = place();
    await live(at, 0, { calls: 5 });
    await live(at, 100, { calls: 4, keepDays: 30 });
    tamper(
      at,
      'INSERT INTO toolcrib_audit SELECT chain, 2, at, call_id, tool, caller, outcome, entry, hash FROM toolcrib_audit WHERE number = 6',
    );
    expect((await verifyAt(at)).findings).toMatchObject([{ kind: 'row_added', number: 2 }]);
  });

  it('a removal without the key cannot pass as retention', async () => {
    const at = place();
    await live(at, 0, { calls: 5 });
    await live(at, 1, { calls: 5 });
    tamper(at, 'DELETE FROM toolcrib_audit WHERE number <= 5');
    expect((await verifyAt(at)).findings).toMatchObject([{ kind: 'row_removed', number: 1, to: 5 }]);
    tamper(
      at,
      `UPDATE toolcrib_audit_chains SET cut_count = 5, cut_at = 1, cut_key = public_key,
        cut_hash = (SELECT hash FROM toolcrib_audit_checkpoints WHERE row_count = 5),
        cut_signature = (SELECT signature FROM toolcrib_audit_checkpoints WHERE row_count = 5)`,
    );
    const { findings } = await verifyAt(at);
    expect(findings.map(({ kind }) => kind)).toEqual(['forged', 'row_removed']);
  });

  it('changed rows are not removed, so that their findings stay visible', async () => {
    const at = place();
    await live(at, 0, { calls: 5 });
    tamper(at, `UPDATE toolcrib_audit SET hash = 'changed' WHERE number = 5`);
    const warnings = await live(at, 100, { calls: 1, keepDays: 30 });
    expect(warnings).toContainEqual(expect.stringContaining('were changed and are not removed'));
    expect((await verifyAt(at)).findings).toContainEqual(expect.objectContaining({ kind: 'row_changed', number: 5 }));
  });

  it('without retentionDays every row stays; rows of today always stay', async () => {
    const at = place();
    await live(at, 0, { calls: 2 });
    await live(at, 5000, { calls: 2 });
    expect(await verifyAt(at)).toMatchObject({ ok: true, rows: 4 });
    await live(at, 5000, { calls: 2, keepDays: 1 });
    expect(await verifyAt(at)).toMatchObject({ ok: true, rows: 4, chains: [{ removed: 2 }] });
  });

  it('leaves chains of other signers alone, unless they have been idle for the retention time', async () => {
    const at = place();
    const others = place();
    const elsewhere = { ...at, folder: others.folder };
    await live(elsewhere, 0, { calls: 3 });
    await live(elsewhere, 90, { calls: 3 });
    await live(at, 100, { calls: 1, keepDays: 30 });
    const { publicKey: theirs } = await openSigningKey(join(others.folder, 'audit'));
    const { publicKey: ours } = await openSigningKey(join(at.folder, 'audit'));
    expect(await verifyAt(at, [theirs])).toMatchObject({ ok: true, rows: 7 });
    await live(at, 200, { calls: 1, keepDays: 30 });
    expect(await verifyAt(elsewhere, [ours]), 'what a trusted key removed was removed by right').toMatchObject({
      ok: true,
    });
    expect((await verifyAt(elsewhere)).findings).toContainEqual(expect.objectContaining({ kind: 'forged', to: 6 }));
    const here = await verifyAt(at, [theirs]);
    expect(here).toMatchObject({ ok: true, rows: 1 });
    expect(here.chains.map(({ state, removed }) => [state, removed])).toEqual([
      ['elsewhere', 6],
      ['closed', 1],
    ]);
  });

  it('a run that stopped halfway is finished by the next', async () => {
    const at = place();
    await live(at, 0, { calls: 5 });
    await live(at, 100, { calls: 1 });
    tamper(at, 'CREATE TABLE left_over AS SELECT * FROM toolcrib_audit WHERE number IN (4, 5)');
    await live(at, 101, { calls: 1, keepDays: 30 });
    tamper(at, 'INSERT INTO toolcrib_audit SELECT * FROM left_over; DROP TABLE left_over');
    expect((await verifyAt(at)).ok).toBe(true); // what is left of removed rows is being removed
    await live(at, 102, { calls: 1, keepDays: 30 });
    expect(await verifyAt(at)).toMatchObject({ ok: true, rows: 3 });
  });

  it.each([[{ retentionDays: 0 }], [{ retentionDays: 'a year' }], [{ retentionDay: 3 }]])('refuses %j', (options) => {
    expect(() => audit(options as never)).toThrow(/retentionDays/);
  });
});
