import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { PythonPlace } from './python-executor.ts';

/** The parameter that receives the call, with its services and settings. */
const CALL = 'toolcrib_call';
/** Larger files are not checked at load time, only by a call. */
const MAX_BYTES = 1_000_000;

// A text that does not end is taken to the end of its line or of the file, so that no character is looked at twice.
const TEXTS_AND_COMMENTS = /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|#.*/g;

/**
 * True if the source file shows that a function has no parameter for the call. Python is not started for this: a
 * function that is decorated, assigned, imported or nested is checked when it is called.
 */
export function surelyTakesNoCall(place: PythonPlace): boolean {
  const { function: name } = place;
  const text = readModule(place);
  if (text === undefined || name.includes('.')) return false;
  const lines = text.replaceAll(TEXTS_AND_COMMENTS, '').split(/\r?\n/);
  const definition = new RegExp(`^(async\\s+)?def\\s+${name}\\s*\\(`, 'u');
  const found = lines.flatMap((line, index) => (definition.test(line) ? [index] : []));
  const [at, ...others] = found;
  if (at === undefined || others.length > 0 || isDecorated(lines, at)) return false;
  // Any other line that binds the name may replace the function.
  const isBound = new RegExp(`^\\s*(${name}\\s*[=:,]|(from|import|global|class)\\s.*\\b${name}\\b|from\\s.*\\*)`, 'u');
  if (lines.some((line, index) => index !== at && isBound.test(line))) return false;
  const signature = signatureIn(lines.slice(at).join('\n'));
  return signature !== undefined && !new RegExp(`\\b${CALL}\\b`).test(signature);
}

function isDecorated(lines: readonly string[], at: number): boolean {
  const before = lines.slice(0, at).findLast((line) => line.trim() !== '') ?? '';
  return /^@|^[)\]}]/.test(before); // a decorator may end in brackets over several lines
}

/** The text between the brackets of the first definition; undefined if they do not close. */
function signatureIn(text: string): string | undefined {
  const begin = text.indexOf('(');
  let depth = 0;
  for (let index = begin; index < text.length; index++) {
    if ('([{'.includes(text[index] ?? '')) depth++;
    if (')]}'.includes(text[index] ?? '')) depth--;
    if (depth === 0) return text.slice(begin + 1, index);
  }
  return undefined;
}

function readModule({ folder, module }: PythonPlace): string | undefined {
  const path = module.replaceAll('.', '/');
  const files = module.endsWith('.py')
    ? [isAbsolute(module) ? module : join(folder, module)]
    : [join(folder, path, '__init__.py'), join(folder, `${path}.py`)];
  for (const file of files) {
    try {
      if (statSync(file).size <= MAX_BYTES) return readFileSync(file, 'utf8');
    } catch {
      // Missing or unreadable: a call reports the reason.
    }
  }
  return undefined;
}
