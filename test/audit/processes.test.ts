import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { missingPackage, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { type StartedProcess, startProcess } from '../store/start-process.ts';
import { addTimes, auditFolder, configure, look, recordFolder, verify } from './recorded.ts';

const SCRIPT = new URL('../store/processes/record-calls.ts', import.meta.url);
const start = (folder: string, count: number, end = 'close'): StartedProcess =>
  startProcess(SCRIPT, [folder, String(count), end]);
const kill = async (process: StartedProcess): Promise<void> => {
  process.child.kill('SIGKILL');
  expect(await process.ended).toBe('SIGKILL');
};
const checkpointFiles = (folder: string) => readdirSync(auditFolder(folder)).filter((name) => name.endsWith('.json'));

describe('Each writer process has its own chain, so that processes never contend', () => {
  it('several that record at once lose nothing, and all chains verify', async () => {
    const folder = recordFolder();
    const ended = await Promise.all(Array.from({ length: 4 }, () => start(folder, 150).ended));
    expect(ended).toEqual([0, 0, 0, 0]);
    const report = await verify(folder);
    expect(report).toMatchObject({ ok: true, rows: 600, notes: [] });
    expect(report.chains.every(({ rows, sealed, state }) => rows === sealed && state === 'closed')).toBe(true);
    for (const { chain, rows } of report.chains) {
      const writers = look(
        folder,
        `SELECT caller, count(*) AS total FROM toolcrib_audit WHERE chain = '${chain}' GROUP BY caller`,
      );
      expect(writers.reduce((sum, { total }) => sum + Number(total), 0)).toBe(rows);
    }
  });

  it('one after the other goes on with the same chain: there are as many as processes at one time', async () => {
    const folder = recordFolder();
    for (let run = 0; run < 5; run++) await addTimes(folder, 2);
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 10, chains: [{ rows: 10 }] });
    expect(checkpointFiles(folder)).toHaveLength(1);
  });
});

describe('Otherwise the last batch may be lost with the process, and nothing else', () => {
  it('kill -9: everything that was on record verifies, and what is not sealed is said to be', async () => {
    const folder = recordFolder();
    const writer = start(folder, 200, 'go-on');
    await writer.said(1);
    await kill(writer);
    const report = await verify(folder);
    expect(report.findings).toEqual([]);
    expect(report.rows).toBeGreaterThanOrEqual(200);
    expect(report.chains).toMatchObject([{ state: 'ended' }]);
    const [chain] = report.chains;
    const isTold = report.notes.some((note) => /not sealed/.test(note));
    expect(isTold).toBe((chain?.rows ?? 0) > (chain?.sealed ?? 0));
    await addTimes(folder, 3);
    expect(await verify(folder)).toMatchObject({ ok: true, rows: report.rows + 3 });
  });

  it('kill -9 of a process that had nothing to do: the next goes on with its chain', async () => {
    const folder = recordFolder();
    const writer = start(folder, 10, 'stay');
    await writer.said(1);
    await sealed(folder, 10);
    await kill(writer);
    await addTimes(folder, 5);
    expect(await verify(folder)).toMatchObject({
      ok: true,
      rows: 15,
      chains: [{ rows: 15, state: 'closed' }],
      notes: [],
    });
  });

  it('`verify` reports intents without outcome', async () => {
    const folder = recordFolder('extensions: { audit: { requireFor: [pay] } }');
    const writer = start(folder, 3, 'pay');
    await writer.said(2);
    expect((await verify(folder)).notes).toContainEqual(expect.stringContaining('is running'));
    await kill(writer);
    const { ok, findings } = await verify(folder);
    expect(ok).toBe(false);
    expect(findings).toMatchObject([{ kind: 'intent_open', number: 4, tool: 'pay' }]);
    expect(findings[0]?.message).toContain('The call "the-payment"');
  });

  it('a tail that was cut after a kill -9 is found all the same', async () => {
    const folder = recordFolder();
    const writer = start(folder, 10, 'stay');
    await writer.said(1);
    await sealed(folder, 10);
    await kill(writer);
    look(folder, 'DELETE FROM toolcrib_audit WHERE number > 7 RETURNING number');
    expect((await verify(folder)).findings).toMatchObject([{ kind: 'tail_cut', number: 8, to: 10 }]);
  });
});

const missing = missingPackage();
describe.skipIf(missing !== undefined)('replicas that share a PostgreSQL', { timeout: 60_000 }, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it('sign with a key of their own, and each can be verified where its key lies', async () => {
    const url = server.urlOf(await server.createDatabase());
    const folders = [recordFolder(), recordFolder()];
    for (const folder of folders) configure(folder, `# ${folder}`);
    const work = async (folder: string) => {
      const crib = await createCrib({ configFile: folder, store: { url }, watch: false });
      const chest = await crib.open();
      for (let index = 0; index < 120; index++) await chest.call('absent', { index });
      const report = await crib.audit.verify();
      await crib.close();
      return report;
    };
    const reports = await Promise.all(folders.map(work));
    expect(reports.every(({ ok }) => ok)).toBe(true);
    const client = await server.connect(new URL(url).pathname.slice(1));
    await client.query('DELETE FROM toolcrib_audit WHERE number > 15');
    await client.query('DELETE FROM toolcrib_audit_checkpoints');
    await client.end();
    for (const folder of folders) {
      const crib = await createCrib({ configFile: folder, store: { url }, watch: false });
      const { findings, chains } = await crib.audit.verify();
      expect(findings).toMatchObject([{ kind: 'older_copy', number: 16, to: 21 }]); // its own; of the other it cannot know
      expect(chains.map(({ state }) => state).toSorted()).toEqual(['closed', 'elsewhere']);
      await crib.close();
    }
  });

  it('a state folder that was copied makes no two write to one chain', async () => {
    const url = server.urlOf(await server.createDatabase());
    const folder = recordFolder();
    const record = async (at: string) => {
      const crib = await createCrib({ configFile: at, store: { url }, watch: false });
      const chest = await crib.open();
      await chest.call('absent', {});
      return { crib, chest };
    };
    await (await record(folder)).crib.close();
    const copy = recordFolder();
    mkdirSync(join(copy, '.toolcrib'), { recursive: true });
    cpSync(join(folder, '.toolcrib'), join(copy, '.toolcrib'), { recursive: true });
    const [one, two] = await Promise.all([record(folder), record(copy)]);
    for (const { chest } of [one, two]) await chest.call('absent', {});
    await Promise.all([one.crib.close(), two.crib.close()]);
    const { crib } = await record(folder);
    expect(await crib.audit.verify()).toMatchObject({ ok: true, rows: 6 });
    await crib.close();
  });
});

/** Waits until so many rows are sealed outside of the database. */
async function sealed(folder: string, rows: number): Promise<void> {
  for (;;) {
    const { chains } = await verify(folder);
    if (chains.some((chain) => chain.sealed >= rows)) return;
  }
}
