import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEAVES, type Leaf } from './leaves.ts';
import type { Report } from './try-leaves.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A row of "Where to add" in AGENTS.md. */
interface Row {
  readonly what: string;
  /** Files that are new. */
  readonly files: readonly string[];
  /** Files that get lines. */
  readonly lines: readonly string[];
  readonly isGenerated: boolean;
}

const AGENTS = readFileSync(join(ROOT, 'AGENTS.md'), 'utf8');

const rows: readonly Row[] = AGENTS.replace(/^[\s\S]*\n## Where to add\n/, '')
  .split('\n')
  .filter((line) => line.startsWith('| a'))
  .map((line) => {
    const [what = '', files = '', lines = '', then = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return { what, files: pathsIn(files), lines: pathsIn(lines), isGenerated: then.includes('`npm run schema`') };
  });

function pathsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([\w/.-]+\.(?:ts|json))`/g)].map(([, path = '']) => path);
}

function rowOf({ row }: Leaf): Row | undefined {
  return rows.find(({ what }) => what.startsWith(row));
}

/** What each leaf does once it has been added. */
const WORKS: Readonly<Record<string, unknown>> = {
  curfew: [true, '"add" sleeps.'],
  echo: 'haha',
  haiku: ['add: adds'],
  numerals: ['numeral_1', 'numeral_2'],
  greetings: 'good morning',
  motto: { motto: 'one leaf, one file' },
  salute: [0, 'salute, crew\n'],
  leastMs: '"stuck" did not finish within 20 ms.',
  maxParts: ['The policy of tool "few": maxParts must be a number of at least 1, got 0.', 'Too many parts.'],
  watchword: 'oak',
};

/** A copy of what the package is made of. */
function createScratch(): string {
  const scratch = mkdtempSync(join(tmpdir(), 'toolcrib-leaves-'));
  for (const part of [
    'src',
    'schema',
    'docs',
    'scripts/emit-docs.ts',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ])
    cpSync(join(ROOT, part), join(scratch, part), { recursive: true });
  for (const part of ['node_modules', 'models']) symlinkSync(join(ROOT, part), join(scratch, part));
  return scratch;
}

function write(scratch: string, file: string, text: string): void {
  mkdirSync(dirname(join(scratch, file)), { recursive: true });
  writeFileSync(join(scratch, file), text);
}

function addLines(scratch: string, { lines }: Leaf): void {
  for (const { file, after, text } of lines) {
    const before = readFileSync(join(scratch, file), 'utf8');
    const places = [...before.matchAll(new RegExp(after, `${after.flags}g`))];
    if (places.length !== 1) throw new Error(`${file} has ${places.length} places like ${after}.`);
    write(
      scratch,
      file,
      before.replace(after, (place) => `${place}${text}`),
    );
  }
}

function tryLeaves(scratch: string): Report {
  execFileSync(process.execPath, [join(import.meta.dirname, 'try-leaves.ts'), scratch], {
    stdio: 'pipe',
    cwd: scratch,
  });
  return JSON.parse(readFileSync(join(scratch, 'report.json'), 'utf8'));
}

describe('where AGENTS.md says that a leaf is added', () => {
  const scratch = createScratch();
  let before: Report;
  let after: Report;

  beforeAll(() => {
    for (const { files } of LEAVES) for (const [file, text] of Object.entries(files)) write(scratch, file, text);
    before = tryLeaves(scratch);
    for (const leaf of LEAVES) addLines(scratch, leaf);
    after = tryLeaves(scratch);
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 10 }));

  it('every row has a leaf here', () => {
    expect(rows.map(({ what }) => LEAVES.filter(({ row }) => what.startsWith(row)).length)).toEqual(rows.map(() => 1));
    expect(LEAVES.filter((leaf) => rowOf(leaf) === undefined)).toEqual([]);
  });

  it.each(LEAVES)('$row is the files that its row names', (leaf) => {
    const named = (paths: readonly string[] = []) => paths.map((path) => path.replaceAll('NAME', leaf.name)).toSorted();
    const touched = [...new Set(leaf.lines.map(({ file }) => file))].toSorted();
    expect(named(rowOf(leaf)?.files)).toEqual(Object.keys(leaf.files));
    expect(named(rowOf(leaf)?.lines)).toEqual(touched);
  });

  it.each(LEAVES)('$row works with these files, and not without the lines', ({ name }) => {
    expect(after.did[name]).toEqual(WORKS[name]);
    expect(before.did[name]).not.toEqual(WORKS[name]);
  });

  it.each(LEAVES)('$row has `npm run schema` in its row if something is generated from it', (leaf) => {
    expect(rowOf(leaf)?.isGenerated).toBe(new RegExp(`\\b${leaf.name}\\b`).test(after.generated));
  });

  it('and the types agree', () => {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '--noEmit', '-p', 'tsconfig.build.json'], {
      cwd: scratch,
    });
    expect(String(stdout)).toBe('');
  });
});

describe('the names in AGENTS.md', () => {
  const foldersOf = (path: string) =>
    readdirSync(join(ROOT, path), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  const rooms = foldersOf('src');

  it('its map has every room of src, and no other', () => {
    const mapped = [...AGENTS.matchAll(/^src\/(\w+)\/ /gm)].map(([, room]) => room);
    expect(mapped.toSorted()).toEqual(rooms);
  });

  it('its map has every folder of tests that is not of a room', () => {
    const others = foldersOf('test').filter((folder) => !rooms.includes(folder));
    expect(others.filter((folder) => !AGENTS.includes(`test/${folder}`))).toEqual([]);
  });

  it('every file and folder is there', () => {
    const paths = [...AGENTS.matchAll(/\b(?:src|test|docs|scripts|examples)\/[\w./-]*\w/g)].map(([path]) => path);
    const fixed = paths.filter((path) => !/[A-Z]{2}/.test(path)); // not NAME, ROOM
    expect(fixed.filter((path) => globSync(`${path}*`, { cwd: ROOT }).length === 0)).toEqual([]);
  });

  it('every script is there', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const named = [...AGENTS.matchAll(/npm run (?:-s )?([\w:]*\w)/g)].map(([, script = '']) => script);
    expect(named.filter((script) => !Object.hasOwn(scripts, script))).toEqual([]);
  });
});
