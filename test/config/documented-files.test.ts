import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configNode } from '../../src/crib/config/config-schema.ts';
import { emitSchema } from '../../src/crib/config/emit-schema.ts';
import { createSchemas } from '../../src/schemas/create-schemas.ts';
import { loadYaml } from './write.ts';

const ROOT = join(import.meta.dirname, '../..');
const check = createSchemas().parser(emitSchema());

/** The YAML blocks of a page, in order. */
const yamlOf = (page: string): readonly string[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```yaml.*\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

/** Configurations and parts of one; a page may show other YAML, such as an OpenAPI description. */
const isConfiguration = (text: string): boolean =>
  Object.keys(parse(text) ?? {}).some((key) => key in (configNode.properties ?? {}));

describe('the complete file of docs/configuration.md', () => {
  const [file = ''] = yamlOf('docs/configuration.md');
  const others = { 'shop.openapi.yaml': 'openapi: 3.1.0' };

  it('loads without a problem or a note', async () => {
    const { config, problems, notes } = await loadYaml(file, {}, others);
    expect([problems, notes]).toEqual([[], []]);
    expect(Object.keys(config.sources)).toEqual(['files', 'github', 'shop']);
  });

  it('shows what a gateway needs: sources, two roles with a profile each, approval, audit and secrets', async () => {
    const { config } = await loadYaml(file, {}, others);
    const { access, profiles = {}, extensions = {}, secrets = {} } = config;
    expect(Object.keys(profiles)).toEqual(['support', 'engineering']);
    expect(access?.roles).toMatchObject({
      support: { profiles: ['support'] },
      engineer: { profiles: ['engineering'] },
    });
    expect(Object.keys(extensions)).toEqual(expect.arrayContaining(['approval', 'audit']));
    expect(Object.keys(secrets)).toEqual(['github', 'shop', 'chat']);
  });
});

it.each(globSync('docs/*.md', { cwd: ROOT }).sort())('%s shows configurations that fit the schema', async (page) => {
  for (const text of yamlOf(page).filter(isConfiguration)) {
    const parsed = await check(parse(text));
    expect(parsed.ok ? [] : parsed.issues, text).toEqual([]);
  }
});
