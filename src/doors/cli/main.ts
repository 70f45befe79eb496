#!/usr/bin/env node
/** The version of the bundle beside the built command; undefined when the sources run. */
declare const BUNDLED_CODE: string | undefined;

// Checks the version of Node before any other import: an old Node cannot parse the sources.
try {
  await import('../../system/require-node.ts');
} catch (cause) {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
  process.exit(2);
}
const args = process.argv.slice(2);
const { runCli } =
  typeof BUNDLED_CODE === 'undefined'
    ? await import('./run-cli.ts')
    : (await import('./load-bundle.ts')).loadBundle(BUNDLED_CODE, args);
const code = await runCli(args);
// Flush stdout before the exit; a timer that a tool left behind must not delay it.
await new Promise((resolve) => process.stdout.write('', resolve));
// Two turns of the event loop, so that a late Ctrl-C is still handled.
await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
process.exit(code);
