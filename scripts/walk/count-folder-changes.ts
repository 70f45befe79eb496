import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** How often a reader changes the folder who reads the files depth-first along their imports. */
export function countFolderChanges(src: string, files: readonly string[], entry: string): number {
  const wanted = new Set(files);
  const seen = new Set<string>();
  let changes = 0;
  const read = (file: string, from: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    if (dirname(file) !== dirname(from)) changes += 1;
    for (const next of importsOf(src, file)) if (wanted.has(next)) read(next, file);
  };
  const first = wanted.has(entry) ? entry : (files[0] ?? entry);
  read(first, first);
  for (const file of files) {
    if (!seen.has(file)) read(file, ''); // no import leads to it: it was handed in
  }
  return changes;
}

/** The files that a file imports, in the order of its lines; those it imports for their types alone lead nowhere. */
function importsOf(src: string, file: string): readonly string[] {
  const text = readFileSync(join(src, file), 'utf8');
  const specifiers = text.matchAll(
    /(?:^import (?!type )[^;]*?from |^export (?!type )[^;]*? from |\bimport\()'(\.[^']+)'/gm,
  );
  return [...specifiers].map(([, specifier = '']) => relative(src, join(src, dirname(file), specifier)));
}
