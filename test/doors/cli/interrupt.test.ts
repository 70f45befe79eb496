import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';

const OUTPUT = new URL('../../../src/doors/cli/output.ts', import.meta.url).href;

/** Runs steps in a process of their own; it ends by itself if no signal ends it. */
function ended(steps: string): Promise<{ readonly code: unknown; readonly said: string }> {
  const program = `
    import { cancelOnInterrupt, endOnInterrupt } from ${JSON.stringify(OUTPUT)};
    setTimeout(() => { console.log('lost'); process.exit(); }, 3000);
    endOnInterrupt();
    ${steps}`;
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', program], (error, stdout) => {
      resolve({ code: error === null ? 0 : error.code, said: stdout.trim() });
    });
  });
}

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
])('a %s that arrives while a command begins to wait for it is not lost, nor is a second one', async (signal, code) => {
  const send = `process.kill(process.pid, '${signal}');`;
  const wait = 'const { signal } = cancelOnInterrupt();';
  const first = await ended(`${send} ${wait} signal.onabort = () => { console.log('cancelled'); process.exit(); };`);
  expect(first).toEqual({ code: 0, said: 'cancelled' });
  const second = await ended(`${wait} ${send} signal.onabort = () => { console.log('cancelled'); ${send} };`);
  expect(second).toEqual({ code, said: 'cancelled' });
});
