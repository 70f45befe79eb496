import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { execute, type Served, serve } from './served.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A disk of two megabytes; undefined where this user may not mount one. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-disk-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
}

function fill(file: string): void {
  for (const bytes of [65_536, 4096, 512, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes));
    } catch {
      // No more of these fits.
    }
  }
}

async function metric({ ask, token }: Served, name: string): Promise<number> {
  const { text } = await ask('/metrics', { token });
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

const ready = async ({ ask }: Served) => {
  const { status, json } = await ask('/readyz');
  return status === 200 ? 'ready' : json.error.message;
};

describe('readyz', () => {
  it('says that the store cannot be written while its disk is full, and the backlog is counted', async ({ skip }) => {
    const disk = smallDisk();
    if (disk === undefined) return skip('only root may mount a small disk');
    const served = await serve({ url: `sqlite:${join(disk, 'crib.db')}` });
    await execute(served.ask, 'add', { a: 1, b: 2 });
    expect(await ready(served)).toBe('ready');
    await expect.poll(() => metric(served, 'toolcrib_audit_waiting_rows')).toBe(0);
    const filler = join(disk, 'filler');
    fill(filler);
    await vi.waitUntil(async () => (await ready(served)) !== 'ready', { timeout: 30_000, interval: 100 });
    expect(await ready(served)).toBe('The store is not writable.');
    for (let call = 0; call < 3; call++) expect((await execute(served.ask, 'add', { a: 1, b: 2 })).status).toBe(200);
    expect(await metric(served, 'toolcrib_audit_waiting_rows')).toBe(3);
    expect(await metric(served, 'toolcrib_audit_waiting_seconds')).toBeGreaterThan(0);
    rmSync(filler);
    const soon = { timeout: 30_000, interval: 100 };
    await expect.poll(() => ready(served), soon).toBe('ready');
    await expect.poll(() => metric(served, 'toolcrib_audit_waiting_rows'), soon).toBe(0);
    expect(await served.crib.audit.verify()).toMatchObject({ ok: true, rows: 4 });
  });

  it('says how long rows of the audit have been waiting, although everything else can be written', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'toolcrib-ready-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
    const file = join(folder, 'crib.db');
    const served = await serve({ url: `sqlite:${file}` });
    await execute(served.ask, 'add', { a: 1, b: 2 });
    await expect.poll(() => metric(served, 'toolcrib_audit_waiting_rows')).toBe(0);
    const database = new DatabaseSync(file);
    onTestFinished(() => database.close());
    database.exec('ALTER TABLE toolcrib_audit RENAME TO away');
    vi.useFakeTimers({ toFake: ['performance'] });
    await execute(served.ask, 'add', { a: 1, b: 2 });
    expect(await ready(served)).toBe('ready');
    vi.advanceTimersByTime(12_000);
    expect(await ready(served)).toBe('Audit rows have been waiting to be written for 12 s.');
    expect(await metric(served, 'toolcrib_audit_waiting_seconds')).toBe(12);
    database.exec('ALTER TABLE away RENAME TO toolcrib_audit');
    await expect.poll(() => ready(served), { timeout: 30_000, interval: 100 }).toBe('ready');
    expect(await metric(served, 'toolcrib_audit_waiting_seconds')).toBe(0);
  });

  it('writes to the store at most once per second, however often it is requested', async () => {
    const served = await serve();
    const { store } = served.crib;
    const written = vi.spyOn(store ?? { requireWritable: async () => {} }, 'requireWritable');
    const asked = await Promise.all(Array.from({ length: 50 }, () => ready(served)));
    expect(new Set(asked)).toEqual(new Set(['ready']));
    expect(written).toHaveBeenCalledOnce();
  });
});
