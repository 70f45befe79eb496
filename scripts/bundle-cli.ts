// The command line as one file instead of a few hundred: finding and reading modules is most of what starting it takes.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly dependencies: object }; // our own
const dependencies = Object.keys(manifest.dependencies);

const usual: BuildOptions = {
  absWorkingDir: root,
  outdir: 'dist/cli',
  bundle: true,
  platform: 'node',
  target: 'node22.18',
  minifySyntax: true,
};

// What is imported where it is used is in the file, too, and sleeps there until then, with whatever of Node it needs.
await build({
  ...usual,
  // Threads and programs are found beside the code that starts them, so they are entries of their own.
  entryPoints: [
    'src/doors/cli/run-cli.ts',
    'src/store/sqlite-writer-thread.ts',
    'src/runtime/modules/module-probe-thread.ts',
    'src/runtime/processes/child-supervisor.ts',
  ],
  entryNames: '[name]',
  format: 'cjs', // a script can be given the code that V8 made of it, a module cannot: see load-bundle.ts
  outExtension: { '.js': '.cjs' },
  // The same code as ES modules, of which only what is used is kept.
  alias: { yaml: join(root, 'node_modules/yaml/browser/dist/index.js') },
  // The others are loaded where used, and seldom: they stay packages.
  external: dependencies.filter((name) => name !== 'yaml'),
  // What modules have and CommonJS does not.
  define: { 'import.meta.url': '__moduleUrl', 'import.meta.dirname': '__dirname' },
  banner: { js: "'use strict'; const __moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
});

const code = readFileSync(join(root, 'dist/cli/run-cli.cjs'));
const version = createHash('sha256').update(code).digest('hex').slice(0, 16);
await build({
  ...usual,
  entryPoints: ['src/doors/cli/main.ts'],
  format: 'esm',
  define: { BUNDLED_CODE: JSON.stringify(version) },
});
