import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keepCheckpoint, readHeld } from '../../src/audit/checkpoint-files.ts';

const KEPT = {
  chain: '0123456789abcdef',
  count: 1,
  hash: 'h',
  at: 1,
  signature: 's',
  store: 'sqlite:x',
  storeId: '1',
  stored: 0,
};

it('a checkpoint is written even if its folder does not exist yet or was removed', async () => {
  const state = mkdtempSync(join(tmpdir(), 'toolcrib-checkpoints-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true, maxRetries: 10 }));
  const folder = join(state, 'audit');
  await keepCheckpoint(folder, KEPT);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  rmSync(folder, { recursive: true });
  await keepCheckpoint(folder, { ...KEPT, count: 2 });
  expect(await readHeld(folder, KEPT.chain)).toMatchObject({ count: 2 });
  rmSync(folder, { recursive: true });
  writeFileSync(folder, ''); // what is there is no folder
  await expect(keepCheckpoint(folder, KEPT)).rejects.toThrow('ENOTDIR');
});
