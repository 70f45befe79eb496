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
