// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so are variables written
import { describe, expect, it } from 'vitest';
import { readConfigObject } from '../../src/crib/config/load-config.ts';
import { loadYaml, messageOf, mistakesIn } from './write.ts';

describe('YAML that does not parse is an error with its place', () => {
  it.each([
    [
      'tabs as indentation',
      'server:\n\tport: 1\n',
      /:2:1: Tabs are not allowed as indentation\.\n {2}2 \| {2}port: 1\n {4}\| \^/,
    ],
    [
      'a key that stands twice',
      'server: {}\nstore: { url: "sqlite:a" }\nserver: {}\n',
      /:3:1: "server" appears twice; keep one\./,
    ],
    [
      'a key that stands twice deeper down',
      'profiles: { a: { expose: all, expose: all } }',
      /:1:31: "expose" appears twice/,
    ],
    ['a key that stands twice in JSON', '{"tools": [],\n "tools": []}', /:2:2: "tools" appears twice/],
    ['an opened bracket', 'profiles: { a: {', /:1:17: Flow map .* must .* end with a \}\./],
    ['a map inside a line', 'server: port: 1', /:1:9: Nested mappings are not allowed/],
    [
      'several documents',
      'server: {}\n---\nstore: {}\n',
      /:2:1: A configuration must be a single YAML document; remove this "---"\./,
    ],
    ['an unknown tag', 'defaultProfile: !!js/function "x"', /:1:17: Unresolved tag/],
    ['binary data', 'defaultProfile: !!binary aGk=', /:1:26: Only text, numbers, true, false/],
    ['an alias of nothing', 'defaultProfile: *a', /alias/i],
    ['a name that is a list', '? [a]\n: 1\n', /:1:3: The key is missing or is not a string\./],
    ['a name that is missing', ': 1\n', /The key is missing/],
    ['a merge of something else', 'server: { <<: 1 }', /:1:11: The merge key << takes a map, or a list of maps/],
    [
      'a name that would change all objects',
      'server: { __proto__: { port: 1 } }',
      /:1:11: "__proto__" is not allowed as a name/,
    ],
  ])('%s', async (_, text, message) => {
    expect(await mistakesIn(text)).toMatch(message);
  });

  it('and all such errors are reported, up to twenty', async () => {
    expect((await mistakesIn('a: b: c\nd: e: f\n')).match(/Nested mappings/g)).toHaveLength(2);
    expect((await mistakesIn('\ta: 1\n'.repeat(50))).match(/toolcrib\.yaml:\d+/g)).toHaveLength(20);
  });
});

describe('aliases', () => {
  it('are replaced by their anchors', async () => {
    const { config } = await loadYaml(
      'profiles:\n  a: &a { expose: search, active: &b [x] }\n  b: *a\n  c: { essential: *b }\n',
    );
    expect(config.profiles).toEqual({
      a: { expose: 'search', active: ['x'] },
      b: { expose: 'search', active: ['x'] },
      c: { essential: ['x'] },
    });
  });

  it('may be merged, and written keys win', async () => {
    const text =
      'profiles:\n  a: &a { expose: search, active: x }\n  b: { <<: [*a, { active: y, essential: z }], expose: all }\n';
    const { config } = await loadYaml(text);
    expect(config.profiles?.b).toEqual({ expose: 'all', active: 'x', essential: 'z' });
  });

  it('cannot multiply without end', async () => {
    const levels = Array.from({ length: 30 }, (_, index) => `  l${index}: &l${index} [${`*l${index - 1},`.repeat(9)}]`);
    const text = `profiles:\n a:\n  settings:\n${levels.map((line) => `  ${line}`).join('\n')}`;
    expect(await mistakesIn(text.replace(/\*l-1/g, 'x'))).toMatch(/The aliases expand to more than 100000 values/);
  });

  it('cannot multiply by being merged', async () => {
    const levels = Array.from(
      { length: 30 },
      (_, index) => `l${index}: &l${index} { a: *l${index - 1}, b: *l${index - 1} }`,
    );
    const text = `mcpServers: {${levels.join(',')}}`.replace(/\*l-1/g, 'x');
    expect(await mistakesIn(text)).toMatch(/The aliases expand to more than/);
  });

  it('refer to the last anchor of that name', async () => {
    const text = 'profiles:\n  a: &x { expose: none }\n  b: { <<: *x }\n  c: &x { expose: all }\n  d: { <<: *x }\n';
    expect((await mistakesIn(text)).match(/toolcrib\.yaml:\d+:\d+: profiles\.\w/g)).toEqual([
      'toolcrib.yaml:2:19: profiles.a',
      'toolcrib.yaml:2:19: profiles.b',
    ]);
    expect(await mistakesIn('profiles:\n  a: &x {}\n  b: &x { <<: *x, zz: 1 }\n')).toMatch(
      /:3:15: The alias \*x refers to a value that contains it/,
    );
  });

  it('cannot refer to themselves', async () => {
    expect(await mistakesIn('profiles: { a: &a { settings: { b: *a } } }')).toMatch(
      /:1:36: The alias \*a refers to a value that contains it/,
    );
  });
});

describe('data that is nested too deeply is refused', () => {
  it.each([
    ['in brackets', `profiles: { a: { settings: { b: ${'['.repeat(3000)}${']'.repeat(3000)} } } }`],
    ['in brackets that stay open', '['.repeat(100_000)],
    ['in braces', `mcpServers: ${'{a: '.repeat(3000)}1${'}'.repeat(3000)}`],
    ['in lines', Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['in dashes', '- '.repeat(20_000)],
    ['as deep as a walk goes', `profiles: { a: { settings: { b: ${'['.repeat(120)}${']'.repeat(120)} } } }`],
  ])('%s', async (_, text) => {
    expect(await mistakesIn(text)).toMatch(
      /^toolcrib\.yaml:\d+:\d+: The configuration is nested too deeply; at most 100 levels are allowed\.\n/,
    );
  });

  it('in an object', async () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 150; depth++) deep = { deep };
    const loading = readConfigObject({ profiles: { a: { settings: { deep } } } }, { folder: '/', env: {} });
    expect(await messageOf(loading)).toMatch(/is nested deeper than 100 levels/);
  });
});

describe('YAML is read as version 1.2', () => {
  it('no, on and yes are texts, and so are dates', async () => {
    const settings = 'a: no, b: on, c: yes, d: 2024-01-01, e: 12:30, f: 0o17, g: "1"';
    const { config } = await loadYaml(`profiles: { p: { settings: { ${settings} } } }`);
    expect(config.profiles?.p?.settings).toEqual({
      a: 'no',
      b: 'on',
      c: 'yes',
      d: '2024-01-01',
      e: '12:30',
      f: 15,
      g: '1',
    });
  });

  it('a bundle named no is named no', async () => {
    const { config } = await loadYaml('bundles: { no: { include: a }, on: { requires: no } }');
    expect(config.bundles).toEqual({ no: { include: 'a' }, on: { requires: 'no' } });
  });

  it('numbers that JSON does not have are refused in free data, too', async () => {
    expect(await mistakesIn('profiles: { p: { settings: { a: .inf } } }')).toMatch(
      /settings\.a is Infinity, which JSON cannot represent/,
    );
  });

  it('names that look like numbers or booleans are texts', async () => {
    const { config } = await loadYaml('profiles: { p: { settings: { 1: a, true: b } } }');
    expect(config.profiles?.p?.settings).toEqual({ '1': 'a', true: 'b' });
  });
});

describe('a configuration as an object', () => {
  it.each([
    ['a function', { services: { a: () => 1 } }, /must be plain data: \/services\/a is a function/],
    ['one that contains itself', circular(), /must be plain data: \/tools\/0 contains itself/],
    ['a list', [], /the configuration must be a map, got a list/],
    ['null', null, /the configuration is empty; it must be a map/],
    ['a text', 'x', /the configuration must be a map, got "x"/],
    ['a forged prototype', JSON.parse('{"server":{"__proto__":{"port":1}}}'), /__proto__.* is not allowed as a name/],
  ])('is plain data, not %s', async (_, value, message) => {
    expect(await messageOf(readConfigObject(value, { folder: '/', env: {} }))).toMatch(message);
  });

  it('is not changed', async () => {
    const value = { sources: { a: { files: './a' } } };
    await readConfigObject(value, { folder: '/', env: {} });
    expect(value).toEqual({ sources: { a: { files: './a' } } });
    expect(Object.isFrozen(value)).toBe(false);
  });

  it('may have members that are undefined', async () => {
    const { config } = await readConfigObject({ store: undefined, tools: [] }, { folder: '/', env: {} });
    expect(config).toEqual({ tools: [], sources: {} });
  });
});

function circular(): unknown {
  const tools: unknown[] = [];
  tools.push(tools);
  return { tools };
}
