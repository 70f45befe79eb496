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

const override = object<OverrideConfig>('Corrections of the tools that match.', {
  title: text('A title.'),
  description: text('A description.'),
  effects: effectsNode,
  tags: names('Tags.'),
  category: text('A category.'),
  policy: policyNode,
  priority: { type: 'number', description: 'Tools with a higher priority come first in their bundle.' },
  requires: names('Other tools, by their names in this crib, that this tool needs to be useful.'),
  meta: mapOf(anything('The value.'), 'Free data; wins over the meta of the source.'),
  hiddenArguments: names('Arguments hidden from callers. The tool gets the default, or no value.'),
  fixedArguments: mapOf(anything('The value.'), 'Arguments hidden from callers. The tool gets this value.'),
});

/** The operator's corrections of the tools of a source. */
export const overridesNode = mapOf(override, 'Corrections, by glob over tool names.');

/** The bundle of a source. */
export const bundleNode = either(
  'The bundle of the tools; default: a bundle named like the source. false means no bundle.',
  text('A bundle.', { pattern: NAME_PATTERN, says: NAME_SAYS }),
  { type: 'boolean', enum: [false] },
);

/** Settings of a source of any kind. */
export const settingsOfSources: Readonly<Record<keyof SourceSettings, SchemaNode>> = {
  bundle: bundleNode,
  overrides: overridesNode,
  trust: flag(
    'Accepts the effects, policy, tags and category that the source declares. Otherwise they can only make calls stricter.',
  ),
  prefix: {
    type: 'string',
    description: 'Prefix of the tool names, joined with "_"; "" for no prefix.',
    pattern: '^([A-Za-z_][A-Za-z0-9_-]{0,40})?$',
    says: 'letters, digits, "_" and "-", starting with a letter or "_", or ""',
  },
  kinds: names('Kinds that its specs may use.'),
  include: names('Globs of the tools to use; for OpenAPI also "GET /pets*".'),
  exclude: names('Globs of the tools to leave out.'),
  settings: mapOf(anything('The value.'), 'Defaults of the settings that its tools read as call.settings.'),
  onChange: choice(
    ['stop'],
    'stop closes the connection as soon as the entry is edited. If absent, the old connection serves calls until the edited entry has a list.',
  ),
  runOn: choice(
    ['worker'],
    'worker: only "toolcrib worker" starts the source. Other processes list its tools as a worker stored them, and hand calls to workers. Needs a store that processes share.',
  ),
};

/** Source options of all kinds, for sources whose tools may be of any kind. */
const ofAnyKind: Properties = Object.assign({}, ...KINDS.map(({ sourceOptions }) => sourceOptions));

/** Sources that belong to a kind, and independent ones. */
const RECORDS: readonly SourceEntry[] = [...KINDS.flatMap(({ source }) => source ?? []), ...SOURCES];

/** The record of the source that an entry configures. */
export function recordOf(entry: SourceConfig): SourceEntry {
  const record = RECORDS.find(({ key }) => key in entry);
  if (record === undefined) throw new ToolcribError('invalid_config', 'A source has an unknown kind.');
  return record;
}

/** One source. One key names its kind. */
export const sourceNode = either(
  'A source of tools.',
  ...RECORDS.map(({ key, description, properties, bringsAnyKind }) =>
    entryNode(description, key, { ...properties, ...settingsOfSources, ...(bringsAnyKind && ofAnyKind) }),
  ),
  entryNode('A file of MCP servers.', 'mcpFile', {
    mcpFile: text('An mcp.json or a YAML map of servers. Each server becomes a source with its own name.', {
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
