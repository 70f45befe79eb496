import { describe, expect, it } from 'vitest';
import { namesOf } from '../../../crib/workshop.ts';
import { api, describedBy, type Fields, operation, runOf, toolIn, toolOf } from './api.ts';

const OK = { responses: { 200: { description: 'fine' } } };

describe('the operations of an API', () => {
  it('are tools named after their operationId, with the name of the source before it', async () => {
    const crib = await describedBy(api({ '/pets': { get: { operationId: 'listPets', ...OK } } }));
    expect(namesOf(crib)).toEqual(['pets_listPets']);
    expect(runOf(toolIn(crib, 'pets_listPets'))).toMatchObject({
      kind: 'http',
      method: 'GET',
      baseUrl: 'https://pets.test/v1',
      url: '/pets',
    });
  });

  it('are named after method and path if they have no operationId, or a taken one', async () => {
    const crib = await describedBy(
      api({
        '/pets': { get: OK, post: { operationId: 'twice' } },
        '/pets/{id}': { get: { operationId: 'twice' }, delete: { operationId: '' } },
        '/pets/id': { get: { operationId: 'twice' } },
      }),
      { prefix: '' },
    );
    const [list, post, get, remove, other, ...none] = namesOf(crib);
    expect([list, post, get, remove, none]).toEqual(['get_pets', 'twice', 'get_pets_id', 'delete_pets_id', []]);
    expect(other).toMatch(/^get_pets_id_[0-9a-f]{8}$/);
  });

  it('have names that every vendor accepts', async () => {
    const long = 'o'.repeat(300);
    const paths = { '/a': { get: { operationId: 'pet.find by/status' } }, '/b': { get: { operationId: long } } };
    const names = namesOf(await describedBy(api(paths)));
    expect(names[0]).toBe('pets_pet_find_by_status');
    expect(names[1]).toMatch(/^pets_o{34}_[0-9a-f]{8}$/);
  });

  it('keep their names when others are left out', async () => {
    const paths = { '/a': { get: { operationId: 'same' } }, '/b': { get: { operationId: 'same' } } };
    const all = namesOf(await describedBy(api(paths)));
    const some = namesOf(await describedBy(api(paths), { exclude: 'GET /a' }));
    expect(some).toEqual([all[1]]);
  });

  it.each([
    ['get', { readOnly: true, idempotent: true, openWorld: true }],
    ['head', { readOnly: true, idempotent: true, openWorld: true }],
    ['post', { readOnly: false, openWorld: true }],
    ['patch', { readOnly: false, openWorld: true }],
    ['put', { readOnly: false, idempotent: true, openWorld: true }],
    ['delete', { readOnly: false, destructive: true, idempotent: true, openWorld: true }],
  ])('have the effects of %s', async (method, effects) => {
    expect((await toolOf(operation({}, { method }))).effects).toEqual(effects);
  });

  it('can only raise caution if the operator does not trust the description', async () => {
    const tool = await toolOf(operation({ tags: ['animals'] }), { trust: false });
    expect([tool.effects, tool.tags]).toEqual([{ openWorld: true }, []]);
  });

  it('have short descriptions', async () => {
    const crib = await describedBy(
      api({
        '/a': {
          get: { operationId: 'a', summary: 'Finds pets', description: '<p>By  status.</p>\n\nOr not.', tags: ['pet'] },
        },
        '/b': { get: { operationId: 'b', deprecated: true, summary: 'Finds pets.' } },
        '/c': { get: { operationId: 'c', description: `${'Long. '.repeat(1000)}` } },
        '/d': { get: { operationId: 'd' } },
      }),
    );
    expect(toolIn(crib, 'pets_a')).toMatchObject({
      title: 'Finds pets',
      description: 'Finds pets. By status. Or not.',
      tags: ['pet'],
    });
    expect(toolIn(crib, 'pets_b').description).toBe('Deprecated. Finds pets.');
    expect(toolIn(crib, 'pets_c').description).toMatch(/^(Long\. )+Long\.$/);
    expect(toolIn(crib, 'pets_c').description.length).toBeLessThanOrEqual(1000);
    expect(toolIn(crib, 'pets_d').description).toBe('GET /d');
  });

  it('are chosen by method and path, or by name', async () => {
    const paths = api({
      '/pets': { get: { operationId: 'list' }, post: { operationId: 'create' } },
      '/pets/{id}': { get: { operationId: 'read' }, delete: { operationId: 'remove' } },
      '/owners': { get: { operationId: 'owners' } },
    });
    const chosen = async (entry: object) => namesOf(await describedBy(paths, { prefix: '', ...entry }));
    expect(await chosen({ include: ['GET /pets*'] })).toEqual(['list', 'read']);
    expect(await chosen({ include: ['get /pets'] })).toEqual(['list']);
    expect(await chosen({ include: ['* /pets*'], exclude: ['delete *'] })).toEqual(['list', 'create', 'read']);
    expect(await chosen({ include: ['own*', 'remove'] })).toEqual(['remove', 'owners']);
    expect(await chosen({ include: [] })).toEqual([]);
  });

  it('are reported if a choice matches none of them', async () => {
    const crib = await describedBy(operation({}), { include: ['GET /x', 'GET /y'], exclude: ['nobody'] });
    expect(namesOf(crib)).toEqual(['pets_x']);
    expect(crib.warnings().join(' ')).toMatch(/"GET \/y" matches no operation.*"nobody" matches no operation/s);
  });

  it('are corrected by overrides like the tools of any source', async () => {
    const tool = await toolOf(operation({}, { method: 'post' }), {
      overrides: { 'pets_*': { effects: { readOnly: true } } },
    });
    expect(tool.effects.readOnly).toBe(true);
  });
});

describe('the address of an API', () => {
  const baseOf = async (more: object, entry: Fields = {}) =>
    runOf(await toolOf({ ...operation({}), ...more }, entry)).baseUrl;

  it('is its first server, with the defaults of its variables', async () => {
    const variables = { region: { default: 'eu', enum: ['eu', 'us'] }, port: { default: 8443 } };
    const servers = [{ url: 'https://{region}.pets.test:{port}/v1/', variables }, { url: 'https://other.test' }];
    expect(await baseOf({ servers })).toBe('https://eu.pets.test:8443/v1');
  });

  it('is what the operator says, whatever the description says', async () => {
    expect(await baseOf({ servers: [{ url: 'nonsense' }] }, { baseUrl: 'https://mine.test/api/' })).toBe(
      'https://mine.test/api',
    );
  });

  it('may be set for a path or an operation', async () => {
    const crib = await describedBy(
      api({
        '/a': { servers: [{ url: 'https://path.test' }], get: { operationId: 'a' } },
        '/b': { get: { operationId: 'b', servers: [{ url: 'https://operation.test' }] } },
      }),
    );
    expect(runOf(toolIn(crib, 'pets_a')).baseUrl).toBe('https://path.test');
    expect(runOf(toolIn(crib, 'pets_b')).baseUrl).toBe('https://operation.test');
  });

  it.each([
    ['is not said', { servers: [] }],
    ['is a path, and the description a file', { servers: [{ url: '/v1' }] }],
    ['has a variable without a default', { servers: [{ url: 'https://{x}.test' }] }],
    ['is not a web address', { servers: [{ url: 'ftp://pets.test' }] }],
    ['holds a password', { servers: [{ url: 'https://a:b@pets.test' }] }],
  ])('must be set by the operator if it %s', async (_, more) => {
    const crib = await describedBy({ ...operation({}), ...more });
    expect(namesOf(crib)).toEqual([]);
    expect(crib.warnings().join()).toMatch(/pets: GET \/x is left out: its server .*set baseUrl/);
  });
});
