import type { YAMLError } from 'yaml';
import { TOO_DEEP, toData } from './config-data.ts';
import { createFindOffset } from './find-offset.ts';
import type { Mistake, Path } from './mistake.ts';

/** A place in a text, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mistake that makes a text no configuration at all. */
interface TextMistake extends Position {
  readonly message: string;
}

/** A text as data, and where in the text each part of it stands. */
export interface ParsedConfig {
  /** Undefined for an empty text; if there are mistakes, what could be read around them. */
  readonly value: unknown;
  readonly mistakes: readonly TextMistake[];
  /** The place of what stands at the path, or of the nearest thing around it. */
  locate(path: Path, at: Mistake['at']): Position | undefined;
}

/** Reads YAML, of which JSON is a part. Variables are not looked at: what they hold cannot become syntax. */
export async function parseConfig(text: string): Promise<ParsedConfig> {
  const yaml = await import('yaml'); // where used: without a file nobody needs it
  const lines = new yaml.LineCounter();
  // The parser compares every key with every other; toData looks duplicates up.
  const document = yaml.parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const toPosition = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const broken = findErrors([...document.errors, ...document.warnings], text);
  const data = toData(document.contents, yaml);
  const mistakes = broken.length > 0 ? broken : data.mistakes;
  const findOffset = createFindOffset(document.contents, yaml);
  return {
    value: data.value,
    mistakes: mistakes.map(({ message, offset }) => ({ message, ...toPosition(offset) })),
    locate(path, at) {
      const offset = findOffset(path, at);
      return offset === undefined ? undefined : toPosition(offset);
    },
  };
}

/** What the parser complains about: one thing a place, and after too deep a nesting nothing else counts. */
function findErrors(errors: readonly YAMLError[], text: string): readonly { offset: number; message: string }[] {
  const deep = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
  const byOffset = new Map((deep === undefined ? errors.toReversed() : [deep]).map((error) => [error.pos[0], error]));
  const first = [...byOffset.values()].reverse();
  return first.map((error) => ({ offset: error.pos[0], message: inWords(error, text) }));
}

function inWords({ code, message, pos: [offset] }: YAMLError, text: string): string {
  if (code === 'RESOURCE_EXHAUSTION') return TOO_DEEP;
  if (code === 'MULTIPLE_DOCS') return 'A configuration is one document; remove the "---" here.';
  const [variable] = /^\$\{[^}\n]*\}/.exec(text.slice(offset - 1, offset + 100)) ?? [];
  if (variable !== undefined) return `Inside braces and brackets a variable needs quotes: "${variable}".`;
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
