import { describe, expect, it } from 'vitest';
import { namesOf } from '../../../crib/workshop.ts';
import { api, describedBy, type Fields } from './api.ts';

const many = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index));
const map = (length: number, make: (index: number) => readonly [string, unknown]) =>
  Object.fromEntries(many(length, make));

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];
const PATHS = map(3333, (index) => [`/p${index}`, { $ref: '#/x-item' }]);

/** 20,000 operations that are written once. */
const shared = (operation: Fields, more: Fields = {}): Fields => ({
  'x-item': Object.fromEntries(METHODS.map((method) => [method, operation])),
  paths: PATHS,
  ...more,
});
const swagger = (more: Fields): Fields => ({
  swagger: '2.0',
  info: {},
  host: 'pets.test',
  schemes: ['https'],
  ...more,
});

const query = (index: number, more: Fields = { type: 'string' }) => ({ name: `p${index}`, in: 'query', ...more });
const text = { type: 'string', description: 'word '.repeat(50) };

describe('a small description that names one item at thousands of paths is refused as a whole', () => {
  it.each<[string, Fields]>([
    ['Swagger, of 200 parameters', swagger(shared({ parameters: many(200, query) }))],
    [
      'Swagger, of 3,000 responses in 20 media types',
      swagger(
        shared(
          { responses: map(3000, (index) => [`${index}`, { schema: {} }]) },
          { produces: many(20, (index) => `a/b${index}`) },
        ),
      ),
    ],
    [
      'Swagger, of long lists in a form',
      swagger(
        shared({
          parameters: many(190, (index) => ({
            ...query(index, { type: 'array', collectionFormat: 'tsv' }),
            in: 'formData',
            description: ' .'.repeat(2000),
          })),
        }),
      ),
    ],
    ['of 200 parameters', api({}, shared({ parameters: many(200, (index) => query(index, { schema: text })) }))],
    ['of thousands of tags', api({}, shared({ tags: many(20_000, (index) => `t${index}`) }))],
    [
      'of thousands of media types',
      api({}, shared({ requestBody: { content: map(5000, (index) => [`a/${index}`, {}]) } })),
    ],
    [
      'of thousands of security schemes',
      api({}, shared({ security: many(1000, () => map(20, (index) => [`s${index}`, []])) })),
    ],
    ['of an operationId of 100,000 characters', api({}, shared({ operationId: 'a'.repeat(100_000) }))],
    ['of a long server address', api({}, shared({ servers: [{ url: `https://pets.test/${'a'.repeat(100_000)}` }] }))],
  ])('%s', async (_, description) => {
    const crib = await describedBy(description);
    expect(crib.sources().find(({ name }) => name === 'pets')).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('too much work'),
    });
  });

  it('as is one of more than 40,000 paths', async () => {
    const crib = await describedBy(api(map(40_001, (index) => [`/p${index}`, { $ref: '#/nowhere' }])));
    expect(crib.sources().find(({ name }) => name === 'pets')).toMatchObject({
      reason: expect.stringContaining('more than 40000 paths'),
    });
  });
});

describe('an operation is left out, and the others stay', () => {
  const fine = { '/fine': { get: { operationId: 'fine' } } };
  it.each<[string, Fields]>([
    ['with a path of more than 4,000 characters', { [`/${'{a}'.repeat(2000)}`]: { get: {} } }],
    [
      'with a server address of more than 2,000 characters',
      { '/x': { get: { servers: [{ url: `https://a.test/${'a'.repeat(2000)}` }] } } },
    ],
  ])('%s', async (_, paths) => {
    const crib = await describedBy(api({ ...paths, ...fine }));
    expect(namesOf(crib)).toEqual(['pets_fine']);
    expect(crib.warnings().join()).toContain('is left out');
  });
});

describe('a large description of an honest API', () => {
  it('is read whole, though its operations share large definitions', async () => {
    const schemas = map(200, (index) => [
      `S${index}`,
      {
        type: 'object',
        properties: map(20, (at) => [
          `field${at}`,
          at % 5 === 0 ? { $ref: `#/components/schemas/S${(index * 7 + at + 1) % 200}` } : text,
        ]),
      },
    ]);
    const body = (index: number) => ({
      content: { 'application/json': { schema: { $ref: `#/components/schemas/S${index % 200}` } } },
    });
    const paths = map(600, (index) => [
      `/things${index}/{id}`,
      {
        post: {
          operationId: `make${index}`,
          parameters: many(8, (at) => query(at, { schema: text })),
          requestBody: body(index),
        },
      },
    ]);
    const crib = await describedBy(api(paths, { components: { schemas } }));
    expect(crib.warnings()).toEqual([]);
    expect(namesOf(crib)).toHaveLength(600);
  });
});
