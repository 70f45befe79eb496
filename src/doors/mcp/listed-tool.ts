import { isRecord, type JsonSchema } from '../../core/json.ts';
import { META_SOURCE } from '../../core/meta-tools.ts';
import { kindOf, type ToolSpec } from '../../core/tool-spec.ts';
import { type McpTool, toMcp } from '../../formats/mcp.ts';
import { listedOutput, type OutputShape } from './output-schema.ts';

/** An entry of `tools/list`. What an MCP server said of its own tool besides is passed on as it was. */
export function toListedTool(spec: ToolSpec, shape: OutputShape): McpTool {
  const [tool] = toMcp([spec]);
  if (tool === undefined) throw new Error(`"${spec.name}" cannot be listed.`);
  const { outputSchema: _natural, inputSchema, ...rest } = tool;
  const mayBeKept = shape.mayBeKept && spec.source !== META_SOURCE;
  const output = spec.output === undefined ? undefined : listedOutput(spec.output, { ...shape, mayBeKept });
  return {
    ...rest,
    inputSchema: withObjectProperties(inputSchema),
    ...(output !== undefined && { outputSchema: withObjectProperties(output) }),
    ...(kindOf(spec) === 'mcp' && extrasOf(spec.meta ?? {})),
  } as McpTool; // in the newer revision an output schema may have any root
}

/** One icon without an address, and clients refuse the whole list. */
function extrasOf({ icons, _meta }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const shown = Array.isArray(icons) ? icons.filter(isIcon) : [];
  return { ...(shown.length > 0 && { icons: shown }), ...(isRecord(_meta) && { _meta }) };
}

function isIcon(icon: unknown): boolean {
  if (!isRecord(icon) || typeof icon.src !== 'string') return false;
  const { mimeType, sizes, theme } = icon;
  const isText = (value: unknown) => typeof value === 'string';
  return (
    (mimeType === undefined || isText(mimeType)) &&
    (sizes === undefined || (Array.isArray(sizes) && sizes.every(isText))) &&
    (theme === undefined || theme === 'light' || theme === 'dark')
  );
}

/** `true` and `false` are schemas, too, but older clients refuse a list for them. */
function withObjectProperties<Schema extends JsonSchema>(schema: Schema): Schema {
  const { properties } = schema;
  if (!isRecord(properties) || Object.values(properties).every((property) => typeof property === 'object'))
    return schema;
  const entries = Object.entries(properties).map(([name, property]) => {
    if (typeof property !== 'boolean') return [name, property];
    return [name, property ? {} : { not: {} }];
  });
  return { ...schema, properties: Object.fromEntries(entries) };
}
