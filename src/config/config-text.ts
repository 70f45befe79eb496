import { ToolcribError } from '../core/tool-error.ts';
import { isDelicate, MAX_MISTAKES, type Mistake } from './mistake.ts';
import { type ParsedConfig, type Position, parseConfig } from './parse-config.ts';

/** Where mistakes of a configuration are shown. */
export interface ConfigText {
  readonly shownAs: string;
  locate(mistake: Pick<Mistake, 'path' | 'at'>): Position | undefined;
  /** The mistake with its place and its line. */
  show(mistake: Mistake): string;
}

/** A text that could be parsed, and what it says. */
export interface ReadText extends ConfigText {
  readonly value: unknown;
}

/** Parses a text; one that is no configuration at all throws. */
export async function readConfigText(text: string, shownAs: string): Promise<ReadText> {
  const parsed = await parseText(text, shownAs);
  const lines = text.split(/\r?\n/);
  const show = (message: string, place: Position | undefined, isHidden: boolean): string => {
    if (place === undefined) return `${shownAs}: ${message}`;
    const line = excerpt(lines[place.line - 1] ?? '', place, isHidden);
    return `${shownAs}:${place.line}:${place.column}: ${message}\n${line}`;
  };
  if (parsed.mistakes.length > 0) {
    const shown = parsed.mistakes.slice(0, MAX_MISTAKES);
    throw toConfigError(
      shownAs,
      shown.map((mistake) => show(mistake.message, mistake, false)),
    );
  }
  const locate: ConfigText['locate'] = ({ path, at }) => parsed.locate(path, at);
  return {
    shownAs,
    value: parsed.value,
    locate,
    show: (mistake) => show(mistake.message, locate(mistake), isDelicate(mistake.path)),
  };
}

/** What a text says, whatever mistakes are in it. */
export async function parseLeniently(text: string, file: string): Promise<unknown> {
  return (await parseText(text, file)).value;
}

function parseText(text: string, file: string): Promise<ParsedConfig> {
  return parseConfig(/\.jsonc?$/i.test(file) ? blankComments(text) : text);
}

/** A configuration that was given as an object has no places. */
export function objectText(shownAs: string): ConfigText {
  return { shownAs, locate: () => undefined, show: ({ message }) => `${shownAs}: ${message}` };
}

/** One error out of many reports. */
export function toConfigError(shownAs: string, reports: readonly string[]): ToolcribError {
  const shown = reports.slice(0, MAX_MISTAKES).join('\n');
  if (reports.length === 1) return new ToolcribError('invalid_config', shown);
  const count = reports.length >= MAX_MISTAKES ? `${MAX_MISTAKES} or more` : reports.length;
  return new ToolcribError('invalid_config', `${shownAs} has ${count} mistakes:\n${shown}`);
}

const WIDTH = 100;

/** The line with a caret under the place; cut there if what follows may be a credential. */
function excerpt(line: string, { line: number, column }: Position, isHidden: boolean): string {
  const from = Math.max(0, column - 1 - WIDTH / 2);
  const to = isHidden ? column - 1 : from + WIDTH;
  const cut = `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`;
  const gutter = `${number} | `;
  const caret = ' '.repeat(column - 1 - from + (from > 0 ? 1 : 0));
  return `  ${gutter}${cut.replaceAll(/\p{Cc}/gu, ' ')}\n  ${' '.repeat(gutter.length - 2)}| ${caret}^`;
}

/** JSON with comments, as editors write it: each comment becomes blanks, so that every place stays where it is. */
function blankComments(text: string): string {
  return text.replaceAll(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) =>
    part.startsWith('"') ? part : part.replaceAll(/[^\n]/g, ' '),
  );
}
