import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Crib, CribOptions } from '../../../src/index.ts';
import { cribOf, folderWith } from '../../crib/workshop.ts';

const ASK = 'import sys; print(sys.executable); sys.exit(sys.version_info < (3, 9))';
/** Another one than the usual may be named, to try other versions. */
const { TOOLCRIB_TEST_PYTHON = 'python3' } = process.env;
const asked = spawnSync(TOOLCRIB_TEST_PYTHON, ['-c', ASK], { encoding: 'utf8' });

/** What the tests of Python run on; without it they are skipped by name. */
export const hasPython = asked.status === 0;
/** The interpreter itself: what stands before it in the PATH may be a slow script. */
export const PYTHON = (asked.stdout ?? '').trim();

/** A crib with one tool for each function, named like it, of a Python file, and the folder that it lies in. */
export async function cribOfPython(
  code: string,
  functions: readonly string[],
  {
    config = `executors: { python: { interpreter: "${PYTHON}" } }`,
    ...options
  }: Omit<CribOptions, 'config'> & { readonly config?: string } = {},
): Promise<{ readonly crib: Crib; readonly folder: string }> {
  const tools = functions.map((name) => ({
    name: name.replace('.', '_'),
    description: name,
    input: { type: 'object' },
    run: { kind: 'python', module: 'tools', function: name },
  }));
  const folder = folderWith({
    'toolcrib.yaml': `sources: { local: { files: ./specs.json } }\n${config}`,
    'specs.json': JSON.stringify({ tools }),
    'tools.py': code,
  });
  return { crib: await cribOf(folder, options), folder };
}

/** Writes the file of the tools anew. */
export function rewrite(folder: string, code: string, file = 'tools.py'): void {
  writeFileSync(join(folder, file), code);
}
