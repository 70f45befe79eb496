// The command line as a few files instead of a few hundred: reading modules is most of what starting it takes.
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');

await build({
  absWorkingDir: root,
  // Threads are found beside the code that starts them, so they are entries of their own.
  entryPoints: [
    'src/doors/cli/main.ts',
    'src/store/sqlite-writer-thread.ts',
    'src/runtime/modules/module-probe-thread.ts',
  ],
  entryNames: '[name]',
  outdir: 'dist/cli',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.18',
  minifySyntax: true,
  // The same code as ES modules, of which only what is used is kept.
  alias: { yaml: join(root, 'node_modules/yaml/browser/dist/index.js') },
  // Loaded where used, and seldom: they stay packages.
  external: ['ajv', 'ajv-formats', 're2js', 'pg', 'gpt-tokenizer', '@clack/prompts'],
  // What is bundled as CommonJS asks for Node's own modules by require.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
});
