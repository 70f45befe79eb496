import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { policyNode } from '../../config/policy-schema.ts';
import type { SchemaNode } from '../../config/schema-node.ts';
import { configNode } from './config-schema.ts';

const sections = configNode.properties ?? {};
const sourceNode = (sections.sources?.additionalProperties || undefined) ?? {};
const branches = sourceNode.anyOf ?? [];
const optionsOf = (key: string) => branches.find(({ required }) => required?.includes(key))?.properties ?? {};
const server = optionsOf('mcp').mcp;
const apiAuth = optionsOf('openapi').auth?.additionalProperties || undefined;

/** The generated files under `src/config/types`, and the nodes that each begins with. */
const FILES: readonly (readonly [file: string, ...roots: readonly (SchemaNode | undefined)[]])[] = [
  ['guards.ts', policyNode, sections.extensions, sections.executors],
  ['sources.ts', sourceNode],
  ['config.ts', configNode],
];

/** What every kind of source has. */
const settings = Object.entries(branches[0]?.properties ?? {}).filter(([key, node]) =>
  branches.every(({ properties }) => properties?.[key] === node),
);
const settingsNode: SchemaNode = {
  type: 'object',
  description: 'What may be said about a source of any kind.',
  properties: Object.fromEntries(settings),
};
/** Kinds of sources whose types are not named after their key. */
const KINDS: Readonly<Record<string, string>> = { openapi: 'OpenApi', module: 'Custom' };

/** Names of types whose nodes do not say one. */
const NAMES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [sourceNode, 'WrittenSource'],
  [settingsNode, 'SourceSettings'],
  ...branches.map((branch) => [branch, `${kindOf(branch.required)}SourceConfig`] as const),
  [optionsOf('mcp').overrides?.additionalProperties, 'OverrideConfig'],
  [server, 'McpServer'],
  [server?.anyOf?.[0], 'McpChild'],
  [server?.anyOf?.[1], 'McpRemote'],
  [apiAuth, 'OpenApiAuth'],
  [apiAuth?.anyOf?.at(-1), 'ClientCredentials'],
  [sections.executors, 'ExecutorsConfig'],
  [sections.executors?.additionalProperties, 'CustomExecutorConfig'],
  [sections.executors?.properties?.python, 'PythonConfig'],
]);

/** A type that a file imports, and the module it comes from. */
type Imports = Map<string, string>;

/** The types of a configuration by file, one for each named node, each with the sentences of its nodes. */
export function emitTypes(): Readonly<Record<string, string>> {
  const fileOf = new Map<string, string>();
  const files = FILES.map(([file, ...roots]) => {
    const named = new Map<string, SchemaNode>();
    for (const root of roots) collect(root ?? {}, (name, node) => void (fileOf.has(name) || named.set(name, node)));
    for (const name of named.keys()) fileOf.set(name, `./${file}`);
    return { file, named };
  });
  return Object.fromEntries(
    files.map(({ file, named }) => {
      const imports: Imports = new Map();
      const typeOf = createTypeOf(fileOf, imports);
      const declared = [...named].map(([name, node]) => declare(name, node, typeOf));
      return [file, [HEADER, ...importLines(imports, `./${file}`), '', ...declared].join('\n')];
    }),
  );
}

const HEADER = '// Generated from the schema nodes by "npm run schema"; change those.';

function kindOf(required: readonly string[] = []): string {
  const [key = ''] = required;
  return KINDS[key] ?? `${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

function nameOf(node: SchemaNode): string | undefined {
  return node.typeName ?? NAMES.get(node);
}

/** Tells of every named node that is reached from one, those included that other files have. */
function collect(node: SchemaNode, tell: (name: string, node: SchemaNode) => void): void {
  if (node.typeFrom !== undefined || node.use === 'spec') return;
  const name = nameOf(node);
  if (name !== undefined) tell(name, node);
  if (node === sourceNode) collect(settingsNode, tell);
  const { properties = {}, additionalProperties, items, anyOf = [] } = node;
  for (const child of [...Object.values(properties), additionalProperties, items, ...anyOf])
    if (child !== undefined && child !== false) collect(child, tell);
}

type TypeOf = (node: SchemaNode) => string;

function createTypeOf(fileOf: ReadonlyMap<string, string>, imports: Imports): TypeOf {
  const imported = (name: string, from: string): string => {
    imports.set(name, from);
    return name;
  };
  const typeOf: TypeOf = (node) => {
    const name = nameOf(node);
    if (name !== undefined)
      return imported(name, node.typeFrom === undefined ? (fileOf.get(name) ?? '') : `../../${node.typeFrom}`);
    if (node.use === 'spec') return 'Readonly<Record<string, unknown>>'; // read by whoever reads spec files
    if (node.anyOf !== undefined) return [...new Set(node.anyOf.map(typeOf))].join(' | ');
    if (node.enum !== undefined)
      return node.enum.map((word) => (typeof word === 'string' ? `'${word}'` : word)).join(' | ');
    switch (node.type) {
      case undefined:
        return 'unknown';
      case 'string':
        return SECRET.test(node.use ?? '')
          ? imported('SecretText', '../../system/secrets/secret-template.ts')
          : 'string';
      case 'array':
        return listOf(node.items === undefined ? 'unknown' : typeOf(node.items));
      case 'object':
        return objectType(node, typeOf);
      default:
        return node.type === 'integer' ? 'number' : node.type;
    }
  };
  return typeOf;
}

/** Uses of a text in which secrets may be named. */
const SECRET = /^(secret|storeUrl)/;

function listOf(item: string): string {
  return `readonly ${item.includes(' | ') ? `(${item})` : item}[]`;
}

function objectType({ properties, additionalProperties: others, required = [] }: SchemaNode, typeOf: TypeOf): string {
  if (properties !== undefined) {
    const members = Object.entries(properties).map(([key, node]) => memberOf(key, node, { required, typeOf }));
    return `{ ${members.join('; ')} }`;
  }
  return others === undefined || others === false ? 'object' : `Readonly<Record<string, ${typeOf(others)}>>`;
}

function memberOf(
  key: string,
  node: SchemaNode,
  { required, typeOf }: { readonly required: readonly string[]; readonly typeOf: TypeOf },
): string {
  return `readonly ${key}${required.includes(key) ? '' : '?'}: ${typeOf(node)}`;
}

function declare(name: string, node: SchemaNode, typeOf: TypeOf): string {
  const { description = '', anyOf, properties = {}, additionalProperties: others, required = [] } = node;
  const comment = `/** ${spoken(description)} */\n`;
  if (anyOf !== undefined) return `${comment}export type ${name} = ${anyOf.map(typeOf).join(' | ')};\n`;
  const inherits = branches.includes(node) ? ` extends ${typeOf(settingsNode)}` : '';
  const own = Object.entries(properties).filter(
    ([key, child]) => !inherits || settingsNode.properties?.[key] !== child,
  );
  const members = own.map(
    ([key, child]) => `  /** ${spoken(child.description)} */\n  ${memberOf(key, child, { required, typeOf })};\n`,
  );
  if (others === undefined || others === false)
    return `${comment}export interface ${name}${inherits} {\n${members.join('')}}\n`;
  const builtIn = `BuiltIn${name}`;
  const index = `readonly [name: string]: ${typeOf(others)} | ${builtIn}[keyof ${builtIn}]`;
  return `/** The part of ${name} that is built in. */\nexport interface ${builtIn} {\n${members.join('')}}\n\n${comment}export interface ${name} extends ${builtIn} {\n  ${index};\n}\n`;
}

/** A sentence that cannot end its comment. */
function spoken(sentence = ''): string {
  return sentence.replaceAll('*/', '*\\/');
}

function importLines(imports: Imports, self: string): readonly string[] {
  const byModule = Map.groupBy(
    [...imports].filter(([, from]) => from !== self),
    ([, from]) => from,
  );
  const modules = [...byModule].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return modules.map(
    ([from, names]) =>
      `import type { ${names
        .map(([name]) => name)
        .toSorted()
        .join(', ')} } from '${from}';`,
  );
}

// `npm run schema` renews the types; a test says when.
if (import.meta.main) {
  const folder = join(import.meta.dirname, '../../config/types');
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(emitTypes())) writeFileSync(join(folder, file), text);
}
