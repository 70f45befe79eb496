// The command line as one file instead of a few hundred: finding and reading modules is most of what starting it takes.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { bundlePackages, fromPackages } from './bundle-packages.ts';
import { thirdPartyNotices } from './third-party-notices.ts';
import { toAscii } from './to-ascii.ts';

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
  // These are loaded where used, and seldom: they stay packages, or files of their own.
  external: dependencies,
  plugins: [fromPackages],
  // What modules have and CommonJS does not.
  define: { 'import.meta.url': '__moduleUrl', 'import.meta.dirname': '__dirname' },
  banner: { js: "'use strict'; const __moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
});

const code = toAscii(join(root, 'dist/cli/run-cli.cjs'));
const version = createHash('sha256').update(code).digest('hex').slice(0, 16);
const entry = await build({
  ...usual,
  entryPoints: ['src/doors/cli/main.ts'],
  format: 'esm',
  define: { BUNDLED_CODE: JSON.stringify(version) },
});

const inputs = [commands.metafile, entry.metafile, await bundlePackages()].flatMap((metafile) =>
  Object.keys(metafile?.inputs ?? {}),
);
writeFileSync(
  join(root, 'dist/THIRD-PARTY-NOTICES.txt'),
  thirdPartyNotices(
    inputs.map((path) => join(root, path)),
    'dist',
  ),
);
