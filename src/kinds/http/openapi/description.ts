import { isUtf8 } from 'node:buffer';
import { isRecord } from '../../../core/json.ts';
import { describe } from '../../../core/read-options.ts';
import { messageOf, ToolcribError } from '../../../core/tool-error.ts';

/** Any object of a description; read with care, since a stranger may have written it. */
export type Fields = Readonly<Record<string, unknown>>;

/** An OpenAPI description that was parsed. What 3.0 says in words of its own is understood in all of them. */
export interface Description {
  readonly root: Fields;
}

/** How a description is written down. */
export type DescriptionFormat = 'json' | 'yaml';

/** The most that is read of a description. YAML of 5 MB takes seconds to parse; what a stranger sends may take less. */
export const MAX_DESCRIPTION_BYTES = { json: 25_000_000, yaml: 5_000_000, remoteYaml: 1_000_000 } as const;

/** Reads a description. What is none throws, saying what it is instead. */
export async function readDescription(bytes: Uint8Array, format: DescriptionFormat): Promise<Description> {
  if (!isUtf8(bytes)) throw new ToolcribError('invalid_description', 'it is not text in UTF-8');
  const text = new TextDecoder().decode(bytes);
  const root = format === 'json' ? parseJson(text) : await parseYaml(text);
  return toDescription(root);
}

/** What was parsed before, as a description. */
export function toDescription(root: unknown): Description {
  if (!isRecord(root)) throw new ToolcribError('invalid_description', `it is ${describe(root)}, not a description`);
  if (root.swagger !== undefined) {
    throw new ToolcribError(
      'invalid_description',
      `it is of Swagger ${describe(root.swagger)}, and only OpenAPI 3 is read: convert it, for instance with swagger2openapi`,
    );
  }
  if (typeof root.openapi !== 'string' || !/^3\.[0-2](\.|$)/.test(root.openapi)) {
    const said = root.openapi === undefined ? 'no "openapi" at its top' : `"openapi" ${describe(root.openapi)}`;
    throw new ToolcribError('invalid_description', `it has ${said}, and only OpenAPI 3.0, 3.1 and 3.2 are read`);
  }
  return { root };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ToolcribError('invalid_description', `it is not JSON: ${messageOf(cause)}`, { cause });
  }
}

/** How far aliases may multiply what is written. */
const LIMITS = { maxAliasCount: 100 };

/** Parsing takes the square of the depth. */
const MAX_YAML_DEPTH = 500;

/** True for more open brackets, or dashes in a line, than anybody means. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > MAX_YAML_DEPTH) return true;
  }
  return /^[ \t]*(?:[-?][ \t]+){100}/m.test(text);
}

async function parseYaml(text: string): Promise<unknown> {
  if (isTooDeep(text)) throw new ToolcribError('invalid_description', 'it is nested too deeply');
  const { parseDocument } = await import('yaml');
  try {
    // The parser's own search for keys that stand twice compares each with each.
    const document = parseDocument(text, { logLevel: 'error', uniqueKeys: false });
    const [error] = document.errors;
    if (error === undefined) return document.toJS(LIMITS);
    const [line = ''] = error.message.split('\n', 1); // the lines after it show the text
    throw new ToolcribError('invalid_description', `it is not YAML: ${line.replace(/:$/, '')}`);
  } catch (cause) {
    if (cause instanceof ToolcribError) throw cause;
    // Too many aliases, an alias of nothing, or a full stack: yaml has no error of its own for these.
    const reason = cause instanceof RangeError ? 'it is nested too deeply' : messageOf(cause);
    throw new ToolcribError('invalid_description', `it cannot be read as YAML: ${reason}`, { cause });
  }
}
