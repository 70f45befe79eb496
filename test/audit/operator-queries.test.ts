import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { firstHash, signCheckpoint, signHeader } from '../../src/audit/proof.ts';
import { createPassingKey } from '../../src/audit/signing-keys.ts';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import { createCrib } from '../../src/index.ts';
import { nextHash } from '../../src/store/audit-append.ts';
import { openStore } from '../../src/store/open-store.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const ROWS = 50_000;
/** Rows that are looked at between two turns of the event loop. */
const ROWS_PER_TURN = 250;
const SIGNATURES_PER_TURN = 8;

/** A crib with a call of its own, on a file with many rows that another program wrote. */
async function cribWithRows() {
  return (await recordedRows()).crib;
}

async function recordedRows() {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-operator-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const file = join(folder, 'crib.db');
  copyFileSync(await storeWithRows(), file);
  const crib = await createCrib({
    store: { url: `sqlite:${file}` },
    tools: [{ name: 'add', description: '', run: () => 'added' }],
  });
  onTestFinished(() => crib.close());
  await (await crib.open()).call('add');
  await crib.audit.summary();
  return { crib, file };
}

let made: Promise<string> | undefined;

/** A store with the rows, made once: each test gets a copy of the file. */
function storeWithRows(): Promise<string> {
  made ??= (async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'toolcrib-operator-rows-')), 'rows.db');
    await (await openStore({ url: `sqlite:${file}`, env: {} })).close();
    writeRows(file);
    return file;
  })();
  return made;
}

afterAll(async () => made && rmSync(dirname(await made), { recursive: true, force: true, maxRetries: 10 }));

function change(file: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(file, { timeout: 5000 });
  for (const statement of statements) database.exec(statement);
  database.close();
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

/** A chain of few rows with a signed checkpoint of each row, and as many of rows that are not there. */
function writeSeals(file: string, count: number): void {
  const database = new DatabaseSync(file, { timeout: 5000 });
  const key = createPassingKey();
  const header = signHeader(key, 'sealed', 1);
  database.exec('BEGIN');
  database
    .prepare("INSERT INTO toolcrib_audit_chains (chain, public_key, started_at, signature) VALUES ('sealed', ?, 1, ?)")
    .run(header.key, header.signature);
  const insertRow = database.prepare("INSERT INTO toolcrib_audit VALUES ('sealed', ?, ?, 'c', 't', '', 'done', ?, ?)");
  const insertSeal = database.prepare("INSERT INTO toolcrib_audit_checkpoints VALUES ('sealed', ?, ?, ?, ?)");
  let hash = firstHash(header);
  for (let number = 1; number <= 2 * count; number++) {
    const entry = JSON.stringify({ at: number, callId: 'c', kind: 'call', number, outcome: 'done', tool: 't' });
    hash = nextHash(hash, entry);
    if (number <= count) insertRow.run(number, number, entry, hash);
    const { signature } = signCheckpoint(key, { chain: 'sealed', count: number, hash, at: number });
    insertSeal.run(number, hash, number, signature);
  }
  database.exec('COMMIT');
  database.close();
}

/** Counts pieces of work between turns of the event loop. */
function countPerTurn() {
  let now = 0;
  let most = 0;
  let next: NodeJS.Immediate | undefined;
  const turn = () => {
    now = 0;
    next = setImmediate(turn);
  };
  turn();
  return {
    count(pieces: number) {
      now += pieces;
      most = Math.max(most, now);
    },
    most() {
      clearImmediate(next);
      return most;
    },
  };
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
  it('a filter without matches, statistics, a check of all rows, and reading all rows', async () => {
    const crib = await cribWithRows();
    await crib.calls.list({ tool: 'none' }); // starts the thread
    // On a busy machine the thread may be done before the loop comes round; if it were not on a thread it never would.
    const soon = { timeout: 20_000 };
    for (const filter of [{ tool: 'none' }, { caller: 'nobody' }, { outcome: 'denied' }])
      await expect.poll(() => turnsDuring(() => crib.calls.list(filter)), soon).toBeGreaterThan(5);
    await expect.poll(() => turnsDuring(() => crib.audit.summary()), soon).toBeGreaterThan(5);
    const portions = ROWS / ROWS_PER_TURN;
    expect(await turnsDuring(() => crib.audit.verify())).toBeGreaterThan(portions);
    let exported = 0;
    const exporting = async () => {
      for await (const row of crib.audit.export()) exported += row.number > 0 ? 1 : 0;
    };
    expect(await turnsDuring(exporting)).toBeGreaterThan(portions);
    expect(exported).toBe(ROWS + 1);
  });

  it('a search for rows outside of any chain runs on the thread', async () => {
    const { file } = await recordedRows();
    const store = await openStore({ url: `sqlite:${file}`, env: {} });
    onTestFinished(() => store.close());
    await store.audit.count(); // starts the thread
    await expect.poll(() => turnsDuring(() => store.audit.headless()), { timeout: 20_000 }).toBeGreaterThan(5);
  });

  it('a small store is read without a thread', async () => {
    const folder = temporaryFolder();
    const store = await openStore({ url: `sqlite:${join(folder, 'small.db')}`, env: {} });
    onTestFinished(() => store.close());
    let started = 0;
    const count = () => void started++;
    process.on('worker', count);
    onTestFinished(() => void process.off('worker', count));
    expect(await store.audit.count()).toBe(0);
    expect(started).toBe(0);
  });

  it('the event loop turns after each portion of rows', async () => {
    const { crib, file } = await recordedRows();
    const store = await openStore({ url: `sqlite:${file}`, env: {} });
    onTestFinished(() => store.close());
    const looked = countPerTurn();
    const rows: typeof store.audit.rows = async (chain, after, limit) => {
      const found = await store.audit.rows(chain, after, limit);
      return found.map(({ entry, ...rest }) => {
        let isLookedAt = false;
        return {
          ...rest,
          get entry() {
            looked.count(isLookedAt ? 0 : 1);
            isLookedAt = true;
            return entry;
          },
        };
      });
    };
    const watched = { ...store, audit: { ...store.audit, rows } };
    const { rows: verified } = await verifyAudit({ store: watched, privateFolder: () => undefined, keySettings: {} });
    expect(verified).toBe(ROWS + 1);
    expect(looked.most()).toBe(ROWS_PER_TURN);
    const exported = countPerTurn();
    for await (const row of crib.audit.export()) exported.count(row.number > 0 ? 1 : 0);
    expect(exported.most()).toBe(ROWS_PER_TURN);
  });

  it('the event loop turns after a few signatures, also of checkpoints after the last row', async () => {
    const { file } = await recordedRows();
    const seals = 2000;
    writeSeals(file, seals / 2);
    const store = await openStore({ url: `sqlite:${file}`, env: {} });
    onTestFinished(() => store.close());
    const checked = countPerTurn();
    let all = 0;
    const checkpoints: typeof store.audit.checkpoints = async (chain, after, limit) => {
      const found = await store.audit.checkpoints(chain, after, limit);
      return found.map(({ signature, ...rest }) => ({
        ...rest,
        get signature() {
          all++;
          checked.count(1);
          return signature;
        },
      }));
    };
    const watched = { ...store, audit: { ...store.audit, checkpoints } };
    const report = await verifyAudit({ store: watched, privateFolder: () => undefined, keySettings: {} });
    expect(report.chains).toContainEqual(
      expect.objectContaining({ chain: 'sealed', rows: seals / 2, sealed: seals / 2 }),
    );
    expect(report.findings).toContainEqual(
      expect.objectContaining({ kind: 'tail_cut', chain: 'sealed', number: seals / 2 + 1, to: seals }),
    );
    expect(all).toBeGreaterThanOrEqual(seals);
    expect(checked.most()).toBeLessThanOrEqual(SIGNATURES_PER_TURN);
  });

  it('return the same results as before, filtered or not', async () => {
    const crib = await cribWithRows();
    const found = await crib.calls.list({ tool: 'tool 3', caller: 'caller 1', limit: 2 });
    expect(found.map(({ callId }) => callId)).toEqual(['call 49976', 'call 49941']);
    expect((await crib.calls.list({ limit: 2 })).map(({ tool }) => tool)).toEqual(['add', `tool ${ROWS % 7}`]);
    expect(await crib.calls.list({ tool: 'none' })).toEqual([]);
    await crib.close();
    await expect(crib.calls.list({ tool: 'none' })).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});

describe('the cost of verifying grows with the number of rows, not with its square', () => {
  const wrongFrom = 101;
  const wrongTo = ROWS - 100;

  it.each([
    ['hashes alone', "hash = 'x' || substr(hash, 2)"],
    ['hashes alone, all the same', `hash = '${'0'.repeat(64)}'`],
  ])('if the %s of many consecutive rows were changed; exactly these rows are named', async (_, edit) => {
    const { crib, file } = await recordedRows();
    const before = await crib.audit.verify();
    change(
      file,
      `UPDATE toolcrib_audit SET ${edit} WHERE chain = 'other' AND number BETWEEN ${wrongFrom} AND ${wrongTo}`,
    );
    const { findings, moreFindings } = await crib.audit.verify();
    const changed = findings.filter(({ kind }) => kind === 'row_changed');
    expect(changed[0]).toMatchObject({ chain: 'other', number: wrongFrom });
    // The rows that follow the last changed one fit again.
    expect(findings.length + moreFindings - before.findings.length).toBe(wrongTo - wrongFrom + 1);
  });

  it('if entries and hashes of many consecutive rows were changed', async () => {
    const { crib, file } = await recordedRows();
    const edit = `entry = replace(entry, '"code"', '"evil"'), hash = 'x' || substr(hash, 2)`;
    change(
      file,
      `UPDATE toolcrib_audit SET ${edit} WHERE chain = 'other' AND number BETWEEN ${wrongFrom} AND ${wrongTo}`,
    );
    const { findings, moreFindings } = await crib.audit.verify();
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'row_changed', number: wrongFrom }));
    expect(findings.length + moreFindings).toBeGreaterThan(wrongTo - wrongFrom);
  });

  it('if every second row was removed: the chains are read once per portion', async () => {
    const { file } = await recordedRows();
    change(file, "DELETE FROM toolcrib_audit WHERE chain = 'other' AND number % 2 = 0");
    const store = await openStore({ url: `sqlite:${file}`, env: {} });
    onTestFinished(() => store.close());
    let read = 0;
    const chains: typeof store.audit.chains = () => {
      read++;
      return store.audit.chains();
    };
    const watched = { ...store, audit: { ...store.audit, chains } };
    const { findings, moreFindings } = await verifyAudit({
      store: watched,
      privateFolder: () => undefined,
      keySettings: {},
    });
    expect(findings.length + moreFindings).toBeGreaterThan(ROWS / 2 - 2);
    expect(read).toBeLessThanOrEqual(ROWS / 2 / ROWS_PER_TURN + 3);
  });

  it('if more rows than fit on a page lost their numbers', async () => {
    const { crib, file } = await recordedRows();
    change(file, "UPDATE toolcrib_audit SET number = 'x' || number WHERE chain = 'other' AND number > 100");
    const { ok, findings } = await crib.audit.verify();
    expect(ok).toBe(false);
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: 'row_changed', message: expect.stringContaining('has lost its number') }),
    );
    let exported = 0;
    for await (const row of crib.audit.export()) exported += row.chain === 'other' ? 1 : 0;
    expect(exported).toBeGreaterThanOrEqual(100);
  });
});
