import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { firstHash, signCheckpoint, signCut, signHeader } from '../../src/audit/proof.ts';
import { createPassingKey, openSigningKey } from '../../src/audit/signing-keys.ts';
import type { ChainPosition, Checkpoint } from '../../src/core/ports/stored-audit.ts';
import { audit, createCrib, defineExtension, type Extension, type ExtensionHooks } from '../../src/index.ts';
import { packRows } from '../../src/store/audit-append.ts';
import { openStore } from '../../src/store/open-store.ts';
import {
  addForeignChain,
  addTimes,
  auditFolder,
  configure,
  cribOf,
  look,
  recordFolder,
  TOOLS,
  tamper,
  verify,
  work,
} from './recorded.ts';

const keyOf = (folder: string) => work(folder, (_, crib) => crib.audit.key());
const checkpointsOf = (folder: string) => readdirSync(auditFolder(folder)).filter((name) => /^[0-9a-f]{16}/.test(name));
const kindsOf = async (folder: string) => (await verify(folder)).findings.map(({ kind }) => kind);
const EVERYTHING = ['', '_chains', '_checkpoints'].map((table) => `DELETE FROM toolcrib_audit${table}`);

function keyFile(folder: string, mode = 0o600): string {
  const file = join(folder, 'audit-key.pem');
  writeFileSync(file, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
  chmodSync(file, mode);
  return file;
}

describe('audit verify accepts only keys of this machine and keys that the operator lists', () => {
  it('an empty store is fine', async () => {
    expect(await verify(recordFolder())).toMatchObject({ ok: true, rows: 0, findings: [], notes: [] });
  });

  it('a chain under another key is a finding until the operator lists the key', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const key = addForeignChain(folder);
    const { ok, findings } = await verify(folder);
    expect(ok).toBe(false);
    expect(findings).toEqual([
      { kind: 'unknown_key', chain: 'ffffffff0123456789abcdef', message: expect.stringContaining(key) },
    ]);
    expect(findings[0]?.message).toContain('extensions.audit.trustedKeys');
    configure(folder, `extensions: { audit: { trustedKeys: ["${key}"] } }`);
    const trusted = await verify(folder);
    expect(trusted).toMatchObject({ ok: true, rows: 4 });
    expect(trusted.notes).toEqual([expect.stringContaining('can only be detected there')]);
    tamper(folder, `UPDATE toolcrib_audit SET entry = replace(entry, 'olga', 'anna') WHERE tool = 'wire_money'`);
    expect(await kindsOf(folder)).toEqual(['row_changed']);
  });

  it('a chain under another key is a finding even if its name claims this machine', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const [own] = look(folder, 'SELECT chain FROM toolcrib_audit_chains');
    addForeignChain(folder, `${String(own?.chain).slice(0, 8)}0123456789abcdef`);
    expect(await kindsOf(folder)).toEqual(['unknown_key']);
  });

  it('rows and checkpoints without a key are findings', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    addForeignChain(folder);
    tamper(folder, `DELETE FROM toolcrib_audit_chains WHERE chain LIKE 'ffffffff%'`);
    expect((await verify(folder)).findings).toEqual([
      { kind: 'rows_without_key', chain: 'ffffffff0123456789abcdef', message: expect.stringContaining('2 rows of') },
    ]);
    tamper(folder, `DELETE FROM toolcrib_audit WHERE chain LIKE 'ffffffff%'`);
    expect(await kindsOf(folder)).toEqual(['rows_without_key']);
  });

  it('a header that names no key is a finding', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    addForeignChain(folder);
    for (const key of ['', 'x', 'AAAA']) {
      tamper(folder, `UPDATE toolcrib_audit_chains SET public_key = '${key}' WHERE chain LIKE 'ffffffff%'`);
      expect((await kindsOf(folder))[0]).toBe('forged');
    }
  });

  it('rows of a key that was lost are findings', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const key = await keyOf(folder);
    rmSync(join(auditFolder(folder), 'key.pem'));
    expect(await kindsOf(folder)).toContain('unknown_key');
    rmSync(auditFolder(folder), { recursive: true });
    expect(await kindsOf(folder)).toEqual(['unknown_key']);
    configure(folder, `extensions: { audit: { trustedKeys: ["${key}"] } }`);
    expect(await verify(folder)).toMatchObject({ ok: true, chains: [{ state: 'elsewhere' }] });
  });

  it('a removal of old rows that an unknown key signed is a finding, also in chains of trusted keys', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const key = addForeignChain(folder);
    configure(folder, `extensions: { audit: { trustedKeys: ["${key}"] } }`);
    const [row] = look(folder, `SELECT hash FROM toolcrib_audit WHERE tool = 'wire_money'`);
    const checkpoint = { chain: 'ffffffff0123456789abcdef', count: 1, hash: String(row?.hash), at: 1 };
    const cut = signCut(createPassingKey(), checkpoint);
    tamper(
      folder,
      `UPDATE toolcrib_audit_chains SET cut_count = 1, cut_hash = '${cut.hash}', cut_at = 1, cut_key = '${cut.key}', cut_signature = '${cut.signature}' WHERE chain = '${cut.chain}'`,
    );
    expect(await kindsOf(folder)).toContain('forged');
  });
});

describe('a chain of this machine needs its checkpoint outside the database', () => {
  it('a checkpoint that was removed is a finding, with and without its tail', async () => {
    const folder = recordFolder();
    await addTimes(folder, 4);
    for (const name of checkpointsOf(folder)) unlinkSync(join(auditFolder(folder), name));
    expect(await kindsOf(folder)).toEqual(['no_checkpoint']);
    tamper(folder, 'DELETE FROM toolcrib_audit WHERE number > 2', 'DELETE FROM toolcrib_audit_checkpoints');
    expect((await verify(folder)).findings).toEqual([
      { kind: 'no_checkpoint', chain: expect.any(String), message: expect.stringContaining(auditFolder(folder)) },
    ]);
  });

  it('the signature of a checkpoint covers all of its members', async () => {
    const folder = recordFolder();
    await addTimes(folder, 4);
    const [name = ''] = checkpointsOf(folder);
    const path = join(auditFolder(folder), name);
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    expect(Object.keys(kept).toSorted()).toEqual([
      'at',
      'chain',
      'count',
      'hash',
      'signature',
      'store',
      'storeId',
      'stored',
    ]);
    const other = { string: (value: string) => `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}` };
    for (const [member, value] of Object.entries(kept)) {
      if (member === 'signature') continue;
      const changed = typeof value === 'string' ? other.string(value) : Number(value) - 1;
      writeFileSync(path, JSON.stringify({ ...kept, [member]: changed }));
      expect(await kindsOf(folder), member).toContain('forged');
    }
    writeFileSync(path, JSON.stringify({ ...kept, signature: `${kept.signature}x` }));
    expect(await kindsOf(folder), 'more behind the signature').toContain('forged');
    for (const member of Object.keys(kept)) {
      writeFileSync(path, JSON.stringify({ ...kept, [member]: undefined }));
      expect(await kindsOf(folder), `without ${member}`).toContain('forged');
    }
    writeFileSync(path, JSON.stringify(kept));
    expect(await kindsOf(folder)).toEqual([]);
  });

  it('a checkpoint of another store is a finding, whether the tables are empty or not', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const other = { store: { url: `sqlite:${join(folder, 'other.db')}` } };
    const crib = await cribOf(folder, other);
    expect((await crib.audit.verify()).findings).toEqual([
      expect.objectContaining({ kind: 'other_store', to: 3, message: expect.stringContaining('remove ') }),
    ]);
    await (await crib.open()).call('add', {});
    await crib.close();
    // Rows of one store that are copied into another, under a key that signs in both.
    const [chain] = look(folder, 'SELECT chain FROM toolcrib_audit_chains');
    tamper(
      folder,
      `ATTACH '${join(folder, 'other.db')}' AS other`,
      ...['', '_chains', '_checkpoints'].map(
        (table) => `INSERT INTO toolcrib_audit${table} SELECT * FROM other.toolcrib_audit${table}`,
      ),
    );
    const { findings } = await verify(folder);
    expect(findings).toMatchObject([{ kind: 'other_store' }]);
    expect(findings[0]?.chain).not.toBe(chain?.chain);
  });

  it('a store that was moved, and a configuration that was renamed, are still verified', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const renamed = `${folder}-renamed`;
    onTestFinished(() => rmSync(renamed, { recursive: true, force: true, maxRetries: 10 }));
    renameSync(folder, renamed);
    expect(await verify(renamed)).toMatchObject({ ok: true, rows: 3, chains: [{ state: 'closed' }] });
    await addTimes(renamed, 2);
    expect(await verify(renamed)).toMatchObject({ ok: true, rows: 5, chains: [{ rows: 5 }] });
    tamper(renamed, ...EVERYTHING);
    expect(await kindsOf(renamed)).toEqual(['chain_removed']);
  });

  it('a copy of a configuration has its own key, and names the owner of the rows that it has', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const copy = `${folder}-copy`;
    onTestFinished(() => rmSync(copy, { recursive: true, force: true, maxRetries: 10 }));
    cpSync(folder, copy, { recursive: true });
    expect(await kindsOf(copy)).toEqual(['unknown_key']);
    configure(copy, `extensions: { audit: { trustedKeys: ["${await keyOf(folder)}"] } }`);
    await addTimes(copy, 2);
    expect(await verify(copy)).toMatchObject({ ok: true, rows: 5 });
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 3 });
  });

  it('a file that tells which chains were begun here cannot be changed or removed', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    const origin = join(auditFolder(folder), 'origin.json');
    const text = readFileSync(origin, 'utf8');
    for (const other of [
      '{}',
      text.replace(/"origin":"./, '"origin":"0'),
      text.replace(/"origin":"./, '"origin":"1'),
    ]) {
      if (other === text) continue;
      writeFileSync(origin, other);
      expect(await kindsOf(folder)).toEqual(['forged']);
    }
    rmSync(origin);
    expect(await kindsOf(folder)).toEqual(['forged']);
    writeFileSync(origin, text);
    expect(await kindsOf(folder)).toEqual([]);
  });
});

describe('checkpoints of earlier versions, which do not sign their store', () => {
  /** A record as an earlier version left it, with one checkpoint inside and one outside. */
  async function earlier(): Promise<{ readonly folder: string; readonly file: string }> {
    const folder = recordFolder();
    const key = await openSigningKey(auditFolder(folder));
    const header = signHeader(key, '0123456789abcdef', 1);
    const store = await openStore({ url: `sqlite:${join(folder, 'crib.db')}`, env: {} });
    const shared = { caller: undefined, outcome: 'done', door: 'code', kind: 'call', profile: 'all' } as const;
    const append = async (after: ChainPosition, numbers: readonly number[], checkpoint?: Checkpoint) => {
      const rows = numbers.map((number) => ({
        ...shared,
        at: number,
        callId: `c${number}`,
        tool: 'add',
        source: 'code',
      }));
      const end = await store.audit.append({ header, after, packed: [packRows(rows)], checkpoint });
      return end ?? after;
    };
    const checkpointOf = ({ count, hash }: ChainPosition) =>
      signCheckpoint(key, { chain: header.chain, count, hash, at: count });
    const second = await append({ count: 0, hash: firstHash(header) }, [1, 2]);
    const third = await append(second, [3], checkpointOf(second));
    await append(third, [], checkpointOf(third));
    const { location } = await store.status();
    await store.close();
    const file = join(auditFolder(folder), '0123456789abcdef.idle.json');
    writeFileSync(file, JSON.stringify({ ...checkpointOf(third), store: location, stored: 3 }));
    return { folder, file };
  }

  it('are verified as they are, and the first process that records signs them again', async () => {
    const { folder, file } = await earlier();
    expect(await verify(folder)).toMatchObject({
      ok: true,
      rows: 3,
      notes: [expect.stringContaining('signs it again')],
    });
    await addTimes(folder, 2);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ count: 3, storeId: expect.stringMatching(/./) });
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 5, notes: [], chains: [{ rows: 3 }, { rows: 2 }] });
    tamper(folder, `DELETE FROM toolcrib_audit WHERE chain = '0123456789abcdef' AND number = 3`);
    expect(await kindsOf(folder)).toEqual(['tail_cut']);
  });

  it('are then no longer accepted, since they could be forged from checkpoints in the database', async () => {
    const { folder, file } = await earlier();
    await addTimes(folder, 1);
    const [checkpoint] = look(
      folder,
      'SELECT chain, row_count AS count, hash, made_at AS at, signature FROM toolcrib_audit_checkpoints WHERE row_count = 2',
    );
    const { store } = JSON.parse(readFileSync(file, 'utf8')) as { store: string };
    writeFileSync(file, JSON.stringify({ ...checkpoint, store, stored: 2 }));
    tamper(
      folder,
      `DELETE FROM toolcrib_audit WHERE number = 3`,
      'DELETE FROM toolcrib_audit_checkpoints WHERE row_count = 3',
    );
    expect(await kindsOf(folder)).toEqual(['forged']);
    rmSync(join(auditFolder(folder), 'origin.json'));
    expect(await kindsOf(folder)).toEqual(['forged', 'forged']);
  });

  it('with another store in them are not accepted', async () => {
    const { folder, file } = await earlier();
    const kept = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...kept, store: '/somewhere/else' }));
    tamper(folder, ...EVERYTHING);
    expect(await kindsOf(folder)).toEqual(['other_store']);
  });
});

describe('extensions.audit.key', () => {
  it.each(['file', 'env', 'env without lines'])('names the key that signs: %s', async (where) => {
    const folder = recordFolder();
    const file = keyFile(folder, 0o640);
    const pem = readFileSync(file, 'utf8');
    const variable = where === 'env' ? pem : pem.replaceAll(/-----.*-----|\n/g, '');
    vi.stubEnv('TEST_AUDIT_KEY', variable);
    onTestFinished(() => void vi.unstubAllEnvs());
    const key = where === 'file' ? 'file: audit-key.pem' : 'env: TEST_AUDIT_KEY';
    configure(folder, `extensions: { audit: { key: { ${key} } } }`);
    await addTimes(folder, 3);
    const [chain] = look(folder, 'SELECT public_key FROM toolcrib_audit_chains');
    expect(chain?.public_key).toBe(await keyOf(folder));
    expect(readdirSync(auditFolder(folder))).not.toContain('key.pem');
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 3, chains: [{ state: 'closed', sealed: 3 }] });
    for (const name of checkpointsOf(folder)) unlinkSync(join(auditFolder(folder), name));
    expect(await kindsOf(folder), 'a removed checkpoint is found by the origin of the chain').toEqual([
      'no_checkpoint',
    ]);
  });

  it('chains of the previous key still belong to this machine', async () => {
    const folder = recordFolder();
    await addTimes(folder, 3);
    keyFile(folder);
    configure(folder, 'extensions: { audit: { key: { file: audit-key.pem } } }');
    await addTimes(folder, 2);
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 5, notes: [], chains: [{ rows: 3 }, { rows: 2 }] });
  });

  it.each<[string, (file: string) => void]>([
    ['is missing', (file) => rmSync(file)],
    ['is empty', (file) => writeFileSync(file, '')],
    ['is not a key', (file) => writeFileSync(file, 'hunter2hunter2')],
    ['is a public key', (file) => writeFileSync(file, createPassingKey().publicKey)],
    [
      'is of another kind',
      (file) => {
        const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
        writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
      },
    ],
    ['is readable for other users', (file) => chmodSync(file, 0o644)],
    ['is too large', (file) => writeFileSync(file, '\n'.repeat(5000), { flag: 'a' })],
    [
      'is a folder',
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
  ])('a key that %s is an error at start, and is not repeated', async (_, spoil) => {
    const folder = recordFolder('extensions: { audit: { key: { file: audit-key.pem } } }');
    spoil(keyFile(folder));
    const error = await createCrib({ configFile: folder, watch: false }).catch((cause: Error) => cause);
    expect(error).toMatchObject({
      code: 'audit_key_unusable',
      message: expect.stringContaining('extensions.audit.key'),
    });
    expect(String(error)).not.toContain('hunter2');
  });

  it.each([
    { key: {} },
    { key: 'audit-key.pem' },
    { key: { file: 'a', env: 'B' } },
    { key: { command: ['x'] } },
    { key: { file: '' } },
    { trustedKeys: 'MCow' },
    { trustedKeys: ['MCow'] },
    { trustedKeys: [''] },
    { trustedKeys: [generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })] },
  ])('refuses %j', (options) => {
    expect(() => audit(options as never)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });

  it('a key that is configured while the crib runs takes effect at the next start, and a notice says so', async () => {
    const folder = recordFolder();
    keyFile(folder);
    const crib = await cribOf(folder);
    await (await crib.open()).call('add', {});
    configure(folder, 'extensions: { audit: { key: { file: audit-key.pem } } }');
    await crib.reload();
    expect(crib.warnings()).toContainEqual(expect.stringContaining('extensions.audit.key was changed'));
    expect(await crib.audit.verify()).toMatchObject({ ok: true, rows: 1 });
  });
});

describe('crib.calls', () => {
  it('marks rows of other keys', async () => {
    const folder = recordFolder();
    await addTimes(folder, 1);
    const key = addForeignChain(folder);
    const calls = () => work(folder, (_, crib) => crib.calls.list());
    const found = () => work(folder, (_, crib) => crib.calls.get('forged'));
    const keys = async () => Object.fromEntries((await calls()).map((row) => [row.tool, row.key]));
    expect(await keys()).toEqual({ add: undefined, wire_money: 'unknown' });
    expect(await found()).toMatchObject({ tool: 'wire_money', key: 'unknown' });
    configure(folder, `extensions: { audit: { trustedKeys: ["${key}"] } }`);
    expect(await keys()).toEqual({ add: undefined, wire_money: 'trusted' });
    tamper(folder, `DELETE FROM toolcrib_audit_chains WHERE chain LIKE 'ffffffff%'`);
    expect(await keys()).toEqual({ add: undefined, wire_money: 'unknown' });
  });

  it('recognizes the rows of a store in memory as its own', async () => {
    const crib = await cribOf(recordFolder(), { store: { url: 'memory:' } });
    await (await crib.open()).call('add', {});
    expect((await crib.calls.list()).map(({ key }) => key)).toEqual([undefined]);
    expect(await crib.audit.verify()).toMatchObject({ ok: true, rows: 1, notes: [], chains: [{ state: 'open' }] });
    await expect(crib.audit.key()).rejects.toMatchObject({ code: 'not_available' });
  });
});

describe('audit() in code without a store', () => {
  it.each([
    ['as it is', () => [audit()]],
    ['tuned', () => [audit({ retentionDays: 3 })]],
    ['under another name', () => [{ ...audit(), name: 'records' }]],
    ['frozen', () => [Object.freeze(audit())]],
    ['as a prototype', () => [Object.assign(Object.create(audit()), { name: 'records' })]],
  ])('is refused by createCrib: %s', async (_, extensions) => {
    await expect(createCrib({ tools: TOOLS, extensions: extensions() })).rejects.toMatchObject({
      code: 'not_available',
      message: expect.stringMatching(/audit\(\) needs a store.*store: \{ url \}/),
    });
  });

  it.each([
    ['made by defineExtension', () => defineExtension(audit() as ExtensionHooks)],
    ['a copy of its members', () => Object.fromEntries(Object.entries(audit())) as unknown as Extension],
    ['one of its hooks', () => ({ name: 'records', priority: 1000, onEnd: audit().onEnd }) as Extension],
  ])('is refused with a store as well where it would record nothing: %s', async (_, make) => {
    for (const rest of [{}, { store: { url: 'memory:' } }])
      await expect(createCrib({ tools: TOOLS, extensions: [make()], ...rest })).rejects.toThrow(/built.in/);
  });

  it('does not record unnoticed if another extension calls its hooks', async () => {
    const { wrap, onEnd } = audit();
    const gate: Extension = {
      name: 'audit',
      priority: 1000,
      unsafeOrder: true,
      wrap: (call, next) => wrap?.(call, next) ?? next(call),
    };
    const watcher: Extension = { name: 'audit', priority: 1000, onEnd: (call, result) => onEnd?.(call, result) };
    const stopped = await createCrib({ tools: TOOLS, extensions: [gate], store: { url: 'memory:' } });
    const watched = await createCrib({ tools: TOOLS, extensions: [watcher], store: { url: 'memory:' } });
    onTestFinished(async () => void (await Promise.all([stopped.close(), watched.close()])));
    expect(await (await stopped.open()).call('add', {})).toMatchObject({ error: { code: 'internal' } });
    await (await watched.open()).call('add', {});
    expect(watched.warnings().join()).toContain('audit() cannot record here');
  });

  it('is refused by extensions.add', async () => {
    const crib = await createCrib({ tools: TOOLS });
    onTestFinished(() => crib.close());
    crib.extensions.remove('audit');
    expect(() => crib.extensions.add(audit())).toThrow(/audit\(\) needs a store/);
  });

  it('records if the crib has a store, also in memory', async () => {
    const crib = await createCrib({ tools: TOOLS, extensions: [audit()], store: { url: 'memory:' } });
    onTestFinished(() => crib.close());
    await (await crib.open()).call('add', {});
    expect(await crib.calls.list()).toHaveLength(1);
  });
});
