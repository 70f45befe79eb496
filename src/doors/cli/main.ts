#!/usr/bin/env node
// Nothing is imported before the version is known: an old Node would stumble over the first file.
const { requireNode } = await import('../../crib/require-node.ts');
try {
  requireNode(process.versions.node);
} catch (cause) {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
  process.exit(2);
}
// What was compiled once need not be compiled at every start.
const { enableCompileCache } = await import('node:module');
enableCompileCache?.();
const { runCli } = await import('./run-cli.ts');
const code = await runCli(process.argv.slice(2));
// What was written to a pipe must have left before the end; a tool that left a timer behind must not hold it up.
await new Promise((resolve) => process.stdout.write('', resolve));
process.exit(code);
