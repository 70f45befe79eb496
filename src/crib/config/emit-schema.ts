import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { effectsNode, policyNode, ratesNode, slotsNode, whenNode } from '../../config/policy-schema.ts';
import { headersNode } from '../../config/records.ts';
import { OUR_KEYS, type SchemaNode } from '../../config/schema-node.ts';
import { configNode, mayBeEmpty } from './config-schema.ts';
import { overridesNode, sourceNode } from './source-schema.ts';

type Emitted = Readonly<Record<string, unknown>>;

/** Nodes that are used in several places become `$defs`. */
const SHARED: ReadonlyMap<SchemaNode, string> = new Map([
  [policyNode, 'policy'],
  [effectsNode, 'effects'],
  [whenNode, 'when'],
  [ratesNode, 'rates'],
  [slotsNode, 'slots'],
  [sourceNode, 'source'],
  [overridesNode, 'overrides'],
  [headersNode, 'headers'],
]);
const VARIABLE: Emitted = { $ref: '#/$defs/variable' };

/** The JSON Schema 2020-12 of a configuration, for editors. Any scalar may be a variable. */
export function emitSchema(): Emitted {
  const { properties = {}, ...root } = configNode;
  const sections = Object.entries(properties).map(([key, node]) => [key, emitSection(key, node)]);
  const shared = [...SHARED].map(([node, name]) => [name, emitNode(node)]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'toolcrib.yaml',
    ...emitNode(root),
    properties: Object.fromEntries(sections),
    $defs: {
      variable: { type: 'string', pattern: '\\$\\{.+\\}', description: `A variable: \${NAME} or \${NAME:-default}.` },
      ...Object.fromEntries(shared),
    },
  };
}

/** Accepts null for a section that may be empty. */
function emitSection(key: string, node: SchemaNode): Emitted {
  const emitted = emit(node);
  return mayBeEmpty(key) ? { ...emitted, type: [node.type, 'null'] } : emitted;
}

function emit(node: SchemaNode): Emitted {
  const name = SHARED.get(node);
  return name === undefined ? emitNode(node) : { $ref: `#/$defs/${name}` };
}

function emitNode(node: SchemaNode): Emitted {
  const { properties, additionalProperties, items, anyOf, description, ...rest } = node;
  const plain = Object.fromEntries(Object.entries(rest).filter(([key]) => !OUR_KEYS.some((ours) => ours === key)));
  const emitted = {
    ...plain,
    ...(properties !== undefined && { properties: mapValues(properties, emit) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: additionalProperties === false ? false : emit(additionalProperties),
    }),
    ...(items !== undefined && { items: emit(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(emit) }),
  };
  const told = description === undefined ? {} : { description };
  return takesMoreThanItSays(node) ? { ...told, anyOf: [emitted, VARIABLE] } : { ...told, ...emitted };
}

/** True for a scalar whose own schema would reject a variable. */
function takesMoreThanItSays(node: SchemaNode): boolean {
  if (node.type === 'object' || node.type === 'array' || node.type === undefined || node.use === 'secretName')
    return false;
  return node.type !== 'string' || [node.enum, node.pattern, node.format].some((keyword) => keyword !== undefined);
}

function mapValues(record: Readonly<Record<string, SchemaNode>>, change: (node: SchemaNode) => Emitted): Emitted {
  return Object.fromEntries(Object.entries(record).map(([key, node]) => [key, change(node)]));
}

// Run by `npm run schema`; a test fails if the schema file is outdated.
if (import.meta.main) {
  const file = join(import.meta.dirname, '../../../schema/toolcrib.schema.json');
  writeFileSync(file, `${JSON.stringify(emitSchema(), null, 2)}\n`);
}
