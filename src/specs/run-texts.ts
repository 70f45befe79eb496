import type { ReadRunText } from '../core/ports/runs.ts';
import { describe } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Nothing that is nested deeper is let in. */
const MAX_DEPTH = 200;

/** True if a text of a run holds `${`, at any depth. */
export function hasReferences(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  for (const key in value) if (hasReferences((value as Fields)[key], depth + 1)) return true; // an own key
  return false;
}

/** The entry with the texts of its run read. Its names, like everything beside the run, stay as they are written. */
export function readRunTexts(entry: Fields, read: ReadRunText): Fields {
  const mistakes: string[] = [];
  const readAt = (value: unknown, path: string, depth: number): unknown => {
    if (typeof value === 'string') return value.includes('${') ? readOne(value, path) : value;
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((item, index) => readAt(item, `${path}[${index}]`, depth + 1));
    const members = Object.entries(value);
    return Object.fromEntries(members.map(([key, member]) => [key, readAt(member, memberOf(path, key), depth + 1)]));
  };
  const readOne = (text: string, path: string): string => {
    const reading = read(text);
    if ('text' in reading) return reading.text;
    for (const mistake of reading.mistakes) mistakes.push(`${path} ${mistake}`);
    return text;
  };
  const run = readAt(entry.run, 'run', 0);
  if (mistakes.length === 0) return { ...entry, run };
  throw new ToolcribError('invalid_run', `Tool ${describe(entry.name)}: ${mistakes.join(' ')}`);
}

function memberOf(path: string, key: string): string {
  return /^[\w-]{1,64}$/.test(key) ? `${path}.${key}` : `${path}[${describe(key)}]`;
}
