import { effectsNode, names, policyNode } from '../../config/policy-schema.ts';
import type { SourceEntry } from '../../config/records.ts';
import {
  anything,
  choice,
  either,
  flag,
  mapOf,
  NAME_PATTERN,
  NAME_SAYS,
  object,
  type SchemaNode,
  text,
} from '../../config/schema-node.ts';
import type { McpFileSourceConfig, OverrideConfig, SourceSettings } from '../../config/types/sources.ts';
import { ToolcribError } from '../../core/tool-error.ts';
import { KINDS } from '../../kinds/index.ts';
import { connection } from '../../kinds/mcp/mcp-kind.ts';
import { SOURCES } from '../../sources/index.ts';
import type { SourceConfig } from './loaded-config.ts';

type Properties = Readonly<Record<string, SchemaNode>>;

const override = object<OverrideConfig>('What is corrected about the tools that match.', {
  title: text('A title.'),
  description: text('A description.'),
  effects: effectsNode,
  tags: names('Tags.'),
  category: text('A category.'),
  policy: policyNode,
  priority: { type: 'number', description: "Higher comes first among its bundle's tools." },
  requires: names('Other tools, by their names here, without which it is of little use.'),
  meta: mapOf(anything('The value.'), 'Anything else that is said about it, over what its source says.'),
  hiddenArguments: names('Arguments that callers neither see nor give; the tool gets its default, or none.'),
  fixedArguments: mapOf(
    anything('The value.'),
    'Arguments that callers neither see nor give; the tool gets this value.',
  ),
});

/** What the owner corrects about the tools of a source. */
export const overridesNode = mapOf(override, "Corrections, by glob over its tools' names.");

/** The bundle of a source. */
export const bundleNode = either(
  'The bundle its tools belong to: its own name if absent, none if false.',
  text('A bundle.', { pattern: NAME_PATTERN, says: NAME_SAYS }),
  { type: 'boolean', enum: [false] },
);

/** What may be said about a source of any kind. */
export const settingsOfSources: Readonly<Record<keyof SourceSettings, SchemaNode>> = {
  bundle: bundleNode,
  overrides: overridesNode,
  trust: flag('Lets what it says about effects, policy, tags and category stand; else it can only raise caution.'),
  prefix: {
    type: 'string',
    description: 'Put before its tools\' names with "_"; "" for nothing.',
    pattern: '^([A-Za-z_][A-Za-z0-9_-]{0,40})?$',
    says: 'letters, digits, "_" and "-", starting with a letter or "_", or ""',
  },
  kinds: names('The kinds of run its specs may carry.'),
  include: names('Only these of its tools; for OpenAPI also "GET /pets*".'),
  exclude: names('None of these of its tools.'),
  settings: mapOf(anything('The value.'), 'Defaults of the settings that reach its tools as call.settings.'),
  onChange: choice(
    ['stop'],
    'stop ends its connection as soon as its entry is edited; if absent, that answers until the edited entry has a list.',
  ),
};

/** What may be said of kinds at a source whose tools may be of any kind. */
const ofAnyKind: Properties = Object.assign({}, ...KINDS.map(({ sourceOptions }) => sourceOptions));

/** The sources of kinds, and those that stand by themselves. */
const RECORDS: readonly SourceEntry[] = [...KINDS.flatMap(({ source }) => source ?? []), ...SOURCES];

/** All that the source of an entry says about itself. */
export function recordOf(entry: SourceConfig): SourceEntry {
  const record = RECORDS.find(({ key }) => key in entry);
  if (record === undefined) throw new ToolcribError('invalid_config', 'A source is of no known kind.');
  return record;
}

/** One source; the key that names its kind tells which. */
export const sourceNode = either(
  'Where tools come from.',
  ...RECORDS.map(({ key, description, properties, bringsAnyKind }) =>
    entryNode(description, key, { ...properties, ...settingsOfSources, ...(bringsAnyKind && ofAnyKind) }),
  ),
  entryNode('A file of MCP servers.', 'mcpFile', {
    mcpFile: text('An mcp.json or a YAML map of servers; each becomes a source of its own name.', {
      use: 'path',
      holds: 'servers',
    }),
    ...settingsOfSources,
    ...connection,
  } satisfies Record<keyof McpFileSourceConfig, SchemaNode>),
);

/** The keys that name the kinds of sources. */
export const sourceKeys: readonly string[] = [...RECORDS.map(({ key }) => key), 'mcpFile'];

function entryNode(description: string, key: string, properties: Properties): SchemaNode {
  return { type: 'object', description, properties, required: [key], additionalProperties: false };
}
