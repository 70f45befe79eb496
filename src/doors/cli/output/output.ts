import { stripVTControlCharacters, styleText } from 'node:util';

type Paint = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

/** A result: it alone goes to stdout. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A result as JSON. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Everything that is not a result. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Colours only on a terminal that wants them; NO_COLOR and FORCE_COLOR are respected. */
export function paint(format: Paint, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(format, text, { stream, validateStream: true });
}

// Names and descriptions come from anywhere: on a terminal they may neither move the cursor nor turn the reading direction.
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu; // the two joiners belong to scripts and emoji

/** One line of text that a terminal shows as it is. */
export function toLine(text: string): string {
  return stripVTControlCharacters(text).replace(/\s+/g, ' ').replace(INVISIBLE, '').trim();
}

/** Several lines of text without what would control a terminal. */
export function toLines(text: string): string {
  return text
    .split('\n')
    .map((line) => stripVTControlCharacters(line).replaceAll('\t', '  ').replace(INVISIBLE, ''))
    .join('\n');
}
