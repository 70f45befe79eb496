import { text } from 'node:stream/consumers';
import { messageOf } from '../../../core/tool-error.ts';
import { usage } from './usage.ts';

/** The object that `--args` means; `-` reads it from stdin. */
export async function readArguments(args: string | undefined): Promise<object> {
  if (args === undefined) return {};
  const value = parse(args === '-' ? await text(process.stdin) : args);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw usage('--args takes a JSON object.');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw usage(`--args takes a JSON object: ${messageOf(cause)}.`);
  }
}
