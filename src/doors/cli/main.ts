#!/usr/bin/env node
/** Which code lies beside the built command; sources have none. */
declare const BUNDLED_CODE: string | undefined;

// Nothing is imported before the version is known: an old Node would stumble over the first file.
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
// What was written to a pipe must have left before the end; a tool that left a timer behind must not hold it up.
await new Promise((resolve) => process.stdout.write('', resolve));
// Two turns of the event loop: only then a Ctrl-C of the last moment is surely heard.
await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
process.exit(code);
