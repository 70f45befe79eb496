import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { missingPackage, sharedPostgres } from '../store/postgres-server.ts';
import { startProcess } from '../store/start-process.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const SERVER = new URL('./processes/bench-server.mjs', import.meta.url);
const WORKER = new URL('./processes/run-worker.ts', import.meta.url);
const missing = missingPackage();
const title = missing === undefined ? 'PostgreSQL' : `PostgreSQL (skipped: ${missing} is not installed)`;

describe.skipIf(missing !== undefined)(`a source with runOn: worker on ${title}`, () => {
  const server = sharedPostgres();

  it('is listed and called through a worker in code', async () => {
    const folder = temporaryFolder();
    const child = { command: process.execPath, args: [SERVER.pathname], cwd: folder };
    const bench = { mcp: child, prefix: '', trust: true, runOn: 'worker' };
    const write = (entry: object) =>
      writeFileSync(join(folder, 'toolcrib.yaml'), JSON.stringify({ store: { url }, sources: { bench: entry } }));
    const url = await server.createStore();
    write(bench);
    const crib = await createCrib({ configFile: folder, watch: false });
    onTestFinished(() => crib.close());
    const chest = await crib.open(undefined, { id: 'ann' });
    expect(chest.list()).toEqual([]);
    expect(existsSync(join(folder, 'started'))).toBe(false);

    const worker = startProcess(WORKER, [folder]);
    await worker.said(1);
    await vi.waitUntil(() => chest.list().length === 3, { timeout: 30_000, interval: 20 });
    expect(await chest.call('echo', { text: 'hi' })).toMatchObject({
      content: [{ text: expect.stringMatching(/^echo hi/) }],
    });
    const starts = readFileSync(join(folder, 'started'), 'utf8').split('\n').filter(Boolean);
    expect(starts).toHaveLength(1);
    worker.child.stdin?.end();
    await worker.ended;
    expect(await chest.call('echo', {}, { timeoutMs: 200 })).toMatchObject({ error: { code: 'unavailable' } });
  });
});
