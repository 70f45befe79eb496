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
  it('adds, lists, exports, changes and removes specs and records who did it', async () => {
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

  it('stores nothing of a file with one bad entry', async () => {
    const shop = createWorkshop({ 'toolcrib.yaml': CONFIG });
    shop.write('two.json', JSON.stringify({ tools: [{ ...SPEC, name: 'good' }, { name: 'not a name' }] }));
    expect(await shop.run(['specs', 'add', 'two.json'])).toMatchObject({ code: 2, stdout: '' });
    expect(await shop.json(['specs'])).toEqual({ specs: [] });
    shop.remove();
  });

  it('checks every entry as loading would, and names the bad ones', async () => {
    const shop = createWorkshop({
      'toolcrib.yaml': `tools: [{ name: taken, run: { kind: http, url: "https://x.test" } }]\nsecrets: { github: { env: X } }\n${CONFIG}`,
    });
    const withInput = (name: string, schema: object) => ({
      ...SPEC,
      name,
      input: { type: 'object', properties: { a: schema } },
    });
    const withRun = (name: string, run: unknown) => ({ ...SPEC, name, run });
    const bad: readonly (readonly [object, string])[] = [
      [{ ...SPEC, name: 'not a name' }, '"not a name" is not a tool name'],
      [{ ...SPEC, inputs: {} }, 'has no "inputs". Did you mean "input"?'],
      [withRun('none', undefined), 'Tool "none" has no run'],
      [withRun('unknown', { kind: 'htpp' }), 'its source allows only http'],
      [withRun('shell', { kind: 'shell', command: ['rm'] }), 'has kind shell, but its source allows only http'],
      [
        withInput('remote', { $ref: 'https://example.com/a.json' }),
        '$ref "https://example.com/a.json" points outside the schema',
      ],
      [withInput('pattern', { type: 'string', pattern: '(a)\\1' }), 'pattern'],
      [withInput('wrong', { type: 'objekt' }), 'objekt'],
      [
        withInput('uncompiled', { minimum: 'x' }),
        'Tool "uncompiled", input: The schema is not valid: /properties/a/minimum',
      ],
      [
        withRun('secret', { kind: 'http', url: 'https://x.test', body: '$' + '{secret:githb}' }),
        'names the secret "githb", which is not declared under secrets. Did you mean "github"?',
      ],
      [{ ...SPEC, name: 'taken' }, '"taken" is already a tool of inline'],
      [{ ...SPEC, name: 'first' }, '"first" appears twice, first as tools[0]'],
      [{ ...SPEC, name: 'search_tools' }, 'reserved'],
    ];
    const tools = [{ ...SPEC, name: 'first' }, ...bad.map(([entry]) => entry), { ...SPEC, name: 'last' }];
    shop.write('many.ndjson', tools.map((entry) => JSON.stringify(entry)).join('\n'));
    const { code, stdout, stderr } = await shop.run(['specs', 'add', 'many.ndjson']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const lines = stderr.split('\n').filter((line) => line.includes('many.ndjson, tools['));
    expect(lines).toHaveLength(bad.length);
    for (const [index, [, sentence]] of bad.entries()) {
      expect(lines[index]).toContain(`many.ndjson, tools[${index + 1}]: `);
      expect(lines[index]).toContain(sentence);
    }
    expect(stderr).toContain('Nothing was stored.');
    expect(await shop.json(['specs'])).toEqual({ specs: [] });
    shop.write('fine.json', JSON.stringify([tools[0], tools.at(-1)]));
    expect(await shop.run(['specs', 'add', 'fine.json'])).toMatchObject({
      code: 0,
      stdout: 'first added\nlast added\n',
    });
    shop.remove();
  });

  it('knows specs by the names that their source gives them, and stores specs without such a source', async () => {
    const prefixed = createWorkshop({ 'toolcrib.yaml': CONFIG.replace('kinds: [http]', 'prefix: my') });
    prefixed.write('pet.json', JSON.stringify(SPEC));
    const added = { code: 0, stdout: 'get_pet added\n', stderr: '' };
    expect(await prefixed.run(['specs', 'add', 'pet.json'])).toEqual(added);
    prefixed.write('toolcrib.yaml', 'store: { url: "sqlite:.toolcrib/other.db" }\n');
    expect(await prefixed.run(['specs', 'add', 'pet.json'])).toEqual({
      ...added,
      stderr: expect.stringContaining('Stored, but not available as tools: get_pet.'),
    });
    prefixed.remove();
  });

  it.each([
    [['specs', 'add'], 2, 'needs a FILE'],
    [['specs', 'drop', 'x'], 2, 'specs takes add, remove, export or history'],
    [['specs', 'remove', 'absent'], 1, 'The spec "absent" was not found in the store.'],
    [['specs', 'history', 'absent'], 1, 'The spec "absent" has no history in the store.'],
    [['specs', 'add', 'absent.yaml'], 2, 'absent.yaml does not exist.'],
  ])('%j is answered with a sentence', async (args, code, sentence) => {
    const ran = await shop.run(args);
    expect(ran).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(sentence) });
  });
});
