import { isRecord } from '../core/json.ts';
import { describe } from '../core/read-options.ts';
import { ToolcribError } from '../core/tool-error.ts';

type Fields = Readonly<Record<string, unknown>>;

const LEGACY_KEYS = ['tool_type', 'input_schema', 'output_schema', 'implementation_config', 'metadata'] as const;

/** True for an entry in the format of seed 003. */
export function isLegacyEntry(entry: unknown): entry is Fields {
  return isRecord(entry) && LEGACY_KEYS.some((key) => Object.hasOwn(entry, key));
}

/** Converts an entry of seed 003's `tools.yaml` to the current format. Other members are kept. */
export function toEntry(legacy: Fields): Fields {
  const { tool_type, input_schema, output_schema, implementation_config, metadata, ...rest } = legacy;
  const what = `Tool ${describe(legacy.name)}`;
  const run = toRun(tool_type, requireFields(implementation_config, `${what}: implementation_config`), legacy.name);
  return {
    ...toDescription(requireFields(metadata, `${what}: metadata`)),
    ...rest,
    input: withPlaceholders(requireFields(input_schema, `${what}: input_schema`), run),
    ...(output_schema !== undefined && output_schema !== null && { output: output_schema }),
    run,
  };
}

function toRun(type: unknown, config: Fields, tool: unknown): Fields {
  if (typeof type !== 'string')
    throw new ToolcribError('not_a_tool', `Tool ${describe(tool)}: tool_type must be a string, got ${describe(type)}.`);
  switch (type.toLowerCase()) {
    case 'python':
      return { kind: 'python', ...renamed(config, { function_name: 'function' }) };
    case 'function':
      return { kind: 'function', ...renamed(config, { function_name: 'export' }) };
    case 'shell':
      return { kind: 'shell', ...renamed(config, SHELL_NAMES), ...commandOf(config) };
    case 'sandbox':
      return { kind: 'shell', sandbox: {}, ...renamed(config, SHELL_NAMES), ...commandOf(config) };
    case 'mcp':
      return { kind: 'mcp', tool, ...renamed(config, MCP_NAMES) };
    case 'http':
      return { kind: 'http', method: 'GET', ...renamed(config, { params: 'query' }) };
    default:
      return { ...config, kind: type.toLowerCase() };
  }
}

const SHELL_NAMES = { working_dir: 'cwd', working_directory: 'cwd', environment: 'env' };
const MCP_NAMES = { server: 'source', server_name: 'source', tool_name: 'tool' };

function renamed(config: Fields, names: Readonly<Record<string, string>>): Fields {
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [names[key] ?? key, value]));
}

function commandOf({ command }: Fields): Fields {
  return typeof command === 'string' ? { command: splitCommand(command) } : {};
}

/** Converts the metadata of seed 003; unknown members go to `meta`. */
function toDescription(metadata: Fields): Fields {
  const { category, version, tags, is_dangerous, requires_approval, permissions, ...meta } = metadata;
  const policy = {
    ...(requires_approval === true && { approval: 'always' }),
    ...(!isNothing(permissions) && { access: [{ permissions: isText(permissions) ? [permissions] : permissions }] }),
  };
  return {
    ...(category !== undefined && { category }),
    ...(version !== undefined && { version: typeof version === 'number' ? String(version) : version }), // YAML reads 1.0 as a number
    ...(tags !== undefined && { tags }),
    ...(is_dangerous !== undefined && { effects: { destructive: is_dangerous } }),
    ...(Object.keys(policy).length > 0 && { policy }),
    ...(Object.keys(meta).length > 0 && { meta }),
  };
}

function isNothing(names: unknown): boolean {
  return names === undefined || names === null || (Array.isArray(names) && names.length === 0);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

const PLACEHOLDER = /(?<![${])\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})/g;

/** The placeholders of a command or address are required properties, because it cannot be built without them. */
function withPlaceholders(schema: Fields, { command, url }: Fields): Fields {
  const texts = [Array.isArray(command) ? command : [], url].flat().filter(isText);
  const names = new Set(texts.flatMap((text) => [...text.matchAll(PLACEHOLDER)].flatMap((match) => match[1] ?? [])));
  const input = { type: 'object', properties: {}, ...schema };
  if (names.size === 0 || !isRecord(input.properties)) return input;
  const { required, properties } = input as { readonly required?: unknown; readonly properties: Fields }; // checked above
  const missing = [...names].filter((name) => !Object.hasOwn(properties, name));
  return {
    ...input,
    properties: { ...properties, ...Object.fromEntries(missing.map((name) => [name, { type: 'string' }])) },
    required: [...new Set([...(Array.isArray(required) ? required : []), ...names])],
  };
}

function requireFields(value: unknown, what: string): Fields {
  if (value === undefined || value === null) return {};
  if (isRecord(value)) return value;
  throw new ToolcribError('not_a_tool', `${what} must be an object, got ${describe(value)}.`);
}

/** Characters outside quotes that only a shell understands. */
const SHELL_SYNTAX = /[|&;<>`]|\$[({A-Za-z_]/;

/** Expansions that a shell performs even inside double quotes. */
const EXPANSION = /(?<!\\)(?:`|\$[({A-Za-z_])/;

const WORD = /(?:[^\s"'\\]|\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"|'[^']*')+/g;
const PART = /\\([\s\S])|"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|([^"'\\]+)/g;

/**
 * Splits a command line into arguments at white space, respecting quotes. No shell is used, so a command that needs one
 * is refused.
 */
export function splitCommand(command: string): readonly string[] {
  const rest = command.replace(WORD, '').trim();
  if (rest !== '') throw refuse(command, `has ${rest.startsWith('\\') ? 'a \\ at its end' : 'an unclosed quote'}`);
  const words = command.match(WORD) ?? [];
  if (words.length === 0) throw refuse(command, 'is empty');
  return words.map((word) => unquote(word, command));
}

function unquote(word: string, command: string): string {
  return word.replaceAll(PART, (_part, escaped?: string, double?: string, single?: string, bare?: string) => {
    if (escaped !== undefined) return escaped;
    if (single !== undefined) return single;
    const syntax = double === undefined ? SHELL_SYNTAX.exec(bare ?? '') : EXPANSION.exec(double);
    if (syntax !== null) throw refuse(command, `uses "${syntax[0]}", which needs a shell`);
    return bare ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? '';
  });
}

function refuse(command: string, why: string): ToolcribError {
  const shown = command.length > 80 ? `${command.slice(0, 80)}…` : command;
  return new ToolcribError(
    'invalid_run',
    `The command ${JSON.stringify(shown)} ${why}; write it as a list of arguments.`,
  );
}
