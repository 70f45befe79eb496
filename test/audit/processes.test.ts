import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { signHeader } from '../../src/audit/proof.ts';
import { createPassingKey } from '../../src/audit/signing-keys.ts';
import { createCrib } from '../../src/index.ts';
import { MAIN } from '../doors/cli/workshop.ts';
import { missingPackage, sharedPostgres } from '../store/postgres-server.ts';
import { type StartedProcess, startProcess } from '../store/start-process.ts';
import { addTimes, auditFolder, configure, look, recordFolder, verify } from './recorded.ts';

const SCRIPT = new URL('../store/processes/record-calls.ts', import.meta.url);
const start = (folder: string, count: number, end = 'close'): StartedProcess =>
  startProcess(SCRIPT, [folder, String(count), end]);
/** Resolves when all of these have recorded and make more calls. They begin to do so together: one that waits for others takes no time from them. */
const goOn = async (writers: readonly StartedProcess[]): Promise<void> => {
  await Promise.all(writers.map((writer) => writer.said(1)));
  for (const { child } of writers) child.stdin?.write('go on\n');
  await Promise.all(writers.map((writer) => writer.said(2)));
};
const kill = async (process: StartedProcess): Promise<void> => {
  process.child.kill('SIGKILL');
  expect(await process.ended).toBe('SIGKILL');
};
const checkpointFiles = (folder: string) =>
  readdirSync(auditFolder(folder)).filter((name) => /^[0-9a-f]{24}\..*\.json$/.test(name));

describe('Each writer process has its own chain, so that processes never contend', () => {
  it('several processes that record at once lose nothing, and all chains verify', async () => {
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

  it('a later process continues the same chain: there are as many chains as concurrent processes', async () => {
    const folder = recordFolder();
    for (let run = 0; run < 5; run++) await addTimes(folder, 2);
    expect(await verify(folder)).toMatchObject({ ok: true, rows: 10, chains: [{ rows: 10 }] });
    expect(checkpointFiles(folder)).toHaveLength(1);
  });
});

describe('Otherwise the last batch may be lost with the process, and nothing else', () => {
  it('kill -9: every recorded row verifies, and unsealed rows are reported as such', async () => {
    const folder = recordFolder();
    const writer = start(folder, 200, 'go-on');
    await goOn([writer]);
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

  it('kill -9 of an idle process: the next process continues its chain', async () => {
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

  it('a tail that was cut after a kill -9 is found', async () => {
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
  const server = sharedPostgres();

  /** One configuration, and three machines with a state directory each. */
  async function replicas(extensions = ''): Promise<{ folder: string; url: string; homes: readonly string[] }> {
    const url = await server.createStore();
    const folder = recordFolder();
    const homes = [1, 2, 3].map((number) => join(folder, `home-${number}`));
    writeConfig(folder, url, extensions);
    return { folder, url, homes };
  }
  const writeConfig = (folder: string, url: string, extensions: string) =>
    writeFileSync(join(folder, 'toolcrib.yaml'), `store: { url: "${url}" }\n${extensions}\n`);

  /** Starts a process for each machine that records calls, and kills all of them at once while they go on. */
  async function recordAndKill(folder: string, homes: readonly string[]): Promise<void> {
    const writers = homes.map((home) => inHome(home, () => start(folder, 120, 'go-on')));
    await goOn(writers);
    await Promise.all(writers.map(kill));
  }

  /** What `toolcrib audit` prints on each machine, and how it ends. */
  const onEach = (folder: string, homes: readonly string[], word: string) =>
    Promise.all(homes.map((home) => inHome(home, () => toolcribAudit(folder, word))));

  it.each(['list the keys of each other', 'share a key by audit.key'])(
    'verify after kill -9 where they %s, and an added chain does not',
    async (how) => {
      const { folder, url, homes } = await replicas();
      if (how.startsWith('list')) {
        const keys = (await onEach(folder, homes, 'key')).map(({ stdout }) => stdout.trim());
        expect(new Set(keys).size).toBe(3);
        writeConfig(folder, url, `extensions: { audit: { trustedKeys: ${JSON.stringify(keys)} } }`);
      } else {
        const { privateKey } = generateKeyPairSync('ed25519');
        const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
        writeFileSync(join(folder, 'shared.pem'), pem, { mode: 0o600 });
        writeConfig(folder, url, 'extensions: { audit: { key: { file: shared.pem } } }');
      }
      await recordAndKill(folder, homes);
      await recordAndKill(folder, homes);
      for (const { code, stdout, stderr } of await onEach(folder, homes, 'verify')) {
        expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '' });
      }
      const client = await server.connect(new URL(url).pathname.slice(1));
      const key = createPassingKey();
      const { chain, startedAt, signature } = signHeader(key, 'ffffffff0123456789abcdef', 1);
      const insert =
        'INSERT INTO toolcrib_audit_chains (chain, public_key, started_at, signature) VALUES ($1, $2, $3, $4)';
      await client.query(insert, [chain, key.publicKey, startedAt, signature]);
      for (const { code, stdout } of await onEach(folder, homes, 'verify')) {
        expect(code).toBe(1);
        expect(stdout).toMatch(/^unknown_key {2}Chain ffffffff0123456789abcdef with its 0 rows/);
      }
      await client.query('DELETE FROM toolcrib_audit_chains WHERE chain = $1', [chain]);
      await client.query(
        `INSERT INTO toolcrib_audit SELECT 'added', 1, at, call_id, tool, caller, outcome, entry, hash FROM toolcrib_audit LIMIT 1`,
      );
      for (const { code, stdout } of await onEach(folder, homes.slice(0, 1), 'verify')) {
        expect(code).toBe(1);
        expect(stdout).toMatch(/^rows_without_key {2}1 rows of chain "added"/);
      }
      await client.end();
    },
    240_000,
  );

  it('do not verify each other if they neither list their keys nor share one', async () => {
    const { folder, homes } = await replicas();
    await recordAndKill(folder, homes);
    for (const { code, stdout } of await onEach(folder, homes, 'verify')) {
      expect(code).toBe(1);
      expect(stdout.match(/^unknown_key/gm)).toHaveLength(2);
    }
  });

  it('find a cut end where its checkpoint lies; elsewhere they report that they cannot check it', async () => {
    const url = await server.createStore();
    const folders = [recordFolder(), recordFolder()];
    const open = (folder: string) => createCrib({ configFile: folder, store: { url }, watch: false });
    const keys: string[] = [];
    for (const folder of folders) {
      const crib = await open(folder);
      keys.push(await crib.audit.key());
      await crib.close();
    }
    for (const folder of folders) configure(folder, `extensions: { audit: { trustedKeys: ${JSON.stringify(keys)} } }`);
    const work = async (folder: string) => {
      const crib = await open(folder);
      const chest = await crib.open();
      for (let index = 0; index < 120; index++) await chest.call('absent', { index });
      const report = await crib.audit.verify();
      await crib.close();
      return report;
    };
    const reports = await Promise.all(folders.map(work));
    expect(reports.flatMap(({ findings }) => findings)).toEqual([]);
    const client = await server.connect(new URL(url).pathname.slice(1));
    await client.query('DELETE FROM toolcrib_audit WHERE number > 15');
    await client.query('DELETE FROM toolcrib_audit_checkpoints');
    await client.end();
    for (const folder of folders) {
      const crib = await open(folder);
      const { findings, chains, notes } = await crib.audit.verify();
      expect(findings).toMatchObject([{ kind: 'older_copy', number: 16, to: 21 }]); // its own; of the other it cannot know
      expect(chains.map(({ state }) => state).toSorted()).toEqual(['closed', 'elsewhere']);
      expect(notes).toContainEqual(expect.stringContaining('can only be detected there'));
      await crib.close();
    }
  });

  it('a copied state directory never makes two processes write to one chain, and verify reports the missing one', async () => {
    const { folder, homes } = await replicas();
    const [home = '', copy = ''] = homes;
    await inHome(home, () => start(folder, 3)).ended;
    cpSync(home, copy, { recursive: true });
    const first = inHome(home, () => start(folder, 3, 'stay'));
    await first.said(1);
    const second = inHome(copy, () => start(folder, 3, 'stay'));
    await second.said(1);
    const [{ code, stdout } = { code: 0, stdout: '' }] = await onEach(folder, [home], 'verify');
    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n')).toEqual([expect.stringMatching(/^no_checkpoint/)]);
  });
});

/** Starts something with a state directory of its own. */
function inHome<T>(home: string, begin: () => T): T {
  const { XDG_STATE_HOME = '' } = process.env;
  try {
    process.env.XDG_STATE_HOME = home;
    return begin();
  } finally {
    process.env.XDG_STATE_HOME = XDG_STATE_HOME;
  }
}

/** Runs the real command. */
async function toolcribAudit(folder: string, word: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const config = join(folder, 'toolcrib.yaml');
  const ran = promisify(execFile)(process.execPath, [MAIN, 'audit', word, '--config', config]);
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

/** Waits until so many rows are sealed outside of the database. */
async function sealed(folder: string, rows: number): Promise<void> {
  for (;;) {
    const { chains } = await verify(folder);
    if (chains.some((chain) => chain.sealed >= rows)) return;
  }
}
