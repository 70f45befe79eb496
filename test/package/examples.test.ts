import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
/** Inside the repository, so that `toolcrib` is the built package, as for a user. */
const scratch = mkdtempSync(join(ROOT, 'examples/.scratch-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 10 }));

describe('examples in the documentation', () => {
  it.each(globSync('examples/*.ts', { cwd: ROOT }))('%s runs and its assertions hold', async (example) => {
    await expect(run(process.execPath, [example], { cwd: ROOT })).resolves.toBeDefined();
  });

  it.each(globSync('docs/*.md', { cwd: ROOT }))('every TypeScript block of %s that imports runs', async (page) => {
    const blocks = [...readFileSync(join(ROOT, page), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].flatMap(
      (match) => match[1] ?? [],
    );
    for (const [index, code] of blocks.filter((block) => block.includes("from 'toolcrib'")).entries()) {
      const file = join(scratch, `${page.replaceAll('/', '-')}-${index}.ts`);
      writeFileSync(file, code);
      await run(process.execPath, [file], { cwd: ROOT });
    }
  });

  it('docs/architecture.md shows the order of the extensions as it is', async () => {
    const { EXTENSION_ORDER } = await import('../../src/index.ts');
    const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
    const rows = [...page.matchAll(/^\| (\d{3,4}) \| (\w+) \| (.*) \|$/gm)].map(([, priority, name, reason]) => ({
      priority: Number(priority),
      name,
      reason,
    }));
    expect(rows).toEqual(EXTENSION_ORDER.map(({ priority, name, reason }) => ({ priority, name, reason })));
  });

  it('the README has the round trips and tokens of a job that npm run bench:script prints', async () => {
    const print = 'const { benchJob } = await import("./bench/script-job.ts"); await benchJob();';
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', print], { cwd: ROOT });
    const figures = (way: string) => {
      const [, trips, tokens] = new RegExp(`^  ${way} +(\\d+) +(\\d+)`, 'm').exec(stdout) ?? [];
      return `${way} ${trips}, ${Number(tokens).toLocaleString('en')}`;
    };
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    for (const way of ['a script', 'search and call', 'direct calls']) expect(readme).toContain(figures(way));
  });
});
