import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Phrases that hide who acts, or that read as translated; each with what to write instead. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:nobody|somebody|anybody|everybody|whoever)\b/i, 'name the actor: the caller, the operator, the server'],
  [/\bwho (?:asks|asked)\b/i, 'write "the caller"'],
  [/\b(?:is|are|was|were) no (?!longer\b|more\b)/i, 'write "is not a"'],
  [/\bfor ever\b/i, 'write "forever", or say how long'],
  [/\bthere is (?:no such thing|nothing here)\b/i, 'write "not found"'],
];
/** A doc comment without a subject. */
const HEADLESS = /\/\*\* (?:What|Which|Who|Whatever|Those|That|The same) (?!shares)[^?]*\*\//;

describe.each(['src/**/*.{ts,py}', 'docs/**/*.md', '*.md'])('the prose of %s', (pattern) => {
  const files = globSync(pattern, { cwd: ROOT }).sort();

  it('names who acts and what to do', () => {
    const found = files.flatMap((file) =>
      linesOf(file).flatMap((line, index) => {
        const advice =
          PHRASES.find(([phrase]) => phrase.test(line))?.[1] ?? (HEADLESS.test(line) ? 'begin with a noun' : '');
        return advice === '' ? [] : [`${file}:${index + 1}: ${advice}: ${line.trim().slice(0, 120)}`];
      }),
    );
    expect(found).toEqual([]);
  });
});

/** More that keeps a test name from being a sentence with a named subject. */
const RIDDLES: readonly (readonly [RegExp, string])[] = [
  [/\basker\b/i, 'write "the caller"'],
  [/\bperson at hand\b/i, 'write "the host\'s approver"'],
  [/\bcosts only\b|\bcosts .* alone\b/i, 'write "affects no other"'],
  [/\bthat (?:is|are) none\b/i, 'write "invalid"'],
];
/** Sentences of the behaviour that the library promises are quoted as they are. */
const QUOTED = /^(?:\d+\. )?(?:Approval: exactly one request|HTTP: placeholders encoded)/;
/** The first argument of `describe`, `it` and `test`, with or without `each`. */
const TEST_NAME = /(?:\b(?:describe|it|test)(?:\.\w+)*\(|\]\)\(|\w\)\()\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;

it('the names of tests are sentences that name who acts', () => {
  const names = globSync('test/**/*.ts', { cwd: ROOT })
    .sort()
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(TEST_NAME)].map(([, , name = '']) => [file, name] as const),
    );
  const found = names.flatMap(([file, name]) => {
    const plain = name.replaceAll(/\bthere (?:is|are) no\b/g, '');
    const advice = [...PHRASES, ...RIDDLES].find(([phrase]) => phrase.test(plain))?.[1];
    return advice === undefined || QUOTED.test(name) ? [] : [`${file}: ${advice}: ${name}`];
  });
  expect(names.length).toBeGreaterThan(4000);
  expect(found).toEqual([]);
});

/** The lines of a file without names and quotations in backticks. */
function linesOf(file: string): readonly string[] {
  return readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .map((line) => line.replaceAll(/`[^`]*`/g, '``'));
}
