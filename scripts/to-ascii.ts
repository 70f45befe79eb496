import { readFileSync, writeFileSync } from 'node:fs';

/** Escapes what is not ASCII in a bundle: one such letter would double the memory of its whole text. esbuild leaves those of regular expressions. */
export function toAscii(file: string): string {
  const code = readFileSync(file, 'utf8').replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  writeFileSync(file, code);
  return code;
}
