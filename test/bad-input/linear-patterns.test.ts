import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** The regular expressions in the sources of the server and of the console. */
function* patterns(): Generator<{ readonly file: string; readonly pattern: RegExp }> {
  const literal = /(?<=[=(,:?&|!\s])\/((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?=[\s.,;)\]]|$)/g;
  for (const folder of ['src', 'ui/src'])
    for (const file of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(file)) continue;
      for (const [, source = '', flags = ''] of readFileSync(join(ROOT, folder, file), 'utf8').matchAll(literal)) {
        const pattern = toPattern(source, flags);
        if (pattern !== undefined) yield { file: `${folder}/${file}`, pattern };
      }
    }
}

/** Undefined for text between two slashes that is not a pattern. */
function toPattern(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

it('no pattern takes more than linear time for any text', () => {
  const slow: string[] = [];
  let count = 0;
  for (const { file, pattern } of patterns()) {
    count++;
    const { reports } = analyse(pattern, { maxReports: 1, reportTypes: { Self: true, Trade: true, Move: true } });
    for (const { type } of reports) slow.push(`${file}: ${pattern} (${type})`);
  }
  expect(slow).toEqual([]);
  expect(count).toBeGreaterThan(400);
});

it.each([/a+$/, /^(a+)+$/, /#[^/]*$/, /^ *(.*)x$/])('the test finds %s', (pattern) => {
  expect(analyse(pattern, { reportTypes: { Self: true, Trade: true, Move: true } }).reports).not.toEqual([]);
});
