import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { firstHash, signCheckpoint, signHeader } from '../../src/audit/proof.ts';
import { createPassingKey } from '../../src/audit/signing-keys.ts';
import { canonicalJson } from '../../src/core/json.ts';
import {
  type AuditReport,
  type AuditRow,
  type Chest,
  type Crib,
  type CribOptions,
  createCrib,
  defineTool,
} from '../../src/index.ts';
import { nextHash } from '../../src/store/audit-append.ts';
import { findPrivateFolder } from '../../src/store/private-folder.ts';

const input = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } as const;

/** A tool that adds, one that fails, one that destroys and asks first, one that calls another. */
export const TOOLS = [
  defineTool({ name: 'add', description: 'Add', input, tags: ['math'], run: ({ a = 0, b = 0 }) => a + b }),
  defineTool({
    name: 'fail',
    description: 'Fail',
    input: { type: 'object' },
    run: () => {
      throw new Error('it broke');
    },
  }),
  defineTool({
    name: 'wipe',
    description: 'Wipe',
    input: { type: 'object' },
    tags: ['payment'],
    effects: { destructive: true },
    run: () => 'wiped',
  }),
  defineTool({
    name: 'outer',
    description: 'Calls add',
    input: { type: 'object' },
    run: async (_, call) => (await call.tools.call('add', { a: 1 })).ok,
  }),
];

/** A folder with a configuration whose store lies in it. */
export function recordFolder(extensions = ''): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  configure(folder, extensions);
  return folder;
}

/** The folder of the audit outside the database, made if there is none. */
export function auditFolder(folder: string): string {
  return join(findPrivateFolder(folder, process.env).path ?? '', 'audit');
}

/** Writes the configuration anew. */
export function configure(folder: string, extensions = ''): void {
  writeFileSync(join(folder, 'toolcrib.yaml'), `store: { url: "sqlite:crib.db" }\n${extensions}\n`);
}

/** A crib of the folder, closed after the test. */
export async function cribOf(folder: string, options: CribOptions = {}): Promise<Crib> {
  const crib = await createCrib({ tools: TOOLS, configFile: folder, watch: false, ...options });
  onTestFinished(() => crib.close());
  return crib;
}

/** Adds a chain that is whole and signed, as a person with access to the database and a key of their own could; returns the public key. */
export function addForeignChain(folder: string, chain = 'ffffffff0123456789abcdef'): string {
  const key = createPassingKey();
  const header = signHeader(key, chain, 1);
  const [row] = look(folder, 'SELECT entry FROM toolcrib_audit ORDER BY at DESC LIMIT 1');
  const entry = canonicalJson({
    ...JSON.parse(String(row?.entry)),
    number: 1,
    tool: 'wire_money',
    caller: 'alice',
    callId: 'forged',
    outcome: 'done',
    approval: { by: 'olga', id: 'x' },
  });
  const { at } = JSON.parse(entry) as { at: number };
  const hash = nextHash(firstHash(header), entry);
  const checkpoint = signCheckpoint(key, { chain, count: 1, hash, at });
  tamper(
    folder,
    `INSERT INTO toolcrib_audit_chains (chain, public_key, started_at, signature) VALUES ('${chain}', '${header.key}', 1, '${header.signature}')`,
    `INSERT INTO toolcrib_audit VALUES ('${chain}', 1, ${at}, 'forged', 'wire_money', 'alice', 'done', '${entry}', '${hash}')`,
    `INSERT INTO toolcrib_audit_checkpoints VALUES ('${chain}', 1, '${hash}', ${at}, '${checkpoint.signature}')`,
  );
  return key.publicKey;
}

/** Opens a crib, works with a chest of Alice's, and closes it. */
export async function work<T>(folder: string, task: (chest: Chest, crib: Crib) => Promise<T>): Promise<T> {
  const crib = await createCrib({ tools: TOOLS, configFile: folder, watch: false });
  try {
    return await task(await crib.open(undefined, { id: 'alice', roles: ['dev'], approve: () => true }), crib);
  } finally {
    await crib.close();
  }
}

/** Makes so many calls of `add`. */
export function addTimes(folder: string, count: number): Promise<void> {
  return work(folder, async (chest) => {
    for (let index = 0; index < count; index++) await chest.call('add', { a: index });
  });
}

/** What verifying from a new process would find. */
export function verify(folder: string): Promise<AuditReport> {
  return work(folder, (_, crib) => crib.audit.verify());
}

/** All rows, in order. */
export async function rowsOf(folder: string): Promise<readonly AuditRow[]> {
  return work(folder, async (_, crib) => {
    const rows: AuditRow[] = [];
    for await (const row of crib.audit.export()) rows.push(row);
    return rows;
  });
}

/** Changes the database as a user with its file could. */
export function tamper(folder: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(join(folder, 'crib.db'));
  database.enableDefensive(false); // other programs do not forbid themselves to edit the schema
  for (const statement of statements) database.exec(statement);
  database.close();
}

/** Rows of a table as they are. */
export function look(folder: string, query: string): readonly Record<string, unknown>[] {
  const database = new DatabaseSync(join(folder, 'crib.db'));
  const rows = database.prepare(query).all();
  database.close();
  return rows;
}

/** The database as it is now; the function it returns puts it back. */
export function copyDatabase(folder: string): () => void {
  const copy = mkdtempSync(join(tmpdir(), 'toolcrib-audit-copy-'));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true, maxRetries: 10 }));
  cpSync(join(folder, 'crib.db'), join(copy, 'crib.db'));
  return () => cpSync(join(copy, 'crib.db'), join(folder, 'crib.db'));
}
