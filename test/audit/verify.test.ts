import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firstHash, signCheckpoint, signHeader } from '../../src/audit/proof.ts';
import { createPassingKey } from '../../src/audit/signing-keys.ts';
import { canonicalJson } from '../../src/core/json.ts';
import { nextHash } from '../../src/store/audit-append.ts';
import { addTimes, auditFolder, copyDatabase, look, recordFolder, rowsOf, tamper, verify, work } from './recorded.ts';

const filesOf = (folder: string) => readdirSync(auditFolder(folder)).filter((name) => name.endsWith('.json'));
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

describe('audit verify', () => {
  it('finds nothing in an unchanged, fully sealed log', async () => {
    const folder = recordFolder();
    await addTimes(folder, 5);
    expect(await verify(folder)).toEqual({
      ok: true,
      rows: 5,
      chains: [{ chain: expect.any(String), rows: 5, removed: 0, sealed: 5, state: 'closed' }],
      findings: [],
      moreFindings: 0,
      notes: [],
    });
  });

  it('finds nothing in an empty log', async () => {
    expect(await verify(recordFolder())).toMatchObject({ ok: true, rows: 0, chains: [], notes: [] });
  });

  it('names an edited row', async () => {
    const folder = recordFolder();
    await addTimes(folder, 6);
    tamper(folder, `UPDATE toolcrib_audit SET entry = replace(entry, '"alice"', '"bob"') WHERE number = 3`);
    const { ok, findings } = await verify(folder);
    expect(ok).toBe(false);
    expect(findings).toEqual([
      {
        kind: 'row_changed',
        chain: expect.any(String),
        number: 3,
        at: expect.any(Number),
        tool: 'add',
        message: expect.stringMatching(/^Row 3 of chain \w+, of 20.+Z about "add", was changed/),
      },
    ]);
  });

  it.each(['at = at + 1', "call_id = 'x'", "tool = 'x'", "caller = 'bob'", "outcome = 'denied'"])(
    'names a row whose column was edited: %s',
    async (change) => {
      const folder = recordFolder();
      await addTimes(folder, 4);
      tamper(folder, `UPDATE toolcrib_audit SET ${change} WHERE number = 2`);
      expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_changed', number: 2, tool: 'add' }]);
    },
  );

  it.each([0, -1, -9_007_199_254_740_991])('names a row that was added with the number %i', async (number) => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    tamper(
      folder,
      `INSERT INTO toolcrib_audit SELECT chain, ${number}, at, call_id, tool, caller, outcome, entry, hash FROM toolcrib_audit WHERE number = 1`,
    );
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_added', number }]);
  });

  /** The table without its keys, so that it can have any row. */
  const WITHOUT_KEYS = [
    'ALTER TABLE toolcrib_audit RENAME TO before',
    'CREATE TABLE toolcrib_audit AS SELECT * FROM before',
    'DROP TABLE before',
  ];
  const added = (number: string, from: string) =>
    `INSERT INTO toolcrib_audit SELECT chain, ${number}, at, 'forged', 'pay', 'bob', outcome, replace(entry, '"add"', '"pay"'), hash FROM toolcrib_audit WHERE number = ${from} LIMIT 1`;

  it.each(['1', '3', '250', '251', '300'])('finds a second row of the number %s', async (number) => {
    const folder = recordFolder();
    await addTimes(folder, 300);
    tamper(folder, ...WITHOUT_KEYS, added(number, number));
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_added' }]);
  });

  it('finds a row without a number', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    tamper(folder, ...WITHOUT_KEYS, added('NULL', '1'));
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_added' }]);
  });

  it.each(['2', '3', '4', '900'])('finds a row with the number %s that is missing in the index', async (number) => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const [index] = look(folder, "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_toolcrib_audit_1'");
    tamper(folder, ...WITHOUT_INDEX, added(number, '1'));
    tamper(folder, ...withIndex(Number(index?.rootpage)));
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_added' }]);
  });

  it('names the one row whose hash was edited', async () => {
    const folder = recordFolder();
    await addTimes(folder, 4);
    tamper(folder, `UPDATE toolcrib_audit SET hash = '${'0'.repeat(64)}' WHERE number = 2`);
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_changed', number: 2 }]);
  });

  it('finds a row that was edited together with all hashes after it', async () => {
    const folder = recordFolder();
    await addTimes(folder, 6);
    rewriteFrom(folder, 3, (entry) => entry.replace('"alice"', '"bob"'));
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_changed', number: 1, to: 6 }]);
  });

  it('names a removed row', async () => {
    const folder = recordFolder();
    await addTimes(folder, 6);
    tamper(folder, 'DELETE FROM toolcrib_audit WHERE number IN (3, 4)');
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_removed', number: 3, to: 4 }]);
  });

  it('names the first row if that was removed', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    tamper(folder, 'DELETE FROM toolcrib_audit WHERE number = 1');
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_removed', number: 1, to: 1 }]);
  });

  it('finds a removed row even if the later rows were renumbered', async () => {
    const folder = recordFolder();
    await addTimes(folder, 5);
    tamper(
      folder,
      'DELETE FROM toolcrib_audit WHERE number = 3',
      ...[4, 5].map((number) => `UPDATE toolcrib_audit SET number = ${number - 1} WHERE number = ${number}`),
    );
    const { findings } = await verify(folder);
    expect(findings[0]).toMatchObject({ kind: 'row_moved', number: 3, message: expect.stringContaining('Row 4 of') });
    expect(findings.some(({ kind }) => kind === 'tail_cut')).toBe(true);
  });

  it('finds rows that changed places', async () => {
    const folder = recordFolder();
    await addTimes(folder, 5);
    tamper(
      folder,
      ...[
        [2, 99],
        [4, 2],
        [99, 4],
      ].map(([from, to]) => `UPDATE toolcrib_audit SET number = ${to} WHERE number = ${from}`),
    );
    const { findings } = await verify(folder);
    expect(findings.filter(({ kind }) => kind === 'row_moved').map(({ number }) => number)).toEqual([2, 4]);
  });

  it('names a cut tail', async () => {
    const folder = recordFolder();
    await addTimes(folder, 6);
    tamper(folder, 'DELETE FROM toolcrib_audit WHERE number > 4');
    const { findings } = await verify(folder);
    expect(findings).toMatchObject([{ kind: 'tail_cut', number: 5, to: 6 }]);
    expect(findings[0]?.message).toMatch(/^Rows 5 to 6 of chain \w+ are missing at its end/);
  });

  it('names a restored older copy', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const restore = copyDatabase(folder);
    await addTimes(folder, 4);
    restore();
    const { findings } = await verify(folder);
    expect(findings).toMatchObject([{ kind: 'older_copy', number: 4, to: 7 }]);
    expect(findings[0]?.message).toContain('it was replaced by an older copy');
  });

  it('names a tail that was cut together with its checkpoints; it looks like an older copy', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    await addTimes(folder, 3);
    tamper(
      folder,
      'DELETE FROM toolcrib_audit WHERE number > 3',
      'DELETE FROM toolcrib_audit_checkpoints WHERE row_count > 3',
    );
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'older_copy', number: 4, to: 6 }]);
  });

  it('names a chain that was removed, and a database that was removed altogether', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    tamper(folder, ...['', '_chains', '_checkpoints'].map((table) => `DELETE FROM toolcrib_audit${table}`));
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'chain_removed', to: 3 }]);
    rmSync(join(folder, 'crib.db'));
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'chain_removed', to: 3 }]);
  });

  it('still finds it after more rows were recorded', async () => {
    const folder = recordFolder();
    await addTimes(folder, 4);
    tamper(folder, 'DELETE FROM toolcrib_audit WHERE number = 4');
    await addTimes(folder, 4); // the chain does not end where it was sealed, so no process continues it
    const { findings, chains, rows } = await verify(folder);
    expect(findings).toMatchObject([{ kind: 'tail_cut', number: 4, to: 4 }]);
    expect(chains).toHaveLength(2);
    expect(rows).toBe(7);
  });

  it('names checkpoints that were changed or forged, inside and outside', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    tamper(folder, 'UPDATE toolcrib_audit_checkpoints SET made_at = made_at + 1');
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'forged', number: 3 }]);
    tamper(folder, 'UPDATE toolcrib_audit_checkpoints SET made_at = made_at - 1');
    expect((await verify(folder)).ok).toBe(true);
    tamper(
      folder,
      `INSERT INTO toolcrib_audit_checkpoints SELECT chain, 9, hash, made_at, signature FROM toolcrib_audit_checkpoints`,
    );
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'forged' }]);
    tamper(folder, 'DELETE FROM toolcrib_audit_checkpoints WHERE row_count = 9');
    const [name = ''] = filesOf(folder);
    const path = join(auditFolder(folder), name);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"count":3', '"count":9'));
    expect((await verify(folder)).findings).toContainEqual(expect.objectContaining({ kind: 'forged' }));
    writeFileSync(path, 'not json');
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'forged', message: expect.stringContaining(name) }]);
  });

  it('finds a changed head, and a chain that another key signed in place of ours', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    tamper(folder, 'UPDATE toolcrib_audit_chains SET started_at = started_at - 1');
    expect((await verify(folder)).findings).toContainEqual(expect.objectContaining({ kind: 'forged' }));
    const other = recordFolder();
    await addTimes(other, 3);
    tamper(folder, 'UPDATE toolcrib_audit_chains SET started_at = started_at + 1');
    const [head] = look(other, 'SELECT public_key, signature FROM toolcrib_audit_chains');
    tamper(
      folder,
      `UPDATE toolcrib_audit_chains SET public_key = '${head?.public_key}', signature = '${head?.signature}'`,
    );
    expect((await verify(folder)).findings).toContainEqual(expect.objectContaining({ kind: 'forged' }));
  });

  it('finds a chain that another key rebuilt from its first row to its last signature', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const rows = look(folder, 'SELECT chain, number, entry FROM toolcrib_audit ORDER BY number');
    const key = createPassingKey();
    const header = signHeader(key, String(rows[0]?.chain), 1);
    let hash = firstHash(header);
    for (const { number, entry } of rows) {
      hash = nextHash(hash, String(entry));
      tamper(folder, `UPDATE toolcrib_audit SET hash = '${hash}' WHERE number = ${number}`);
    }
    const { signature } = signCheckpoint(key, { chain: header.chain, count: 3, hash, at: 2 });
    tamper(
      folder,
      `UPDATE toolcrib_audit_chains SET public_key = '${key.publicKey}', started_at = 1, signature = '${header.signature}'`,
      `UPDATE toolcrib_audit_checkpoints SET hash = '${hash}', made_at = 2, signature = '${signature}'`,
    );
    const { ok, findings } = await verify(folder);
    expect(ok).toBe(false);
    expect(findings[0]).toMatchObject({
      kind: 'forged',
      message: expect.stringContaining('it is not signed by the key of this audit log'),
    });
  });

  it('finds rows that were added to a chain without a writer', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const [last] = look(folder, 'SELECT chain, hash, entry FROM toolcrib_audit ORDER BY number DESC LIMIT 1');
    const entry = String(last?.entry).replace('"number":3', '"number":4');
    tamper(
      folder,
      `INSERT INTO toolcrib_audit SELECT chain, 4, at, call_id, tool, caller, outcome, '${entry}', '${hashOf(`${last?.hash}\n${entry}`)}' FROM toolcrib_audit WHERE number = 3`,
    );
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'row_added', number: 4, to: 4 }]);
  });

  it('works while calls are made', async () => {
    const folder = recordFolder();
    await work(folder, async (chest, crib) => {
      for (let round = 0; round < 5; round++) {
        await chest.call('add', { a: round });
        const report = await crib.audit.verify();
        expect(report).toMatchObject({ ok: true, rows: round + 1, notes: [] });
        expect(report.chains).toMatchObject([{ state: 'open', sealed: round + 1 }]);
      }
    });
  });

  it('finds changes that happen while the process runs, before the rows are sealed', async () => {
    const folder = recordFolder();
    await work(folder, async (chest, crib) => {
      await chest.call('add', { a: 1 });
      await crib.audit.verify();
      tamper(folder, `UPDATE toolcrib_audit SET entry = replace(entry, 'alice', 'bob')`);
      expect((await crib.audit.verify()).findings).toMatchObject([{ kind: 'row_changed', number: 1 }]);
    });
  });

  it('survives columns with values of the wrong type', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    tamper(
      folder,
      `UPDATE toolcrib_audit SET at = 'noon', entry = x'00' WHERE number = 2`,
      `UPDATE toolcrib_audit SET number = 'three' WHERE number = 3`,
    );
    const { findings } = await verify(folder);
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'row_changed', number: 2 }));
    expect(findings.map(({ message }) => message).join('\n')).toContain('has lost its number');
  });

  it('limits the number of listed findings', async () => {
    const folder = recordFolder();
    await addTimes(folder, 1500);
    tamper(folder, `UPDATE toolcrib_audit SET tool = 'x'`);
    const { findings, moreFindings } = await verify(folder);
    expect(findings).toHaveLength(1000);
    expect(moreFindings).toBe(500);
  });
});

describe('the hash of a row', () => {
  it('is SHA-256 of the hash before it, a line feed and the rest of the row as JSON with sorted keys', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const [first, second] = await rowsOf(folder);
    const { chain: _chain, hash, ...entry } = second ?? { chain: '', hash: '' };
    expect(hash).toBe(hashOf(`${first?.hash}\n${canonicalJson(entry)}`));
  });
});

/** Hides the index of the primary key from SQLite, and brings it back as it was. */
const SCHEMA = "UPDATE sqlite_master SET sql = replace(sql, ',\n      PRIMARY KEY (chain, number)', '')";
const WITHOUT_INDEX = [
  'PRAGMA writable_schema = ON',
  "CREATE TABLE kept AS SELECT name, sql FROM sqlite_master WHERE name = 'toolcrib_audit'",
  `${SCHEMA} WHERE name = 'toolcrib_audit'`,
  "DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_toolcrib_audit_1'",
  'PRAGMA writable_schema = RESET',
];
const withIndex = (page: number) => [
  'PRAGMA writable_schema = ON',
  "UPDATE sqlite_master SET sql = (SELECT sql FROM kept) WHERE name = 'toolcrib_audit'",
  `INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('index', 'sqlite_autoindex_toolcrib_audit_1', 'toolcrib_audit', ${page}, NULL)`,
  'PRAGMA writable_schema = RESET',
  'DROP TABLE kept',
];

/** Edits a row and makes all hashes after it fit again. */
function rewriteFrom(folder: string, number: number, edit: (entry: string) => string): void {
  const rows = look(folder, 'SELECT number, entry, hash FROM toolcrib_audit ORDER BY number');
  let previous = '';
  for (const row of rows) {
    const entry = row.number === number ? edit(String(row.entry)) : String(row.entry);
    const isBefore = Number(row.number) < number;
    previous = isBefore ? String(row.hash) : hashOf(`${previous}\n${entry}`);
    const caller = (JSON.parse(entry) as { caller: string }).caller;
    tamper(
      folder,
      `UPDATE toolcrib_audit SET entry = '${entry}', hash = '${previous}', caller = '${caller}' WHERE number = ${row.number}`,
    );
  }
}
