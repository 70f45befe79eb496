// Packages of which only a part is used, as files of this package: installed whole, they are most of its size, and loading them takes longer.
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { toAscii } from './to-ascii.ts';

const root = join(import.meta.dirname, '..');
const FOLDER = 'dist/packages';

/** Modules of packages, and the files that contain them. `imports` of package.json maps `#packages/NAME` to these files. */
const FILES: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/client': 'mcp-client',
  '@modelcontextprotocol/server': 'mcp-server',
  '@modelcontextprotocol/server/stdio': 'mcp-server-stdio',
  'gpt-tokenizer/encoding/o200k_base': 'tokenizer',
};

/**
 * The SDK would bring an Ajv for each of its sides. Toolcrib gives it validators instead, because it validates elsewhere;
 * without one, the SDK would make the class below.
 */
const withoutAjv: Plugin = {
  name: 'without-ajv',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, () => ({
      path: 'shims',
      namespace: 'sdk',
    }));
    onLoad({ filter: /./, namespace: 'sdk' }, () => ({
      contents: `
        export { default as process } from 'node:process';
        export const CORS_IS_POSSIBLE = false;
        export class DefaultJsonSchemaValidator {
          constructor() { throw new Error('The bundled MCP SDK has no validator of its own.'); }
        }`,
    }));
  },
};

/** Bundles the packages: shared code lies in files of its own, so that every class exists once. */
export async function bundlePackages(): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.entries(FILES).map(([name, out]) => ({ in: name, out })),
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    minifySyntax: true,
    external: ['jose'],
    metafile: true,
    plugins: [withoutAjv],
  });
  for (const file of Object.keys(metafile.outputs)) toAscii(join(root, file));
  return metafile;
}

/** Makes the bundled library and command line load the files. */
export const fromPackages: Plugin = {
  name: 'packages',
  setup({ onResolve }) {
    onResolve({ filter: /^(@modelcontextprotocol|gpt-tokenizer)\// }, ({ path }) => {
      const file = FILES[path];
      if (file === undefined) throw new Error(`${path} is loaded: name it in ${import.meta.filename}`);
      return { path: `#packages/${file}`, external: true };
    });
  },
};
