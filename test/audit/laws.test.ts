import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyAudit } from '../../src/audit/verify-audit.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { createCrib } from '../../src/index.ts';
import { openStore } from '../../src/store/open-store.ts';
import { findPrivateFolder } from '../../src/store/private-folder.ts';
import { TOOLS } from './recorded.ts';

const ROWS = 24;
const COLUMNS = ['at', 'call_id', 'tool', 'caller', 'outcome', 'entry', 'hash'] as const;

/** A folder with a record of several runs, and a copy of it that is changed and restored. */
const original = mkdtempSync(join(tmpdir(), 'toolcrib-laws-'));
const changed = mkdtempSync(join(tmpdir(), 'toolcrib-laws-'));
let store: Store;
let database: DatabaseSync;
let privateFolder: string | undefined;
beforeAll(async () => {
  writeFileSync(join(original, 'toolcrib.yaml'), 'store: { url: "sqlite:crib.db" }\n');
  for (let run = 0; run < 4; run++) {
    const crib = await createCrib({
      tools: TOOLS,
      configFile: original,
      watch: false,
    });
    const chest = await crib.open(undefined, { id: 'alice' });
    for (let index = 0; index < ROWS / 4; index++) await chest.call(index % 3 === 2 ? 'absent' : 'add', { a: index });
    await crib.close();
  }
  privateFolder = findPrivateFolder(original, process.env).path;
  cpSync(original, changed, { recursive: true });
  store = await openStore({ url: `sqlite:${changed}/crib.db`, env: {} });
  database = new DatabaseSync(join(changed, 'crib.db'));
  database.exec(`ATTACH '${original}/crib.db' AS original`);
});
afterAll(async () => {
  database.close();
  await store.close();
  for (const folder of [original, changed]) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

async function findingsAfter(change: (database: DatabaseSync) => void) {
  change(database);
  try {
    return (await verifyAudit({ store, privateFolder: () => privateFolder, keySettings: {} })).findings;
  } finally {
    for (const table of ['toolcrib_audit', 'toolcrib_audit_checkpoints'])
      database.exec(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM original.${table}`);
  }
}

const aRow = fc.integer({ min: 1, max: ROWS });

describe('a change, a removal or a reordering is found', () => {
  it('an unchanged log has no findings', async () => {
    for (let turn = 0; turn < 2; turn++) expect(await findingsAfter(() => {})).toEqual([]);
  });

  it('any other value in any column of any row is found, and the row is named', async () => {
    const anyValue = fc.oneof(fc.string(), fc.integer({ min: -1e9, max: 1e9 }), fc.double({ noNaN: true }));
    await fc.assert(
      fc.asyncProperty(aRow, fc.constantFrom(...COLUMNS), anyValue, async (number, column, value) => {
        let isOther = true;
        const findings = await findingsAfter((database) => {
          const before = database.prepare(`SELECT ${column} AS value FROM toolcrib_audit WHERE number = ?`).get(number);
          database.prepare(`UPDATE toolcrib_audit SET ${column} = ? WHERE number = ?`).run(value, number);
          const after = database.prepare(`SELECT ${column} AS value FROM toolcrib_audit WHERE number = ?`).get(number);
          isOther = before?.value !== after?.value;
        });
        if (isOther) expect(findings).toContainEqual(expect.objectContaining({ kind: 'row_changed', number }));
        else expect(findings).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('any single character of any entry or hash that is replaced is found', async () => {
    await fc.assert(
      fc.asyncProperty(aRow, fc.constantFrom('entry', 'hash'), fc.nat(), async (number, column, at) => {
        const findings = await findingsAfter((database) => {
          const row = database.prepare(`SELECT ${column} AS text FROM toolcrib_audit WHERE number = ?`).get(number);
          const text = String(row?.text);
          const place = at % text.length;
          const other = text[place] === '1' ? '2' : '1';
          const edited = text.slice(0, place) + other + text.slice(place + 1);
          database.prepare(`UPDATE toolcrib_audit SET ${column} = ? WHERE number = ?`).run(edited, number);
        });
        expect(findings.map((finding) => finding.number)).toContain(number);
      }),
      { numRuns: 60 },
    );
  });

  it('any rows that are removed are found', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(aRow, { minLength: 1, maxLength: ROWS }), async (numbers) => {
        const findings = await findingsAfter((database) => {
          for (const number of numbers) database.prepare('DELETE FROM toolcrib_audit WHERE number = ?').run(number);
        });
        const missing = findings.flatMap(({ kind, number = 0, to = number }) =>
          kind === 'row_removed' || kind === 'tail_cut'
            ? Array.from({ length: to - number + 1 }, (_, index) => number + index)
            : [],
        );
        expect(missing).toEqual(numbers.toSorted((a, b) => a - b));
      }),
      { numRuns: 40 },
    );
  });

  it('any two rows that change places are found', async () => {
    await fc.assert(
      fc.asyncProperty(aRow, aRow, async (a, b) => {
        fc.pre(a !== b);
        const findings = await findingsAfter((database) => {
          const move = (from: number, to: number) =>
            database.prepare('UPDATE toolcrib_audit SET number = ? WHERE number = ?').run(to, from);
          move(a, 999);
          move(b, a);
          move(999, b);
        });
        const moved = findings.filter(({ kind }) => kind === 'row_moved').map(({ number }) => number);
        expect(moved).toEqual([a, b].toSorted((x, y) => x - y));
      }),
      { numRuns: 40 },
    );
  });

  it('any checkpoint that is changed is found', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('hash', 'made_at', 'signature', 'row_count'),
        fc.constantFrom(6, 12, 18, 24),
        async (column, count) => {
          const findings = await findingsAfter((database) => {
            const value =
              column === 'row_count' ? 'row_count + 1' : column === 'made_at' ? 'made_at + 1' : `'x' || ${column}`;
            database.exec(`UPDATE toolcrib_audit_checkpoints SET ${column} = ${value} WHERE row_count = ${count}`);
          });
          expect(findings).toContainEqual(expect.objectContaining({ kind: 'forged' }));
        },
      ),
      { numRuns: 16 },
    );
  });
});
