import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const SRC = join(import.meta.dirname, '../../src');

/** One import in a file of src. */
export interface Import {
  readonly file: string;
  /** A path from src on, or the name of a package. */
  readonly target: string;
  /** For its types alone: gone when it runs. */
  readonly isType: boolean;
}

/** Paths from src on. */
export const files: readonly string[] = globSync('**/*.ts', { cwd: SRC }).toSorted();

export const readSource = (file: string): string => readFileSync(join(SRC, file), 'utf8');

/** The room of a file: the folder of src in which it lies; a kind is a room of its own. */
export function roomOf(path: string): string {
  const [room = '', kind = ''] = path.split('/');
  return room === 'kinds' ? `kinds/${kind}` : room;
}

export const imports: readonly Import[] = files.flatMap(importsOf);

function importsOf(file: string): readonly Import[] {
  const text = readSource(file).replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const patterns: readonly (readonly [RegExp, (match: RegExpMatchArray) => boolean])[] = [
    [/^(?:import|export)\b([^;']*?)from\s+'([^']+)'/gm, ([, names = '']) => isOfTypes(names)],
    [/(typeof\s+)?\bimport\s*\(\s*'([^']+)'/g, ([, lead]) => lead !== undefined],
    [/^(import)\s+'([^']+)'/gm, () => false],
    [/\b(require|load)\(\s*'([^']+)'/g, () => false],
  ];
  return patterns.flatMap(([pattern, isType]) =>
    [...text.matchAll(pattern)].map((match) => ({
      file,
      target: toTarget(file, match[2] ?? ''),
      isType: isType(match),
    })),
  );
}

/** `type { A }`, or `{ type A, type B }`. */
function isOfTypes(names: string): boolean {
  if (/^\s+type\s/.test(names)) return true;
  const listed = /^\s*\{([\s\S]*)\}\s*$/.exec(names)?.[1];
  const each = listed?.split(',').filter((name) => name.trim() !== '') ?? [];
  return each.length > 0 && each.every((name) => /^\s*type\s/.test(name));
}

function toTarget(file: string, specifier: string): string {
  return specifier.startsWith('.') ? relative(SRC, join(SRC, dirname(file), specifier)) : specifier;
}
