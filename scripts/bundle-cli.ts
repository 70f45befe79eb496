// The command line as one file instead of a few hundred: finding and reading modules is most of what starting it takes.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { thirdPartyNotices } from './third-party-notices.ts';

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
  metafile: true,
};

// What is imported where it is used is in the file, too, and sleeps there until then, with whatever of Node it needs.
const commands = await build({
  ...usual,
  // What is loaded at first use, and threads and programs, are found beside the code that starts them: entries of their own.
  entryPoints: [
    'src/doors/cli/run-cli.ts',
    'src/schemas/ajv-classes.ts',
    'src/store/engines/sqlite-writer-thread.ts',
    'src/store/engines/sqlite-scan-thread.ts',
    'src/kinds/script/script-thread.ts',
    'src/system/modules/module-probe-thread.ts',
    'src/system/processes/child-supervisor.ts',
  ],
  entryNames: '[name]',
  format: 'cjs', // a script can be given the code that V8 made of it, a module cannot: see load-bundle.ts
  outExtension: { '.js': '.cjs' },
  // The same code as ES modules, of which only what is used is kept.
  alias: { yaml: join(root, 'node_modules/yaml/browser/dist/index.js') },
  // The others are loaded where used, and seldom: they stay packages.
  external: dependencies.filter((name) => !['ajv', 'ajv-formats', 'yaml'].includes(name)),
  // What modules have and CommonJS does not.
  define: { 'import.meta.url': '__moduleUrl', 'import.meta.dirname': '__dirname' },
  banner: { js: "'use strict'; const __moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
});

// One letter that is not ASCII would double the memory of the whole text. esbuild leaves those of regular expressions.
const file = join(root, 'dist/cli/run-cli.cjs');
const code = readFileSync(file, 'utf8').replaceAll(
  /[^\0-\x7f]/g,
  (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
);
writeFileSync(file, code);

const version = createHash('sha256').update(code).digest('hex').slice(0, 16);
const entry = await build({
  ...usual,
  entryPoints: ['src/doors/cli/main.ts'],
  format: 'esm',
  define: { BUNDLED_CODE: JSON.stringify(version) },
});

const inputs = [commands.metafile, entry.metafile].flatMap((metafile) => Object.keys(metafile?.inputs ?? {}));
writeFileSync(
  join(root, 'dist/THIRD-PARTY-NOTICES.txt'),
  thirdPartyNotices(
    inputs.map((path) => join(root, path)),
    'dist/cli',
  ),
);
