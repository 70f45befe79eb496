import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Crib } from '../../../../src/index.ts';
import { createSchemas } from '../../../../src/schemas/create-schemas.ts';
import { cribOf, folderWith } from '../../../crib/workshop.ts';
import { call, echoServer, type Fields, toolIn } from './api.ts';

const PACKAGES = join(import.meta.dirname, '../../../../node_modules');
/** Descriptions of real APIs and of everything that OpenAPI can say, of 2.0, 3.0 and 3.1, as their authors publish them. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  directus: '@directus/openapi/dist/oas.json',
  trek: '@readme/oas-examples/3.0/json/star-trek.json',
  readme: '@readme/oas-examples/3.1/json/readme.json',
  petstore: '@readme/oas-examples/3.1/json/petstore.json',
  circles: '@readme/oas-examples/3.0/json/schema-circular.json',
  shapes: '@readme/oas-examples/3.0/json/polymorphism.json',
  styles: '@readme/oas-examples/3.1/json/parameters-style.json',
  types: '@readme/oas-examples/3.1/json/schema-types.json',
  uploads: '@readme/oas-examples/3.0/json/file-uploads.json',
  codes: '@readme/oas-examples/3.0/json/http-status-codes.json',
  travel: '@readme/oas-examples/3.1/json/train-travel.json',
  swagger: '@readme/oas-examples/2.0/json/petstore.json',
  expanded: '@readme/oas-examples/2.0/json/petstore-expanded.json',
  simple: '@readme/oas-examples/2.0/json/petstore-simple.json',
  examples: '@readme/oas-examples/2.0/json/api-with-examples.json',
  rings: '@readme/oas-examples/2.0/json/schema-circular.json',
};

/** No arguments, and too long to report every issue. */
const LONG_LIST = new Array<number>(100_000).fill(0);
const METHODS = /^(get|head|post|put|patch|delete)$/;

function operationsIn(file: string): number {
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as { readonly paths: Readonly<Record<string, Fields>> }; // a description
  return Object.values(paths).flatMap((item) => Object.keys(item).filter((key) => METHODS.test(key))).length;
}

async function cribOfAll(entry: Fields = {}): Promise<Crib> {
  const described = Object.entries(DESCRIPTIONS).map(([name, file]) => [
    name,
    { openapi: join(PACKAGES, file), baseUrl: 'https://api.test', ...entry },
  ]);
  const executors = { http: { allowPrivate: ['127.0.0.1'] } };
  const config = { sources: Object.fromEntries(described), executors };
  return cribOf(folderWith({ 'toolcrib.yaml': JSON.stringify(config) }));
}

describe('the operations of public descriptions', () => {
  it('are all tools, several hundred of them, and all of their schemas compile', async () => {
    const crib = await cribOfAll({ outputSchemas: true });
    const counts = crib.sources().filter(({ name }) => name in DESCRIPTIONS);
    const expected = Object.entries(DESCRIPTIONS).map(([name, file]) => [name, operationsIn(join(PACKAGES, file))]);
    expect(counts.map(({ name, toolCount }) => [name, toolCount])).toEqual(expected);
    expect(crib.catalog.specs.length).toBeGreaterThan(500);
    expect(crib.warnings().filter((warning) => !warning.includes('security scheme'))).toEqual([]);
    const schemas = createSchemas();
    for (const spec of crib.catalog.specs) {
      expect(await schemas.input(spec)(LONG_LIST)).toMatchObject({ ok: false });
      if (spec.output !== undefined) expect(await schemas.output(spec)(LONG_LIST)).toHaveProperty('ok');
    }
  });

  it('can be called', async () => {
    const server = await echoServer();
    const crib = await cribOfAll({ baseUrl: server.base });
    const read = await call(crib, 'directus_getUser', { id: 'a/b', fields: ['name', 'email'], meta: 'total_count' });
    expect([read.method, read.url]).toEqual(['GET', '/users/a%2Fb?fields=name,email&meta=total_count']);
    const login = await call(crib, 'directus_login', { body: { email: 'a@b.test', password: 'x' } });
    expect([login.method, login.url, JSON.parse(login.body)]).toEqual([
      'POST',
      '/auth/login',
      { email: 'a@b.test', password: 'x' },
    ]);
    const remove = await call(crib, 'petstore_deletePet', { petId: 7, api_key: 'k' });
    expect([remove.method, remove.url, remove.headers.api_key]).toEqual(['DELETE', '/pet/7', 'k']);
    const update = await call(crib, 'petstore_updatePetWithForm', { petId: 7, name: 'Rex', status: 'sold & gone' });
    expect([update.url, update.body]).toEqual(['/pet/7', 'name=Rex&status=sold%20%26%20gone']);
    const old = await call(crib, 'swagger_updatePetWithForm', { petId: 7, name: 'Rex', status: 'sold & gone' });
    expect([old.url, old.body]).toEqual([update.url, update.body]);
    expect(toolIn(crib, 'petstore_addPet').input).toMatchObject({ required: ['name', 'photoUrls'] });
  });
});
