import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LARGE_FILES, LONG_FUNCTIONS, MANY_PARAMETERS } from './allowed.ts';
import { measureFunctions } from './measure-functions.ts';
import { files, readSource } from './source-files.ts';

const MAX_FILE_LINES = 250;
const MAX_FUNCTION_LINES = 60;
const MAX_PARAMETERS = 3;
const MAX_FOLDER_FILES = 25;

const functions = files.flatMap((file) =>
  measureFunctions(readSource(file)).map(({ name, ...size }) => ({ name: `${file} ${name}`, ...size })),
);
/** What is larger than allowed, with its size. Of two of one name the larger one counts. */
const over = (sizes: readonly (readonly [string, number])[], most: number) =>
  Object.fromEntries(sizes.filter(([, size]) => size > most).toSorted(([, a], [, b]) => a - b));

describe('how large the sources are; the lists of exceptions only shrink', () => {
  it(`a file has at most ${MAX_FILE_LINES} lines`, () => {
    const sizes = files.map((file) => [file, readSource(file).split('\n').length - 1] as const);
    expect(over(sizes, MAX_FILE_LINES)).toEqual(LARGE_FILES);
  });

  it(`a function has at most ${MAX_FUNCTION_LINES} lines`, () => {
    const sizes = functions.map(({ name, lines }) => [name, lines] as const);
    expect(over(sizes, MAX_FUNCTION_LINES)).toEqual(LONG_FUNCTIONS);
  });

  it(`a function has at most ${MAX_PARAMETERS} parameters`, () => {
    const sizes = functions.map(({ name, parameters }) => [name, parameters] as const);
    expect(over(sizes, MAX_PARAMETERS)).toEqual(MANY_PARAMETERS);
  });

  it(`a folder has at most ${MAX_FOLDER_FILES} files`, () => {
    const folders = Map.groupBy(files, (file) => dirname(file));
    const sizes = [...folders].map(([folder, inside]) => [folder, inside.length] as const);
    expect(over(sizes, MAX_FOLDER_FILES)).toEqual({});
  });

  it('and the measure sees declarations, methods and arrow functions', () => {
    const text = [
      'export async function one<T>(a: Map<string, number>, { b, c }: Options, d = (x) => x, e?: T): Promise<T> {',
      '  return {',
      '    two(a) {',
      '      return a;',
      '    },',
      '  };',
      '}',
      'const three = (a: string): void => {',
      '  if (a) {',
      '  }',
      '};',
      'function four({',
      '  a,',
      '}: Options): void {',
      '  for (;;) {}',
      '}',
    ].join('\n');
    expect(measureFunctions(text)).toEqual([
      { name: 'one', lines: 7, parameters: 4 },
      { name: 'two', lines: 3, parameters: 1 },
      { name: 'three', lines: 4, parameters: 1 },
      { name: 'four', lines: 5, parameters: 1 },
    ]);
  });
});

/** The names that stand more than once. */
function repeated(names: readonly string[]): readonly string[] {
  return [...Map.groupBy(names, (name) => name)].filter(([, places]) => places.length > 1).map(([name]) => name);
}

describe('names, by which a reader searches', () => {
  it('no two files have the same name, except the tables of rooms', () => {
    expect(repeated(files.map((file) => basename(file)))).toEqual(['index.ts']);
  });

  it('no two exported types have the same name', () => {
    const types = files.flatMap((file) => [
      ...readSource(file).matchAll(/^export (?:declare )?(?:interface|type|(?:abstract )?class|enum) (\w+)/gm),
    ]);
    expect(repeated(types.map(([, name = '']) => name))).toEqual([]);
  });
});
