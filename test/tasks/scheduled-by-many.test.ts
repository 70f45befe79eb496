import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { startProcess } from '../store/start-process.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';

const SCRIPT = new URL('./processes/run-schedules.ts', import.meta.url);

it('three processes call each of ten schedules for the same time once', async () => {
  const folder = temporaryFolder();
  const [store, file] = [`sqlite:${join(folder, 'crib.db')}`, join(folder, 'calls')];
  writeFileSync(file, '');
  const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
  const at = Date.now() + 3000; // a process that starts later finds the time at most a minute old
  const crib = await createCrib({ store });
  for (const name of names) await crib.schedules.add({ name, tool: 'note', at }, 'ann');
  await crib.close();
  const processes = [1, 2, 3].map(() => startProcess(SCRIPT, [store, file]));
  await Promise.all(processes.map(({ said }) => said(1)));
  const calls = () => readFileSync(file, 'utf8').split('\n').filter(Boolean).toSorted();
  await vi.waitFor(() => expect(calls().length).toBeGreaterThanOrEqual(names.length), { timeout: 30_000 });
  for (const { child } of processes) child.stdin?.end();
  await Promise.all(processes.map(({ ended }) => ended));
  expect(calls()).toEqual(names.map((name) => `schedule:${name}`));
});
