import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditReport } from '../../src/index.ts';
import { createWorkshop, type Workshop } from '../doors/cli/workshop.ts';
import { addTimes, auditFolder, configure, recordFolder, tamper, verify } from './recorded.ts';

const TOOL = `export const pay = { name: 'pay', description: 'Pay', input: { type: 'object' }, execute: () => 'paid' };`;
const CONFIG = 'sources: { shop: { modules: ./tools } }\n';

/** A folder in which the command line recorded a call, in the store that is the default. */
async function shopWithCall(config = CONFIG): Promise<Workshop & { readonly id: string; readonly kept: string }> {
  const shop = createWorkshop({
    'project/toolcrib.yaml': config,
    'project/tools/shop.mjs': TOOL,
    'audit.pem': newKey(),
  });
  onTestFinished(shop.remove);
  chmodSync(join(shop.folder, 'audit.pem'), 0o600);
  expect((await inProject(shop, 'call', 'pay')).code).toBe(0);
  expect((await inProject(shop, 'audit', 'verify')).code).toBe(0);
  const id = idOf(join(shop.folder, 'project'));
  return { ...shop, id, kept: join(shop.folder, '.local/state/toolcrib', id) };
}

const inProject = (shop: Workshop, ...args: readonly string[]) =>
  shop.run([...args, '--config', 'project/toolcrib.yaml']);
const idOf = (folder: string) => readFileSync(join(folder, '.toolcrib/id'), 'utf8').trim();
const kindsOf = ({ findings }: AuditReport) => findings.map(({ kind }) => kind);

function newKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** The folder of a configuration whose store lies beside `.toolcrib`, with three rows; the key is named where `keyFile` is given. */
async function recordedFolder(keyFile?: string): Promise<string> {
  const folder = recordFolder();
  if (keyFile !== undefined) {
    writeFileSync(join(folder, keyFile), newKey(), { mode: 0o600 });
    configure(folder, `extensions: { audit: { key: { file: ${keyFile} } } }`);
  }
  await addTimes(folder, 3);
  expect(await verify(folder)).toMatchObject({ ok: true, rows: 3 });
  return folder;
}

describe('the audit of a configuration that lost its id', () => {
  it.each<[string, (project: string) => void, string?]>([
    ['the folder beside the configuration was removed', (project) => remove(join(project, '.toolcrib'))],
    [
      'the id and the store were removed',
      (project) => ['id', 'crib.db'].map((name) => remove(join(project, '.toolcrib', name))),
    ],
    [
      'the id was changed, and the store removed',
      (project) => {
        remove(join(project, '.toolcrib/crib.db'));
        writeFileSync(join(project, '.toolcrib/id'), `${'0'.repeat(32)}\n`);
      },
    ],
    [
      'the folder was removed, and the key is one that the operator names',
      (project) => remove(join(project, '.toolcrib')),
      `${CONFIG}extensions: { audit: { key: { file: ../audit.pem } } }\n`,
    ],
  ])('fails audit verify as long as its checkpoints exist: %s', async (_, spoil, config) => {
    const shop = await shopWithCall(config);
    const project = join(shop.folder, 'project');
    spoil(project);
    for (const isLast of [false, true]) {
      const { code, stdout } = await inProject(shop, 'audit', 'verify');
      expect(code).toBe(1);
      expect(stdout).toMatch(/^other_id {2}This configuration had an audit log under another id, and 1 sealed rows/m);
      expect(stdout).toContain(`write ${shop.id} into ${join(project, '.toolcrib/id')} and run audit verify again`);
      if (!isLast) expect((await inProject(shop, 'call', 'pay')).code).toBe(0); // rows under the new id do not hide it
    }
    // The configuration was made anew on purpose: what the finding says helps.
    renameSync(shop.kept, join(shop.folder, 'kept elsewhere'));
    expect(await inProject(shop, 'audit', 'verify')).toMatchObject({ code: 0, stdout: '' });
  });

  it('is found once the id is restored, and the report names what is missing', async () => {
    const shop = await shopWithCall();
    const project = join(shop.folder, 'project');
    remove(join(project, '.toolcrib'));
    expect((await inProject(shop, 'audit', 'verify')).stdout).toContain('other_id');
    writeFileSync(join(project, '.toolcrib/id'), `${shop.id}\n`);
    const { code, stdout } = await inProject(shop, 'audit', 'verify');
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^chain_removed {2}Chain \w+ with its 1 rows is missing/),
    ]);
  });

  it('is complete once the id is restored, if the store still exists', async () => {
    const folder = await recordedFolder();
    const id = idOf(folder);
    remove(join(folder, '.toolcrib/id'));
    expect(kindsOf(await verify(folder)).toSorted()).toEqual(['other_id', 'unknown_key']);
    writeFileSync(join(folder, '.toolcrib/id'), `${id}\n`);
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 3 });
  });

  it('is not reported missing if a known key signed the rows of the store; a cut end of them is reported', async () => {
    const folder = await recordedFolder('audit.pem');
    remove(join(folder, '.toolcrib/id'));
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 3 });
    tamper(
      folder,
      'DELETE FROM toolcrib_audit WHERE number > 1',
      'DELETE FROM toolcrib_audit_checkpoints WHERE row_count > 1',
    );
    expect(kindsOf(await verify(folder))).toEqual(['other_id']);
  });

  it('is not reported missing if nothing was recorded under the former id', async () => {
    const folder = recordFolder();
    auditFolder(folder); // makes the id
    remove(join(folder, '.toolcrib/id'));
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 0 });
  });
});

describe('a configuration that has its id', () => {
  it('misses nothing after a rename, and a copy does not miss the audit of the original', async () => {
    const folder = await recordedFolder();
    const moved = `${folder}-moved`;
    onTestFinished(() => remove(moved));
    renameSync(folder, moved);
    expect(await verify(moved)).toMatchObject({ ok: true, rows: 3 });
    cpSync(moved, folder, { recursive: true });
    expect(kindsOf(await verify(folder))).toEqual(['unknown_key']); // the copied rows, as before
    expect(await verify(moved)).toMatchObject({ ok: true, rows: 3 });
  });

  it('misses the audit of the configuration that was at its place before, until that one is opened at its new place', async () => {
    const folder = await recordedFolder();
    const moved = `${folder}-moved`;
    onTestFinished(() => remove(moved));
    renameSync(folder, moved);
    mkdirSync(folder);
    configure(folder);
    expect(kindsOf(await verify(folder))).toEqual(['other_id']);
    expect(await verify(moved)).toMatchObject({ ok: true, rows: 3 });
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 0 });
    expect(dirname(auditFolder(folder))).not.toBe(dirname(auditFolder(moved)));
  });
});

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 10 });
}
