import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonSchema } from '../../core/json.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { createRun, type Effects, RUN, SERVER, type ToolSpec, toToolName } from '../../core/tool-spec.ts';
import { toToolSpec } from '../../define/define-tool.ts';
import { paramHeadersOf } from '../../formats/mcp-headers.ts';
import { isSameData } from '../../specs/spec-list.ts';

/** The tools of a server as specs, with the problems found in its list. */
interface ReadTools {
  readonly specs: readonly ToolSpec[];
  /** Sentences. */
  readonly problems: readonly string[];
}

/** Reads a tool list. An unchanged tool keeps its spec object, so that it is not checked again. */
export type ReadToolList = (tools: readonly JsonObject[]) => ReadTools;

/** The server whose tools are read. */
interface Home {
  readonly source: string;
  /** True if the server is reached over HTTP, where headers may have to repeat arguments. */
  readonly isRemote: boolean;
  /** Identifies the server. */
  readonly server?: string | undefined;
}

export function createToolReader(home: Home): ReadToolList {
  let before = new Map<
    string,
    { readonly tool: JsonObject; readonly spec: ToolSpec; readonly problems: readonly string[] }
  >();
  return (tools) => {
    const now: typeof before = new Map();
    const problems: string[] = [];
    for (const tool of tools) {
      const name = requireName(tool, problems);
      if (name === undefined) continue;
      try {
        const known = before.get(name);
        const entry = known !== undefined && isSameData(known.tool, tool) ? known : read(tool, name, home);
        now.set(name, entry);
        problems.push(...entry.problems);
      } catch (cause) {
        if (!(cause instanceof ToolcribError)) throw cause;
        problems.push(`Its tool "${short(name)}" is left out: ${cause.message}`);
      }
    }
    before = now;
    return { specs: Array.from(now.values(), ({ spec }) => spec), problems };
  };
}

function requireName({ name }: JsonObject, problems: string[]): string | undefined {
  if (typeof name === 'string' && name !== '') return name;
  problems.push('A tool without a name is left out.');
  return undefined;
}

function read(tool: JsonObject, name: string, { source, isRemote, server }: Home) {
  const { description, inputSchema, outputSchema, icons, _meta, annotations } = tool;
  if (!isJsonObject(inputSchema)) throw new ToolcribError('invalid_schema', 'its inputSchema is not an object.');
  const why = isRemote ? paramHeadersOf(inputSchema) : [];
  if (typeof why === 'string') throw new ToolcribError('invalid_schema', `its inputSchema is invalid: ${why}.`);
  const notes = isJsonObject(annotations) ? annotations : {};
  const title = [tool.title, notes.title].find((text) => typeof text === 'string' && text !== '');
  const meta = { ...(Array.isArray(icons) && { icons }), ...(isJsonObject(_meta) && { _meta }) };
  const spec = toToolSpec(
    {
      name: toToolName(name, (text) => hash('sha256', text)),
      description: typeof description === 'string' ? description : '',
      ...(title !== undefined && { title }),
      input: inputSchema,
      ...(isJsonObject(outputSchema) && { output: outputSchema }),
      effects: effectsOf(notes),
      ...(Object.keys(meta).length > 0 && { meta }),
      run: { kind: 'mcp', source, tool: name },
    },
    source,
  );
  const problems = [
    ...(name.length > LONG_NAME ? [`Its tool "${short(name)}" has a name of ${name.length} characters.`] : []),
    ...(outputSchema !== undefined && !isJsonObject(outputSchema)
      ? [`The outputSchema of its tool "${short(name)}" is not an object and is ignored.`]
      : []),
  ];
  const whole = {
    ...spec,
    input: withDialect(spec.input, inputSchema),
    ...(spec.output !== undefined && { output: withDialect(spec.output, outputSchema) }),
    origin: name,
    ...(server !== undefined && { [RUN]: createRun({ ...spec[RUN], [SERVER]: server }) }),
  };
  return { tool, spec: Object.freeze(whole), problems };
}

/** Specs omit the default dialect; a dialect that the server names is kept. */
function withDialect(schema: JsonSchema, said: unknown): JsonSchema {
  const $schema = isJsonObject(said) ? said.$schema : undefined;
  return typeof $schema !== 'string' || schema.$schema === $schema ? schema : Object.freeze({ $schema, ...schema });
}

/** The MCP limit for names. */
const LONG_NAME = 128;

/** Copies only hints that the server gives; a missing hint means unknown. */
function effectsOf(notes: JsonObject): Effects {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = notes;
  return {
    ...(typeof readOnlyHint === 'boolean' && { readOnly: readOnlyHint }),
    ...(typeof destructiveHint === 'boolean' && { destructive: destructiveHint }),
    ...(typeof idempotentHint === 'boolean' && { idempotent: idempotentHint }),
    ...(typeof openWorldHint === 'boolean' && { openWorld: openWorldHint }),
  };
}

function short(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}
