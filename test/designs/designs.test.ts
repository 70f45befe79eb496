import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { adapt, readDesigns, squeeze } from './adapt.ts';

const run = promisify(execFile);
const SOURCES = pathToFileURL(join(import.meta.dirname, '../../src')).href;

/** Runs a program of the page from the sources, in an empty folder. */
async function runProgram(code: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'toolcrib-design-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const file = join(folder, 'program.mts');
  const local = code
    .replaceAll("from 'toolcrib'", `from '${SOURCES}/index.ts'`)
    .replaceAll(/from 'toolcrib\/formats\/([\w-]+)'/g, `from '${SOURCES}/formats/$1.ts'`);
  writeFileSync(file, local);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
  await run(process.execPath, [file], { cwd: folder, env });
}

describe('docs/migrate.md', () => {
  const designs = readDesigns();

  it('has the five designs, each with names and both programs', () => {
    expect(designs).toHaveLength(5);
    for (const { names, before, after } of designs) {
      expect(names.length).toBeGreaterThan(5);
      expect(before).not.toBe('');
      expect(after).toContain("from 'toolcrib'");
    }
  });

  describe.each(designs)('$title', (design) => {
    it('their program with our names is the program in the docs', () => {
      let rest = squeeze(design.after);
      for (const statement of adapt(design)) {
        const squeezed = squeeze(statement);
        expect(rest, `the program has no "${statement}" here`).toContain(squeezed);
        rest = rest.slice(rest.indexOf(squeezed) + squeezed.length);
      }
    });

    it('and that program runs', async () => {
      await runProgram(design.after);
    });
  });
});

describe('the names of a design', () => {
  it('are replaced by our names, the longest first', () => {
    const names = [
      ['add(TOOL, to=NAME)', 'put(NAME, TOOL)'],
      ['add(TOOL)', 'put(TOOL)'],
    ] as const;
    expect(adapt({ names, before: 'x = add(a, to="b")\nadd(c)\n' })).toEqual(['const x = put("b", a);', 'put(c);']);
  });
});
