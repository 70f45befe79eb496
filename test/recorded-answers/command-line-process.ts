// Runs command lines one after the other in one process: starting a process for each of a hundred takes most of the time.
import { runCli } from '../../src/doors/cli/run-cli.ts';

/** What one command line wrote. */
const written = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (chunk: string | Uint8Array, ...rest: readonly unknown[]) => {
    written[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const done = rest.find((one) => typeof one === 'function');
    if (done !== undefined) done();
    return true;
  };
}

process.on('message', async (args: readonly string[]) => {
  Object.assign(written, { stdout: '', stderr: '' });
  process.setMaxListeners(0); // each command line listens for the end of the process
  const code = await runCli(args);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve))); // warnings come a turn later
  process.send?.({ code, ...written });
});
