import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measureFunctions } from './measure-functions.ts';

const UI = join(import.meta.dirname, '../../ui/src');
/** Generated from the description of the API. */
const GENERATED = 'api/types.ts';

const files = globSync('**/*.{ts,tsx}', { cwd: UI }).filter((file) => file !== GENERATED);
const read = (file: string) => readFileSync(join(UI, file), 'utf8');

describe('the sources of the console', () => {
  it('import of src types alone: the console knows the server by REST', () => {
    const found = files.flatMap((file) =>
      [...read(file).matchAll(/^(import|export)\b([^;']*?)(?:from\s+)?'(\.[^']+)'/gm)]
        .filter(([, , names = '', target = '']) => {
          const path = relative(UI, join(UI, dirname(file), target));
          return path.startsWith('..') && !/^\s+type\s/.test(names);
        })
        .map(([, , , target]) => `${file} -> ${target}`),
    );
    expect(found).toEqual([]);
  });

  it('have files of at most 250 lines, functions of at most 60, folders of at most 25 files', () => {
    const long = files.filter((file) => read(file).split('\n').length - 1 > 250);
    const functions = files.flatMap((file) =>
      measureFunctions(read(file))
        .filter(({ lines, parameters }) => lines > 60 || parameters > 3)
        .map(({ name, lines }) => `${file} ${name}: ${lines}`),
    );
    const folders = [...Map.groupBy(files, dirname)].filter(([, inside]) => inside.length > 25);
    expect([long, functions, folders.map(([folder]) => folder)]).toEqual([[], [], []]);
  });

  it('name no file twice', () => {
    const names = Map.groupBy(files, (file) => basename(file));
    expect([...names].filter(([, paths]) => paths.length > 1).map(([name]) => name)).toEqual([]);
  });

  it('contain no markup of text and no code from text, which the policy of the page forbids', () => {
    const forbidden = /dangerouslySetInnerHTML|\binnerHTML\b|\beval\(|new Function\(|document\.write/;
    expect(files.filter((file) => forbidden.test(read(file)))).toEqual([]);
  });
});
