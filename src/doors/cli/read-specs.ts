import { text } from 'node:stream/consumers';
import { copyJson, type JsonObject, NotJsonError } from '../../core/json.ts';
import { describe } from '../../core/known-keys.ts';
import { messageOf, ToolcribError } from '../../core/tool-error.ts';
import { requireToolName } from '../../core/tool-spec.ts';
import { readConfigText } from '../../crib/config/config-text.ts';
import { readConfigFile } from '../../crib/config/read-config-file.ts';

/** A spec with the name it is stored under. */
export type NamedSpec = JsonObject & { readonly name: string };

/** The specs of a file, or of stdin for `-`: one, a list, or `tools:`; `.ndjson` has one a line. All are looked at before any is used. */
export async function readSpecs(file: string): Promise<readonly NamedSpec[]> {
  const shownAs = file === '-' ? 'stdin' : file;
  const content = file === '-' ? await text(process.stdin) : await readConfigFile(file, file);
  const isLines = /\.(ndjson|jsonl)$/i.test(file);
  const values = isLines ? parseLines(content, shownAs) : listIn((await readConfigText(content, shownAs)).value);
  return values.map((value, index) => requireSpec(value, `${shownAs} (tools[${index}])`));
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

function requireSpec(value: unknown, place: string): NamedSpec {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !('name' in value)) {
    throw invalid(`${place}: ${describe(value)} is not a tool; a tool has name, description, input and run.`);
  }
  const { name } = value;
  requireToolName(name);
  try {
    return { ...(copyJson(value) as JsonObject), name }; // a copy of an object is one
  } catch (cause) {
    throw cause instanceof NotJsonError ? invalid(`${place}: ${cause.message}.`) : cause;
  }
}

function invalid(message: string): ToolcribError {
  return new ToolcribError('invalid_spec', message);
}
