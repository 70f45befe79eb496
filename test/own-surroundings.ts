import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, vi } from 'vitest';

// Files share a process: what one of them changes in it does not reach the next.
const before = { ...process.env };
const timer = globalThis.setTimeout;
afterAll(() => {
  vi.restoreAllMocks(); // first: what is spied on may be a fake timer
  vi.useRealTimers();
  vi.unstubAllGlobals();
  const isReal = globalThis.setTimeout === timer;
  globalThis.setTimeout = timer;
  if (!isReal)
    throw new Error('This file left a fake setTimeout: end spies and stubs of it before vi.useRealTimers().');
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

// Each test file has a state directory of its own, and so have the processes that it starts: none writes into the home of the person who runs the tests.
const folder = mkdtempSync(join(tmpdir(), 'toolcrib-state-'));
process.env.XDG_STATE_HOME = folder;
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

// What was compiled of the sources is kept between processes, which halves the time that one takes to start.
process.env.NODE_COMPILE_CACHE = join(import.meta.dirname, '../node_modules/.cache/toolcrib-cli');

// A wait that names no limit would give up after a second, which a busy machine may take for anything.
const { waitFor, waitUntil } = vi;
const WAIT_MS = 20_000;
if (waitFor.name !== 'waitForLong') {
  vi.waitFor = function waitForLong(callback, options) {
    return waitFor(callback, typeof options === 'number' ? options : { timeout: WAIT_MS, ...options });
  };
  vi.waitUntil = function waitUntilLong(callback, options) {
    return waitUntil(callback, typeof options === 'number' ? options : { timeout: WAIT_MS, ...options });
  };
}
