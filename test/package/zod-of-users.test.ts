import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT, run } from './install-packed.ts';
import { installPacked } from './packed-once.ts';

const home = mkdtempSync(join(tmpdir(), 'toolcrib-zod-'));
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
beforeAll(() => void installPacked(home));

/** Code of a user who has installed these packages; the keys are the names in their project. */
async function runWith(packages: Readonly<Record<string, string>>, code: string): Promise<string> {
  const project = mkdtempSync(join(home, 'project-'));
  for (const [name, from] of Object.entries(packages)) {
    cpSync(join(ROOT, 'node_modules', from), join(project, 'node_modules', name), { recursive: true });
  }
  writeFileSync(join(project, 'main.mjs'), code);
  return (await run(process.execPath, ['main.mjs'], { cwd: project })).stdout.trim();
}

const code = (zod: string) => `
  import * as z from '${zod}';
  import { defineTool } from 'toolcrib';
  try {
    const { input } = defineTool({ name: 't', description: '', input: z.object({ a: z.string() }), run: () => 1 });
    console.log(JSON.stringify(input));
  } catch ({ code, message }) {
    console.log(code + ': ' + message);
  }
`;
const SHOWN = '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}';

describe("the packed package converts schemas of the user's own zod", () => {
  it.each([
    ['zod 4.1', { zod: 'zod41' }, 'zod'],
    ['zod 4.0', { zod: 'zod40' }, 'zod'],
    ['zod/mini', { zod: 'zod' }, 'zod/mini'],
    ['zod 3 with the converter', { zod: 'zod3', 'zod-to-json-schema': 'zod-to-json-schema' }, 'zod'],
  ])('%s', async (_, packages, name) => {
    expect(await runWith(packages, code(name))).toBe(SHOWN);
  });

  it('zod 3 without a converter gets an error with the package to install', async () => {
    expect(await runWith({ zod: 'zod3' }, code('zod'))).toBe(
      'invalid_schema: The input schema (zod) cannot be converted to JSON Schema. It is a zod 3 schema, which needs a converter. Install zod-to-json-schema@^3.25 beside zod@^3.25.28; or install zod@^4.2, or give a JSON Schema.',
    );
  });

  it('a zod that is hidden in a bundle gets an error with the package to install', async () => {
    const folder = join(home, 'bundled');
    mkdirSync(folder);
    const options: BuildOptions = { bundle: true, format: 'esm', platform: 'node', external: ['toolcrib'] };
    const stdin = { contents: code('zod40'), resolveDir: ROOT };
    await build({ ...options, stdin, outfile: join(folder, 'main.mjs') });
    const { stdout } = await run(process.execPath, ['main.mjs'], { cwd: folder });
    expect(stdout).toContain(
      'It is a zod 4.0.17 schema, but that package was not found (it may be bundled). Install zod@^4.2',
    );
  });
});
