import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createCrib } from '../../../src/index.ts';
import { OFFICE } from './office.ts';
import { createWorkshop } from './workshop.ts';

const shop = createWorkshop(OFFICE);
afterAll(shop.remove);

const edit = (statement: string) => {
  const database = new DatabaseSync(join(shop.folder, '.toolcrib/crib.db'));
  database.exec(statement);
  database.close();
};

describe('before the first call', () => {
  it.each([
    [['list'], 0, ''],
    [['show', 'add'], 0, ''],
    [['calls'], 0, 'No recorded calls found.'],
    [['audit'], 0, 'The audit log is empty.'],
    [['audit', 'export'], 0, ''],
  ])('%j opens no store and creates no chain', async (args, code, stderr) => {
    const ran = await shop.run(args);
    expect(ran).toMatchObject({ code, stderr: stderr === '' ? '' : expect.stringContaining(stderr) });
    expect(existsSync(join(shop.folder, '.toolcrib/crib.db'))).toBe(false);
    expect(existsSync(join(shop.folder, '.toolcrib/id'))).toBe(false);
    expect(existsSync(join(shop.folder, '.local'))).toBe(false);
  });
});

describe('after calls', () => {
  beforeAll(async () => {
    for (const args of [
      ['call', 'add', 'a=1', 'b=2'],
      ['call', 'fail'],
      ['call', 'wipe', 'what=x', '--yes'],
      ['call', 'absent\u001b[31m\u0007'],
      ['call', 'add', 'a=1', 'b=2', '--profile', 'reader'],
    ])
      await shop.run(args);
  });

  it('`toolcrib calls` lists them, newest first, and filters', async () => {
    const { stdout, code } = await shop.run(['calls']);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^AT +TOOL +OUTCOME +MS +CALLER +PROFILE +APPROVED BY +CALL$/);
    expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(1, 3))).toEqual([
      ['add', 'done'],
      ['absent', 'unknown_tool'],
      ['wipe', 'done'],
      ['fail', 'tool_error'],
      ['add', 'done'],
    ]);
    expect(stdout).not.toContain('\u001b');
    expect(await shop.json(['calls', '--tool', 'add', '--limit', '1'])).toMatchObject({
      calls: [{ tool: 'add', profile: 'reader', door: 'cli', caller: 'operator', row: { number: 6 } }],
    });
    expect(await shop.json(['calls', '--outcome', 'tool_error'])).toMatchObject({ calls: [{ tool: 'fail' }] });
    expect(await shop.json(['calls', '--caller', 'nobody'])).toEqual({ calls: [] });
  });

  it('`toolcrib show` prints the last calls of the tool', async () => {
    expect((await shop.run(['show', 'wipe'])).stdout).toMatch(/last calls\nAT .+\n.+wipe +done/);
    expect(await shop.json(['show', 'wipe'])).toMatchObject({ calls: [{ tool: 'wipe', outcome: 'done' }] });
  });

  it('`toolcrib audit export` prints one row per line; five commands, one with an intent row, left one chain', async () => {
    const { stdout } = await shop.run(['audit', 'export']);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(rows.filter(({ tool }) => tool === 'wipe').map(({ kind }) => kind)).toEqual(['intent', 'call']);
    expect(new Set(rows.map(({ chain }) => chain)).size).toBe(1);
    expect(await shop.run(['audit'])).toMatchObject({ stdout: expect.stringMatching(/^6 rows in 1 chain\n/) });
  });

  it('`toolcrib audit key` prints the public key that signs, as it is in chains', async () => {
    const { code, stdout, stderr } = await shop.run(['audit', 'key']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { chains } = (await shop.json(['audit'])) as { chains: { key: string }[] };
    expect(chains.map(({ key }) => `${key}\n`)).toEqual([stdout]);
    expect(await shop.json(['audit', 'key'])).toEqual({ key: stdout.trim() });
  });

  it('`toolcrib calls` marks rows of other keys, and `verify` exits 1 for them', async () => {
    const columns = 'at + 1, call_id, tool, caller, outcome, entry, hash';
    edit(`INSERT INTO toolcrib_audit SELECT 'added', 1, ${columns} FROM toolcrib_audit WHERE number = 4`);
    const { stdout } = await shop.run(['calls']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/ KEY$/);
    expect(lines.slice(1).map((line) => line.split(/ +/).at(-1))).toEqual([
      'own',
      'own',
      'unknown',
      'own',
      'own',
      'own',
    ]);
    expect(await shop.json(['calls', '--tool', 'wipe'])).toMatchObject({
      calls: [{ row: { chain: 'added', key: 'unknown' } }, { row: { number: 4 } }],
    });
    expect(await shop.run(['audit', 'verify'])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^rows_without_key {2}1 rows of chain "added" have no key/),
    });
    edit(`DELETE FROM toolcrib_audit WHERE chain = 'added'`);
  });

  it('`toolcrib audit verify` exits with 0 for an unchanged log, and with 1 and each finding for a changed one', async () => {
    expect(await shop.run(['audit', 'verify'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'The audit log is intact: 6 rows in 1 chain, 6 sealed.\n',
    });
    edit(`UPDATE toolcrib_audit SET entry = replace(entry, 'operator', 'somebody') WHERE number = 2`);
    edit('DELETE FROM toolcrib_audit WHERE number = 5');
    const ran = await shop.run(['audit', 'verify']);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain('The audit log is not intact: 2 problems found; 5 rows in 1 chain, 5 sealed.\n');
    expect(ran.stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^row_changed {2}Row 2 of chain .+ about "fail"/),
      expect.stringMatching(/^row_removed {2}Row 5 of chain/),
    ]);
    expect(await shop.json(['audit', 'verify'])).toMatchObject({
      ok: false,
      findings: [{ kind: 'row_changed', number: 2, at: expect.stringMatching(/^20.+Z$/) }, { kind: 'row_removed' }],
    });
  });

  it.each([
    [['audit', 'erase'], 'audit takes verify, export or key, not "erase"'],
    [['audit', 'verify', 'x'], 'does not take the extra argument "x"'],
    [['calls', '--limit', 'many'], '--limit takes a whole number'],
    [['calls', '--limit', '5000'], 'limit must be a number from 1 to 1000'],
  ])('%j is answered with a sentence', async (args, sentence) => {
    expect(await shop.run(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) });
  });

  it('`toolcrib check` lists the audit among the extensions, and says if it is off', async () => {
    const { extensions } = (await shop.json(['check'])) as { extensions: { name: string; priority: number }[] };
    expect(extensions.filter(({ name }) => name.startsWith('audit'))).toMatchObject([
      { name: 'audit', priority: 1000 },
      { name: 'auditIntent', priority: 290 },
    ]);
    const off = createWorkshop({ 'toolcrib.yaml': 'extensions: { audit: false }\n' });
    const { guardsOff } = (await off.json(['check'])) as { guardsOff: string[] };
    expect(guardsOff).toEqual(expect.arrayContaining(['audit', 'auditIntent']));
    off.remove();
  });
});

it('a replayed call is listed as a replay of the earlier one', async () => {
  const till = createWorkshop({ 'toolcrib.yaml': 'profiles: {}\n' });
  onTestFinished(() => till.remove());
  const crib = await createCrib({
    configFile: till.folder,
    tools: [{ name: 'pay', description: 'Pay', run: () => 'paid' }],
    watch: false,
  });
  const chest = await crib.open(undefined, { id: 'ann' });
  for (let time = 0; time < 2; time++) await chest.call('pay', {}, { idempotencyKey: 'order-7' });
  await crib.close();
  const { stdout } = await till.run(['calls']);
  const outcomes = stdout.trimEnd().split('\n').slice(1);
  expect(outcomes.map((line) => line.split(/ {2,}/)[2])).toEqual(['done (replay)', 'done']);
  const { calls } = (await till.json(['calls'])) as { calls: readonly { readonly isReplayed?: true }[] };
  expect(calls.map(({ isReplayed }) => isReplayed)).toEqual([true, undefined]);
});
