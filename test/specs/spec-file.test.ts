import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPieces, readWhole } from '../../src/specs/file-reading.ts';
import { readSpecFile, type SpecFile } from '../../src/specs/spec-folders.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolcrib-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, content: string) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const textOf = (...names: readonly string[]) =>
  names.map((name) => `- { name: ${name}, run: { kind: http } }\n`).join('');
const namesOf = (file: SpecFile) => file.specs.map((spec) => spec.name);
const changed = { source: 'local', read: 'changed' } as const;

describe('a file that looks unchanged', () => {
  it('is not read again', async () => {
    const path = write('a.yaml', textOf('one'));
    const found = { path, stamp: 'same', changedAt: Date.now() - 60_000, bytes: 0 };
    const before = await readSpecFile(found, undefined, changed);
    write('a.yaml', textOf('two'));
    expect(await readSpecFile(found, before, changed)).toBe(before);
  });

  it('is read again if it had changed just before it was read, because times are coarse', async () => {
    const path = write('a.yaml', textOf('one'));
    const found = { path, stamp: 'same', changedAt: Date.now(), bytes: 0 };
    const before = await readSpecFile(found, undefined, changed);
    write('a.yaml', textOf('two'));
    expect(namesOf(await readSpecFile(found, before, changed))).toEqual(['two']);
  });

  it('is read again if all files are', async () => {
    const path = write('a.yaml', textOf('one'));
    const found = { path, stamp: 'same', changedAt: 0, bytes: 0 };
    const before = await readSpecFile(found, undefined, changed);
    write('a.yaml', textOf('two'));
    expect(namesOf(await readSpecFile(found, before, { ...changed, read: 'all' }))).toEqual(['two']);
  });
});

describe('a file that was touched', () => {
  it('is not parsed again if its content is the same', async () => {
    const path = write('a.yaml', textOf('one'));
    const before = await readSpecFile({ path, stamp: 'one', changedAt: 0, bytes: 0 }, undefined, changed);
    const after = await readSpecFile({ path, stamp: 'two', changedAt: 0, bytes: 0 }, before, changed);
    expect(after.specs).toBe(before.specs);
    expect(after.found.stamp).toBe('two');
  });

  it('keeps the objects of entries that did not change', async () => {
    const path = write('a.yaml', textOf('one', 'two'));
    const before = await readSpecFile({ path, stamp: 'one', changedAt: 0, bytes: 0 }, undefined, changed);
    write('a.yaml', textOf('two', 'three'));
    const after = await readSpecFile({ path, stamp: 'two', changedAt: 0, bytes: 0 }, before, changed);
    expect(namesOf(after)).toEqual(['two', 'three']);
    expect(after.specs[0]).toBe(before.specs[1]);
  });

  it('that is restored is no longer broken', async () => {
    const path = write('a.yaml', textOf('one'));
    const first = await readSpecFile({ path, stamp: '1', changedAt: 0, bytes: 0 }, undefined, changed);
    write('a.yaml', 'tools: [');
    const broken = await readSpecFile({ path, stamp: '2', changedAt: 0, bytes: 0 }, first, changed);
    expect(broken.failure).toContain('it is not YAML');
    write('a.yaml', textOf('one'));
    const mended = await readSpecFile({ path, stamp: '3', changedAt: 0, bytes: 0 }, broken, changed);
    expect(mended.failure).toBeUndefined();
    expect(mended.specs[0]).toBe(first.specs[0]);
  });

  it('that is removed meanwhile keeps its specs', async () => {
    const path = write('a.yaml', textOf('one'));
    const before = await readSpecFile({ path, stamp: '1', changedAt: 0, bytes: 0 }, undefined, changed);
    rmSync(path);
    const after = await readSpecFile({ path, stamp: '2', changedAt: 0, bytes: 0 }, before, changed);
    expect([namesOf(after), after.failure]).toEqual([['one'], expect.stringContaining('does not exist')]);
  });
});

describe('an unreadable file', () => {
  it('is not opened if it is known to be too large', async () => {
    const path = write('a.yaml', '#'.repeat(3_000_000));
    let pieces = 0;
    const reading = await readPieces(path, 2_000_000, () => void pieces++);
    expect([reading, pieces]).toEqual([{ ok: false, reason: 'it is larger than 2000000 bytes' }, 0]);
  });

  it.runIf(process.platform === 'linux')('is given up when it turns out to be too large', async () => {
    expect(await readPieces('/proc/self/status', 10, () => {})).toMatchObject({ ok: false }); // which says it has 0 bytes
  });

  it.runIf(process.platform === 'linux')('that became a pipe is not awaited', async () => {
    const path = join(folder, 'pipe.yaml');
    execFileSync('mkfifo', [path]);
    const { failure } = await readSpecFile({ path, stamp: '', changedAt: 0, bytes: 0 }, undefined, changed);
    expect(failure).toContain('it is not a regular file');
  });
});

describe('a file that is read completely', () => {
  it('has the hash of its bytes', async () => {
    const path = write('a.ndjson', 'ä'.repeat(1_500_000));
    const reading = await readWhole(path, 5_000_000);
    const bytes = readFileSync(path);
    expect(reading).toMatchObject({ ok: true, hash: `sha256:${hash('sha256', bytes)}` });
    expect(reading.ok && reading.bytes.equals(bytes)).toBe(true);
  });

  it('is refused if it is too large, a folder, or missing', async () => {
    expect(await readWhole(write('a.ndjson', 'x'.repeat(11)), 10)).toEqual({
      ok: false,
      reason: 'it is larger than 10 bytes',
    });
    expect(await readWhole(folder, 10)).toEqual({ ok: false, reason: 'it is a folder' });
    expect(await readWhole(join(folder, 'nothing'), 10)).toMatchObject({
      reason: expect.stringContaining('does not exist'),
    });
  });

  it.runIf(process.platform === 'linux')('may be longer than its stated size, but not too long', async () => {
    const path = '/proc/self/limits'; // which says it has 0 bytes
    const reading = await readWhole(path, 100_000);
    expect(reading.ok && reading.bytes.equals(readFileSync(path))).toBe(true);
    expect(await readWhole(path, 10)).toEqual({ ok: false, reason: 'it is larger than 10 bytes' });
  });
});

describe('a large file', () => {
  it('is read to its last line', async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) =>
      JSON.stringify({ name: `t${index}`, description: 'ä'.repeat(50), run: { kind: 'http' } }),
    );
    const path = write('a.ndjson', lines.join('\n'));
    const { specs, problems } = await readSpecFile({ path, stamp: '', changedAt: 0, bytes: 0 }, undefined, changed);
    expect([specs.length, specs.at(-1)?.name, problems]).toEqual([30_000, 't29999', []]);
    expect(specs.every((spec) => spec.description === 'ä'.repeat(50))).toBe(true);
  });
});
