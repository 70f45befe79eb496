import { afterAll, describe, expect, it } from 'vitest';
import { createWorkshop } from './workshop.ts';

const CONFIG = 'sources:\n  stored: { database: true, kinds: [http] }\nstore: { url: "sqlite:.toolcrib/crib.db" }\n';
const SPEC = {
  name: 'get_pet',
  description: 'One pet',
  input: { type: 'object', properties: {} },
  run: { kind: 'http', method: 'GET', url: 'https://example.com/pet' },
};
const shop = createWorkshop({ 'toolcrib.yaml': CONFIG, 'pet.yaml': `tools:\n  - ${JSON.stringify(SPEC)}\n` });
afterAll(shop.remove);

describe('toolcrib specs', () => {
  it('adds, lists, exports, changes and removes specs and remembers who did', async () => {
    expect(await shop.run(['specs', 'add', 'pet.yaml'])).toEqual({ code: 0, stdout: 'get_pet added\n', stderr: '' });
    expect(await shop.run(['specs', 'add', 'pet.yaml'])).toMatchObject({ stdout: 'get_pet unchanged\n' });
    expect((await shop.run(['list'])).stdout).toMatch(/get_pet +http +stored/);
    const exported = await shop.run(['specs', 'export']);
    expect(JSON.parse(exported.stdout)).toEqual({ tools: [SPEC] });
    const changed = exported.stdout.replace('One pet', 'A pet');
    expect(await shop.run(['specs', 'add', '-'], { input: changed })).toMatchObject({ stdout: 'get_pet changed\n' });
    expect(await shop.run(['specs', 'remove', 'get_pet'])).toMatchObject({ code: 0, stdout: 'get_pet removed\n' });
    expect(await shop.run(['list'])).toMatchObject({ code: 0, stdout: '' });
    expect(await shop.json(['specs', 'history', 'get_pet'])).toMatchObject({
      changes: [{ what: 'added' }, { what: 'changed' }, { what: 'removed', by: expect.stringMatching(/^cli/) }],
    });
  });

  it('stores nothing of a file that holds one bad entry', async () => {
    const shop = createWorkshop({ 'toolcrib.yaml': CONFIG });
    shop.write('two.json', JSON.stringify({ tools: [{ ...SPEC, name: 'good' }, { name: 'not a name' }] }));
    expect(await shop.run(['specs', 'add', 'two.json'])).toMatchObject({ code: 2, stdout: '' });
    expect(await shop.json(['specs'])).toEqual({ specs: [] });
    shop.remove();
  });

  it.each([
    [['specs', 'add'], 2, 'needs a FILE'],
    [['specs', 'drop', 'x'], 2, 'specs takes add, remove, export or history'],
    [['specs', 'remove', 'absent'], 1, 'No spec "absent" is stored.'],
    [['specs', 'history', 'absent'], 1, 'Nothing was ever stored under "absent".'],
    [['specs', 'add', 'absent.yaml'], 2, 'absent.yaml does not exist.'],
  ])('%j is answered with a sentence', async (args, code, sentence) => {
    const ran = await shop.run(args);
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(sentence) });
  });
});
