import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../core/tool-error.ts';

const NO_TYPES_IN_PACKAGES = 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING';

/** Why importing the file at `url` failed, with the line where it is known. `readText` helps to place a syntax error. */
export function importFailure(cause: unknown, url: string, readText?: (path: string) => string): string {
  if (cause instanceof Error && 'code' in cause && cause.code === NO_TYPES_IN_PACKAGES) {
    return 'it is TypeScript under node_modules, where Node strips no types; ship it as JavaScript';
  }
  const line = lineOf(cause, url, readText);
  return `it cannot be imported: ${messageOf(cause)}${line === undefined ? '' : ` (line ${line})`}`;
}

function lineOf(cause: unknown, url: string, readText?: (path: string) => string): number | undefined {
  if (!(cause instanceof Error)) return undefined;
  const path = fileURLToPath(url);
  const line = lineIn(cause.stack, [url, path]);
  if (line !== undefined || readText === undefined || !(cause instanceof SyntaxError)) return line;
  try {
    // Node keeps the place of a syntax error in JavaScript to itself; the parser that strips types tells it.
    stripTypeScriptTypes(readText(path), { sourceUrl: path });
    return undefined;
  } catch (parsing) {
    return parsing instanceof Error ? lineIn(parsing.stack, [path]) : undefined;
  }
}

function lineIn(stack: string | undefined, places: readonly string[]): number | undefined {
  for (const text of (stack ?? '').split('\n')) {
    for (const place of places) {
      const start = text.indexOf(`${place}:`);
      const line = start < 0 ? Number.NaN : Number.parseInt(text.slice(start + place.length + 1), 10);
      if (line > 0) return line;
    }
  }
  return undefined;
}
