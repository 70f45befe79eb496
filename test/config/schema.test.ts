// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { parse } from 'yaml';
import { DOCS, emitDocs } from '../../scripts/emit-docs.ts';
import { object, type SchemaNode, text } from '../../src/config/schema-node.ts';
import type { ProfileConfig, WrittenConfig } from '../../src/config/types/config.ts';
import type { PolicyConfig } from '../../src/config/types/guards.ts';
import type { Profile } from '../../src/core/profile.ts';
import type { ProfileInput } from '../../src/crib/catalog/read-profile.ts';
import { configNode } from '../../src/crib/config/config-schema.ts';
import { emitSchema } from '../../src/crib/config/emit-schema.ts';
import { emitTypes } from '../../src/crib/config/emit-types.ts';
import type { Config } from '../../src/crib/config/loaded-config.ts';
import { sourceNode } from '../../src/crib/config/source-schema.ts';
import type { PolicyInput } from '../../src/define/read-policy.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';

const ROOT = join(import.meta.dirname, '../..');
const check = createSchemas().parser(emitSchema());
const issuesOf = async (value: unknown) => {
  const parsed = await check(value);
  return parsed.ok ? [] : parsed.issues.map((issue) => issue.path);
};

describe('the schema for editors', () => {
  it('is current; if not: npm run schema', () => {
    const file = readFileSync(join(ROOT, 'schema/toolcrib.schema.json'), 'utf8');
    expect(JSON.parse(file)).toEqual(emitSchema());
  });

  it('accepts the example of the contract as it is written', async () => {
    const example = parse(readFileSync(join(import.meta.dirname, 'fixtures/contract.yaml'), 'utf8'));
    expect(await issuesOf(example)).toEqual([]);
  });

  it('accepts a variable in place of a single value, and an empty section', async () => {
    expect(
      await issuesOf({
        server: { port: '${PORT:-2742}' },
        access: { keys: '${KEYS}' },
        profiles: { a: { expose: '${EXPOSE}' } },
        bundles: null,
        sources: null,
      }),
    ).toEqual([]);
  });

  it.each([
    ['an unknown key', { profils: {} }],
    ['an access section that is empty', { access: null }],
    ['a port that is a word', { server: { port: 'http' } }],
    ['a source of no kind', { sources: { a: { bundle: 'b' } } }],
    ['an unknown mode', { extensions: { approval: { mode: 'sometimes' } } }],
    ['an extension without a module', { extensions: { mine: { priority: 600 } } }],
    ['an empty entry of a list', { profiles: { a: { include: [null] } } }],
  ])('refuses %s', async (_, value) => {
    expect(await issuesOf(value)).not.toEqual([]);
  });

  it('describes every key', () => {
    expect(undescribed(configNode, '')).toEqual([]);
  });

  it('does not describe how values are read', () => {
    expect(JSON.stringify(emitSchema())).not.toMatch(/"(use|says)":/);
  });
});

describe('the types of a configuration', () => {
  // All but what the formatter adds: white space, and separators at the ends of lines.
  const tokensOf = (text = '') => text.match(/[\w$]+|[^\w\s;|]/g);
  const generated = emitTypes();

  it.each(Object.keys(generated))('are current in %s; if not: npm run schema', (file) => {
    const text = readFileSync(join(ROOT, 'src/config/types', file), 'utf8');
    expect(tokensOf(text)).toEqual(tokensOf(generated[file]));
  });

  it('are in no other file', () => {
    expect(readdirSync(join(ROOT, 'src/config/types')).sort()).toEqual(Object.keys(generated).sort());
  });

  it('can be used where code takes the same type', () => {
    expectTypeOf<Required<PolicyConfig>>().toEqualTypeOf<Required<PolicyInput>>();
    expectTypeOf<keyof ProfileInput | 'name'>().toEqualTypeOf<keyof Profile>();
    expectTypeOf<Omit<Profile, 'name'>>().toExtend<ProfileInput>();
  });
});

describe('the docs', () => {
  const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

  it.each(DOCS)('have current tables in %s; if not: npm run schema', (page) => {
    expect(read(page)).toBe(emitDocs(page, read(page)));
  });

  it('list the keys of every source, and no others', () => {
    const [, table = ''] = read('docs/configuration.md').split('Keys for every source:');
    const rows = [...(table.split('###')[0] ?? '').matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = '']) => cell);
    const named = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, key = '']) => key));
    const branches = (sourceNode.anyOf ?? []).map(({ properties = {} }) => Object.keys(properties));
    const some = new Set(branches.flat());
    expect([...some].filter((key) => branches.every((keys) => keys.includes(key)) && !named.includes(key))).toEqual([]);
    expect(named.filter((key) => !some.has(key))).toEqual([]);
  });
});

describe('schema and types agree', () => {
  it('in the keys of every object, or the compiler complains', () => {
    interface Pair {
      readonly a: string;
      readonly b?: string;
    }
    const node = text('');
    object<Pair>('', { a: node, b: node });
    // @ts-expect-error a key of the interface that the schema lacks
    object<Pair>('', { a: node });
    // @ts-expect-error a key of the schema that the interface lacks
    object<Pair>('', { a: node, b: node, c: node });
    // @ts-expect-error a required key that does not exist
    object<Pair>('', { a: node, b: node }, ['c']);
    expect(node.type).toBe('string');
  });

  it('in the sections of a configuration', () => {
    const keys: Readonly<Record<keyof WrittenConfig, true>> = {
      ...{ $schema: true, defaultProfile: true, sources: true, mcpServers: true, tools: true, bundles: true },
      ...{ profiles: true, secrets: true, services: true, extensions: true, executors: true, results: true },
      ...{ access: true, store: true, server: true, tasks: true, retrieval: true, schedules: true, onDuplicate: true },
    };
    expect(Object.keys(configNode.properties ?? {}).sort()).toEqual(Object.keys(keys).sort());
  });

  it('in the key by which each source is told from the others', () => {
    for (const { properties = {}, required = [] } of sourceNode.anyOf ?? []) {
      const [key = ''] = required;
      expect(Object.keys(properties)).toContain(key);
      const others = (sourceNode.anyOf ?? []).filter((branch) => branch.properties !== properties);
      expect(others.filter((branch) => key in (branch.properties ?? {}))).toEqual([]);
    }
  });

  it('in the kinds of sources', () => {
    const kinds = (sourceNode.anyOf ?? []).flatMap((branch) => branch.required ?? []);
    expect(kinds).toEqual([
      ...['mcp', 'openapi', 'python', 'files', 'packages', 'modules', 'http', 'database', 'module', 'mcpFile'],
    ]);
  });

  it('so that read values have their types', () => {
    const profile: ProfileConfig = { include: ['add'], rules: [{ tools: 'pay', when: {}, otherwise: 'deny' }] };
    const config: Config = { sources: { a: { files: './tools' } }, profiles: { profile } };
    // @ts-expect-error servers of a pasted block are sources once they are read
    config.mcpServers;
    expect(config.profiles).toEqual({ profile });
  });
});

function undescribed(node: SchemaNode, path: string): readonly string[] {
  const keys = Object.entries(node.properties ?? {});
  const silent = keys.filter(([, child]) => child.description === undefined).map(([key]) => `${path}/${key}`);
  const inner = [...(node.anyOf ?? []), node.items, node.additionalProperties || undefined];
  return [
    ...silent,
    ...keys.flatMap(([key, child]) => undescribed(child, `${path}/${key}`)),
    ...inner.flatMap((child) => (child === undefined ? [] : undescribed(child, `${path}/*`))),
  ];
}
