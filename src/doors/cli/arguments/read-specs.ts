import { text } from 'node:stream/consumers';
import { readConfigText } from '../../../config/config-text.ts';
import { readConfigFile } from '../../../config/read-config-file.ts';
import { copyJson, type JsonObject, NotJsonError } from '../../../core/json.ts';
import { describe } from '../../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';

/** Entries of a spec list, and what the file they stand in is called. */
export interface SpecEntries {
  readonly shownAs: string;
  readonly entries: readonly JsonObject[];
}

/** The entries of a file, or of stdin for `-`: one, a list, or `tools:`; `.ndjson` has one a line. */
export async function readSpecs(file: string): Promise<SpecEntries> {
  const shownAs = file === '-' ? 'stdin' : file;
  const content = file === '-' ? await text(process.stdin) : await readConfigFile(file, file);
  const isLines = /\.(ndjson|jsonl)$/i.test(file);
  const values = isLines ? parseLines(content, shownAs) : listIn((await readConfigText(content, shownAs)).value);
  return { shownAs, entries: values.map((value, index) => requireEntry(value, `${shownAs}, tools[${index}]`)) };
}

function listIn(value: unknown): readonly unknown[] {
  const list = typeof value === 'object' && value !== null && 'tools' in value ? value.tools : value;
  return Array.isArray(list) ? list : [list];
}

function parseLines(content: string, file: string): readonly unknown[] {
  return content.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line)];
    } catch (cause) {
      throw invalid(`${file}:${index + 1}: ${messageOf(cause)}.`);
    }
  });
}

function requireEntry(value: unknown, place: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${place}: ${describe(value)} is not a tool; a tool has name, description, input and run.`);
  }
  try {
    return copyJson(value) as JsonObject; // a copy of an object is one
  } catch (cause) {
    throw cause instanceof NotJsonError ? invalid(`${place}: ${cause.message}.`) : cause;
  }
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_spec', message);
}
