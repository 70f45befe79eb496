import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaNode } from '../../config/schema-node.ts';
import { EXTENSION_ORDER } from '../built-ins.ts';
import { configNode } from './config-schema.ts';
import { extensionsNode } from './guard-schema.ts';

/** The generated parts of the docs, by file and marker word. */
const PARTS: Readonly<Record<string, Readonly<Record<string, () => readonly string[]>>>> = {
  'docs/architecture.md': {
    order: () => [
      '| priority | extension | why here |',
      '|---|---|---|',
      ...[...EXTENSION_ORDER, { priority: 500, name: 'yours', reason: 'default 500' }]
        .toSorted((a, b) => b.priority - a.priority)
        .map(({ priority, name, reason }) => `| ${name === 'yours' ? '700-300' : priority} | ${name} | ${reason} |`),
    ],
  },
  'docs/configuration.md': {
    extensions: () => optionTable(extensionsNode),
    results: () => optionTable({ properties: { results: configNode.properties?.results ?? {} } }),
  },
};

/** Pages with generated parts. */
export const DOCS: readonly string[] = Object.keys(PARTS);

/** Regenerates the parts of a page between `<!-- WORD: npm run schema -->` and `<!-- end -->`. */
export function emitDocs(page: string, text: string): string {
  return Object.entries(PARTS[page] ?? {}).reduce((before, [word, lines]) => {
    const part = new RegExp(`(<!-- ${word}: npm run schema -->\n)[^]*?(\n<!-- end -->)`);
    if (!part.test(before)) throw new Error(`${page} has no place for "${word}".`);
    return before.replace(part, (_all, begin, end) => `${begin}\n${lines().join('\n')}\n${end}`);
  }, text);
}

/** A table with one row per option of every entry. */
function optionTable({ properties = {} }: SchemaNode): readonly string[] {
  const rows = Object.entries(properties).flatMap(([entry, node]) =>
    Object.entries(optionsOf(node)).map(
      ([key, option]) => `| \`${entry}.${key}\` | ${valuesOf(option)} | ${option.description} |`,
    ),
  );
  return ['| option | value | meaning |', '|---|---|---|', ...rows];
}

/** The options of an entry. An entry that accepts `false` has them in its other branch. */
function optionsOf(node: SchemaNode): Readonly<Record<string, SchemaNode>> {
  return node.properties ?? node.anyOf?.find(({ properties }) => properties !== undefined)?.properties ?? {};
}

function valuesOf(node: SchemaNode): string {
  const [one, many] = node.anyOf ?? [];
  if (one !== undefined && many?.type === 'array') return `${valuesOf(one)} or a list of them`;
  if (node.anyOf !== undefined) return node.anyOf.map(valuesOf).join(' or ');
  if (node.enum !== undefined) return node.enum.map((word) => `\`${word}\``).join(', ');
  switch (node.type) {
    case 'integer':
      return `a whole number${node.minimum === undefined ? '' : ` from ${node.minimum}`}`;
    case 'boolean':
      return '`true`, `false`';
    case 'array':
      return `a list of ${node.items?.type === 'string' ? 'strings' : valuesOf(node.items ?? {})}`;
    case 'object':
      return node.properties === undefined ? 'a map' : `\`{ ${Object.keys(node.properties).join(', ')} }\``;
    default:
      return node.use === 'selector' ? 'a selector' : 'a string';
  }
}

// Run by `npm run schema`; a test fails if the docs are outdated.
if (import.meta.main) {
  for (const page of DOCS) {
    const file = join(import.meta.dirname, '../../..', page);
    writeFileSync(file, emitDocs(page, readFileSync(file, 'utf8')));
  }
}
