// The exports of the package as a few files instead of hundreds: finding and reading modules is most of what importing them takes.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { fromPackages } from './bundle-packages.ts';
import { toAscii } from './to-ascii.ts';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: object;
  readonly peerDependencies: object;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}; // our own

/** What the package exports, without folder and ending: `formats/openai`. */
const entries = Object.values(manifest.exports).flatMap((target) =>
  typeof target === 'string' ? [] : [relative('dist', target.default).replace(/\.js$/, '')],
);
/** What is found beside the code that loads or starts it. */
const BESIDE = [
  'schemas/ajv-classes',
  'kinds/script/script-thread',
  'store/engines/sqlite-writer-thread',
  'store/engines/sqlite-scan-thread',
  'system/modules/module-probe-thread',
  'system/processes/child-supervisor',
];
/** What every crib in code loads: one file, although each part is imported where it is used. */
const EXECUTORS = [
  'src/crib/configured/configured-executors.ts',
  'src/kinds/http/http-executor.ts',
  'src/kinds/mcp/mcp-executor.ts',
  'src/kinds/mcp/mcp-servers.ts',
  'src/kinds/python/described-source.ts',
  'src/kinds/python/python-executor.ts',
  'src/kinds/script/script-executor.ts',
  'src/kinds/shell/shell-executor.ts',
];
const LIBRARY = 'src/index.ts';

const usual = {
  absWorkingDir: root,
  // One folder deep, as the sources are: code that asks for its own folder finds the others above it.
  outdir: 'dist/lib',
  bundle: true,
  splitting: true, // shared code lies in files of its own, so that every class exists once
  format: 'esm',
  platform: 'node',
  target: 'node22.18',
  minifySyntax: true,
  metafile: true,
  ignoreAnnotations: true, // the check of the version of Node is a side effect
  alias: { yaml: join(root, 'node_modules/yaml/browser/dist/index.js') },
  // The others are in the files: of each only what is used is kept. Their licences are in the notices of the command line, which has them, too.
  external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
} as const satisfies BuildOptions;
const entryPoints = entries.map((name) => ({ in: `src/${name}.ts`, out: name }));

const { metafile } = await build({ ...usual, entryPoints, plugins: [fromPackages], write: false });
await build({ ...usual, entryPoints, plugins: [fromPackages, joined(metafile)] });
await build({
  ...usual,
  entryPoints: BESIDE.map((name) => ({ in: `src/${name}.ts`, out: name.replace(/^.*\//, '') })),
  splitting: false,
  plugins: [fromPackages],
});

/**
 * The bundler makes a file for every set of places that need the same code. Code that is loaded later comes after the
 * library in any case, so it says that it needs all of it: then the library is one set, not fifty.
 */
function joined({ inputs }: Metafile): Plugin {
  const ofLibrary = new Set<string>();
  const visit = (path: string): void => {
    if (ofLibrary.has(path)) return;
    ofLibrary.add(path);
    for (const { kind, path: imported, external } of inputs[path]?.imports ?? [])
      if (kind === 'import-statement' && external !== true) visit(imported);
  };
  visit(LIBRARY);
  const later = new Set(
    Object.values(inputs).flatMap(({ imports }) =>
      imports.filter(({ kind, external }) => kind === 'dynamic-import' && external !== true).map(({ path }) => path),
    ),
  );
  return {
    name: 'joined',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
        const file = nameOf(join(resolveDir, path));
        return kind === 'dynamic-import' && EXECUTORS.includes(file)
          ? { path: 'executors', namespace: 'joined' }
          : undefined;
      });
      onLoad({ filter: /./, namespace: 'joined' }, () => {
        const contents = [`import './${LIBRARY}';`, ...EXECUTORS.map((file) => `export * from './${file}';`)].join(
          '\n',
        );
        return { contents, loader: 'ts', resolveDir: root };
      });
      onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) => {
        const file = nameOf(path);
        if (!later.has(file) || ofLibrary.has(file) || EXECUTORS.includes(file)) return undefined;
        const imports = [LIBRARY, ...EXECUTORS]
          .map((other) => `import ${JSON.stringify(join(root, other))};`)
          .join(' ');
        return { contents: `${imports} ${readFileSync(path, 'utf8')}`, loader: 'ts' };
      });
    },
  };
}

function nameOf(path: string): string {
  return relative(root, path).replaceAll('\\', '/');
}

for (const name of entries) {
  const file = join(root, 'dist', `${name}.js`);
  mkdirSync(dirname(file), { recursive: true });
  const bundled = relative(dirname(file), join(root, 'dist/lib', `${name}.js`)).replaceAll('\\', '/');
  writeFileSync(file, `export * from '${bundled.startsWith('.') ? bundled : `./${bundled}`}';\n`);
}
for (const file of globSync('dist/lib/**/*.js', { cwd: root })) toAscii(join(root, file));
