import { existsSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { RUN } from '../../src/core/tool-spec.ts';
import { done, type Executor } from '../../src/index.ts';
import { files } from '../../src/sources/files.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeWorkspace, openCrib, yamlOf } from './files-workspace.ts';
import {
  createHandClock,
  createShelf,
  isByIndex,
  largeText,
  lineOf,
  lookAt,
  startOver,
  wholeOf,
} from './indexed-workspace.ts';

const shortText = fc.string({ unit: 'binary', maxLength: 12 });
const words = fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 3 });
const schema = fc.constantFrom<object>(
  { type: 'object' },
  { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  { type: 'object', properties: { path: { type: 'string', pattern: '^a+$' } } },
  { type: 'object', properties: { tree: { $ref: '#/$defs/tree' } }, $defs: { tree: { type: 'string' } } },
);
const effects = fc.dictionary(fc.constantFrom('readOnly', 'destructive', 'idempotent', 'openWorld'), fc.boolean());
const policy = fc.constantFrom<object>(
  {},
  { timeoutMs: 10 },
  { retries: 0, timeoutMs: 10 },
  { timeoutMs: 10, retries: 0 },
  { approval: 'always', access: { roles: ['admin'] } },
  { access: [{ roles: ['admin'] }], approval: 'always', approvers: 'operator' },
  { rates: [{ scope: 'caller', amount: 5, perMs: 1000 }] },
);

/** An entry as people write it; most of them are good. */
const entry = fc.record(
  {
    name: fc.oneof({ weight: 9, arbitrary: fc.stringMatching(/^[a-z]{1,2}$/) }, shortText),
    run: fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('http', 'shell'), url: shortText, file: shortText }) },
      fc.constantFrom<unknown>({ kind: 'python', module: './tool.py', cwd: 'here' }, { kind: 'http', parse: 1 }, 7, {}),
      fc.constantFrom<unknown>({ kind: 'http', url: `/a/\${secret:token}` }, { kind: 'http', url: `\${HOST}/$\${x}` }),
    ),
    title: shortText,
    description: shortText,
    input: schema,
    output: schema,
    effects,
    policy,
    category: shortText,
    tags: words,
    version: shortText,
    instructions: shortText,
    requires: fc.oneof(words, fc.stringMatching(/^[a-z]$/)),
    priority: fc.oneof(fc.double(), fc.constantFrom<unknown>(-0, 'high', { first: true })),
    examples: fc.array(fc.record({ request: shortText, input: fc.dictionary(shortText, fc.integer()) })),
    when: fc.constantFrom<object>({ env: 'HOME' }, { platform: ['linux', 'darwin'] }, { service: 'mail' }),
    meta: fc.dictionary(shortText, fc.jsonValue()),
    needs: words,
  },
  { requiredKeys: ['name', 'run'] },
);
const legacy = fc.record({
  name: fc.stringMatching(/^[a-z]{1,2}$/),
  description: shortText,
  tool_type: fc.constantFrom('HTTP', 'PYTHON', 'SHELL', 7),
  input_schema: schema,
  implementation_config: fc.constantFrom<object>({ url: '/{a}' }, { command: 'ls {path}' }, { module: './a' }),
  metadata: fc.record({ tags: words, is_dangerous: fc.boolean(), permissions: words, cost: fc.integer() }),
});
const line = fc.oneof(
  { weight: 8, arbitrary: entry.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: legacy.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '\t',
      '{',
      '{"name":"a",',
      '{"name":"p","priority":1e999,"run":{"kind":"http"}}',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('{"name":"s","run":{"kind":"http","url":"\\u0024{HOST}"}}', '{"name":"__proto__"}'),
  },
);

const ECHO: Executor = {
  kind: 'echo',
  runSchema: { type: 'object', required: ['word'] },
  execute: (_, { word }) => done(String(word)),
};

const readRunText = (text: string) => ({ text: text.replaceAll(`\${HOST}`, 'https://example.com') });

describe('a large file', () => {
  it('is listed by its index as it is without one', async () => {
    const workspace = makeWorkspace();
    let byIndex = 0;
    const check = async (lines: readonly string[], lineBreak: string, mark: string) => {
      const path = workspace.write('tools.ndjson', mark + largeText(lines, lineBreak));
      const indexes = createShelf();
      const without = await startOver(path, { readRunText });
      const first = await startOver(path, { readRunText, indexes });
      await first.live.close();
      const second = await startOver(path, { readRunText, indexes });
      expect(isByIndex(second.live.specs().at(-1))).toBe(true);
      byIndex += second.live.specs().filter(isByIndex).length;
      expect(second.live.specs().every((spec) => Object.isFrozen(spec))).toBe(true);
      const policies = second.live.specs().map((spec) => spec.policy);
      expect(lookAt(second)).toStrictEqual(lookAt(without));
      expect(lookAt(first)).toStrictEqual(lookAt(without));
      expect(JSON.parse(JSON.stringify(second.live.specs()))).toEqual(JSON.parse(JSON.stringify(without.live.specs())));
      for (const [index, spec] of without.live.specs().entries()) {
        const same = without.live.specs().findIndex((other) => other.policy === spec.policy);
        expect(policies[index]).toBe(policies[same]);
      }
      expect(indexes.log).toEqual(['get', 'put', 'get']);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n'),
        fc.constantFrom('', '\ufeff'),
        check,
      ),
      { numRuns: 60 },
    );
    expect(byIndex).toBeGreaterThan(120);
  });

  it('makes an equal crib with and without one', async () => {
    const lines = [
      lineOf('plain', { tags: ['a'], category: 'files', effects: { readOnly: true }, policy: { approval: 'always' } }),
      lineOf('remote', { input: { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } } }),
      lineOf('local', { input: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: {} } } }),
      lineOf('mail', { needs: ['smtp', 'setting:address'], requires: ['nowhere', 'plain'] }),
      lineOf('absent', { when: { env: 'TOOLCRIB_TEST_NEVER_SET' } }),
      lineOf('strange', { run: { kind: 'carrier_pigeon' } }),
      lineOf('forbidden', { run: { kind: 'shell', command: ['ls'] } }),
      lineOf('plain', { description: 'The second' }),
      lineOf('bad', { descripton: '' }),
      lineOf('first', { priority: 5 }),
    ];
    const path = makeWorkspace().write('tools.ndjson', largeText(lines));
    const indexes = createShelf();
    const look = async (options: { readonly indexes?: typeof indexes }) => {
      const source = files({ name: 'large', path, kinds: ['http', 'carrier_pigeon'], ...options });
      const profiles = { some: { include: ['kind:http', 'tag:a'], exclude: ['category:files'] } };
      const crib = await openCrib({ sources: [source], profiles });
      const shown = (await (await crib.open('some', { roles: [] })).list()).map((spec) => spec.name);
      const { specs, held } = crib.catalog;
      const seen = {
        specs: specs.map(wholeOf),
        held,
        shown,
        bundles: crib.bundles.info('large'),
        warnings: crib.warnings(),
      };
      await crib.close();
      return seen;
    };
    const without = await look({});
    expect(without.specs.length).toBe(5);
    expect(await look({ indexes })).toEqual(without);
    expect(await look({ indexes })).toEqual(without);
    expect(indexes.log).toEqual(['get', 'put', 'get']);
  });

  it('is not parsed when a crib starts, but line by line on use', async () => {
    const path = makeWorkspace().write('tools.ndjson', largeText([lineOf('a', { needs: ['x'] }), lineOf('b')]));
    const indexes = createShelf();
    await (await openCrib({ sources: [files({ name: 'large', path, indexes })] })).close();
    const parse = vi.spyOn(JSON, 'parse');
    const parsed = () =>
      parse.mock.calls.filter(([text]) => text.startsWith('{"name"')).map(([text]) => JSON.parse(text).name);
    const crib = await openCrib({ sources: [files({ name: 'large', path, indexes })] });
    expect(crib.match({ kind: 'http' }).map((spec) => spec.name)).toEqual(['a', 'b', 'padding']);
    expect(crib.warnings()).toEqual(['Tool "a" needs the service "x", which is not configured.']);
    expect(parsed()).toEqual([]);
    expect(crib.get('b')?.description).toBe('Does b');
    expect(crib.get('b')?.input).toBe(crib.get('b')?.input);
    expect(parsed()).toEqual(['b']);
    parse.mockRestore();
  });

  it('runs its tools as the file says', async () => {
    const path = makeWorkspace().write(
      'tools.ndjson',
      largeText([lineOf('a', { run: { kind: 'echo', word: 'hello' } })]),
    );
    const indexes = createShelf();
    for (const isKnown of [false, true]) {
      const crib = await openCrib({ sources: [files({ name: 'large', path, indexes })], executors: [ECHO] });
      expect(isByIndex(crib.get('a'))).toBe(isKnown);
      const chest = await crib.openAll();
      expect(await chest.call('a', {})).toMatchObject({ ok: true, content: [{ text: 'hello' }] });
      await crib.close();
    }
  });

  it('is checked again by a crib with other executors', async () => {
    const lines = [lineOf('good', { run: { kind: 'echo', word: 'hello' } }), lineOf('bad', { run: { kind: 'echo' } })];
    const path = makeWorkspace().write('tools.ndjson', largeText(lines));
    const indexes = createShelf();
    const lax = { ...ECHO, runSchema: {} };
    const look = async (executor: Executor) => {
      const crib = await openCrib({ sources: [files({ name: 'large', path, indexes })], executors: [executor] });
      const seen = crib.catalog.specs.map((spec) => [spec.name, isByIndex(spec)]);
      const warnings = crib.warnings();
      await crib.close();
      return { seen, warnings };
    };
    const all = ['good', 'bad', 'padding'];
    expect(await look(lax)).toEqual({ seen: all.map((name) => [name, false]), warnings: [] });
    expect(await look(lax)).toEqual({ seen: all.map((name) => [name, true]), warnings: [] });
    const complaint = [expect.stringContaining('Tool "bad" of kind echo: run')];
    const some = ['good', 'padding'];
    expect(await look(ECHO)).toEqual({ seen: some.map((name) => [name, false]), warnings: complaint });
    expect(await look(ECHO)).toEqual({ seen: some.map((name) => [name, true]), warnings: complaint });
  });

  it('shows its content of the listing, whatever happens to it before its use', async () => {
    const workspace = makeWorkspace();
    const path = workspace.write('tools.ndjson', largeText([lineOf('a'), lineOf('b')]));
    const indexes = createShelf();
    await (await startOver(path, { indexes })).live.close();
    const { live } = await startOver(path, { indexes });
    workspace.write('tools.ndjson', largeText([lineOf('b'), lineOf('a', { run: { kind: 'shell', command: ['rm'] } })]));
    expect(live.specs()[0]).toMatchObject({
      name: 'a',
      description: 'Does a',
      [RUN]: { kind: 'http', url: 'https://x.test/a' },
    });
    workspace.write('tools.ndjson', '');
    expect(live.specs()[1]).toMatchObject({
      name: 'b',
      description: 'Does b',
      [RUN]: { kind: 'http', url: 'https://x.test/b' },
    });
  });

  it('is read again when it has changed, and so is its index', async () => {
    const workspace = makeWorkspace();
    const path = workspace.write('tools.ndjson', largeText([lineOf('a'), lineOf('b')]));
    const indexes = createShelf();
    const { live } = await startOver(path, { indexes });
    const before = live.specs();
    workspace.write('tools.ndjson', largeText([lineOf('a'), lineOf('c')]));
    await live.refresh?.();
    expect(live.specs().map((spec) => spec.name)).toEqual(['a', 'c', 'padding']);
    expect(live.specs()[0]).toBe(before[0]);
    await live.close();
    const again = await startOver(path, { indexes });
    expect(again.live.specs().map((spec) => [spec.name, isByIndex(spec)])).toEqual([
      ['a', true],
      ['c', true],
      ['padding', true],
    ]);
    workspace.write('tools.ndjson', largeText([lineOf('a', { title: 'New' }), lineOf('c')]));
    const [a, c] = again.live.specs();
    await again.live.refresh?.();
    expect(again.live.specs()[0]).toMatchObject({ name: 'a', title: 'New' });
    expect(again.live.specs()[0]).not.toBe(a);
    expect(again.live.specs()[1]).toBe(c);
  });

  it('that is equal after a reload keeps its specs', async () => {
    const path = makeWorkspace().write('tools.ndjson', largeText([lineOf('a')]));
    const indexes = createShelf();
    await (await startOver(path, { indexes })).live.close();
    const { live } = await startOver(path, { indexes });
    const before = live.specs();
    await live.refresh?.();
    expect(live.specs()).toBe(before);
    await live.close();
    expect(indexes.log).toEqual(['get', 'put', 'get']);
  });
});

describe('a priority that JSON does not keep', () => {
  it('is read from the file, whatever others have', async () => {
    const priorities = ['0', '-0', 'null', '1e999', '"0"'];
    const lines = priorities.map((text, index) => lineOf(`p${index}`, { priority: 7 }).replace(':7', `:${text}`));
    const path = makeWorkspace().write('tools.ndjson', largeText(lines));
    const indexes = createShelf();
    await (await startOver(path, { indexes })).live.close();
    const { live } = await startOver(path, { indexes });
    expect(live.specs().map(({ priority }) => priority)).toEqual([0, -0, null, Infinity, '0', undefined]);
  });
});

describe('references of a line', () => {
  const LINES = [
    lineOf('host', { run: { kind: 'http', url: `\${HOST}/a` } }),
    lineOf('token', { run: { kind: 'http', url: `/\${secret:token}` } }),
    lineOf('escaped', { run: { kind: 'http', url: `\${HOST}/b` } }).replace('$', '\\u0024'),
    lineOf('half', { run: { kind: 'http', url: `\${HOST}/c` } }).replace('${', '$\\u007B'),
    lineOf('price', { description: 'Costs $5' }),
  ];

  it('are resolved at every start, so that a missing target is a problem as it is without an index', async () => {
    const path = makeWorkspace().write('tools.ndjson', largeText(LINES));
    const indexes = createShelf();
    const missing = (what: string) => (text: string) =>
      text.includes(what) ? { mistakes: [`names ${what}, which is missing.`] } : { text };
    await (await startOver(path, { indexes, readRunText: missing('nothing') })).live.close();
    const fine = await startOver(path, { indexes, readRunText: missing('nothing') });
    expect(fine.live.specs().map(isByIndex)).toEqual([false, true, false, false, true, true]);
    for (const what of [`\${HOST}`, `\${secret:token}`]) {
      const readRunText = missing(what);
      expect(lookAt(await startOver(path, { indexes, readRunText }))).toEqual(
        lookAt(await startOver(path, { readRunText })),
      );
    }
  });
});

describe('a store of indexes', () => {
  const large = () => makeWorkspace().write('tools.ndjson', largeText([lineOf('a')]));

  it('is not used for small files, nor for other formats', async () => {
    const workspace = makeWorkspace();
    workspace.write('small.ndjson', lineOf('a'));
    workspace.write('large.yaml', `tools: [] #${'x'.repeat(1_000_000)}`);
    workspace.write('large.json', JSON.stringify({ tools: [], rest: 'x'.repeat(1_000_000) }));
    const indexes = createShelf();
    const { live } = await startOver(workspace.path, { indexes });
    await live.close();
    expect([live.specs().length, indexes.log]).toEqual([1, []]);
  });

  it('is written after the start, when the process is idle', async () => {
    const path = large();
    const indexes = createShelf();
    const clock = createHandClock();
    await startOver(path, { indexes }, clock);
    expect(indexes.log).toEqual(['get']);
    const put = indexes.nextPut();
    clock.runTimers();
    await put;
  });

  it('is written before the source is closed, once', async () => {
    const indexes = createShelf();
    const { live } = await startOver(large(), { indexes });
    await Promise.all([live.close(), live.close()]);
    expect(indexes.log).toEqual(['get', 'put']);
  });

  it('that fails only costs speed', async () => {
    const path = large();
    const failure = async () => {
      throw new Error('the disk is gone');
    };
    const puts: string[] = [];
    const unreadable = { get: failure, put: async (file: string) => void puts.push(file) };
    const unwritable = { ...createShelf(), put: failure };
    const broken = {
      ...unreadable,
      get() {
        throw new TypeError('this store is not even a promise');
      },
    };
    for (const indexes of [unreadable, unwritable, broken]) {
      const started = await startOver(path, { indexes });
      expect(lookAt(started)).toEqual(lookAt(await startOver(path)));
      await started.live.close();
    }
    expect(puts).toEqual([]); // the start does not wait for a store that does not answer
  });

  it('that does not answer is not awaited', async () => {
    const path = large();
    const clock = createHandClock();
    const asked = Promise.withResolvers<void>();
    const get = () => {
      asked.resolve();
      return new Promise<undefined>(() => {});
    };
    const starting = startOver(path, { indexes: { get, put: () => Promise.reject(new Error()) } }, clock);
    await asked.promise;
    clock.runTimers();
    expect((await starting).live.specs().map((spec) => spec.name)).toEqual(['a', 'padding']);
  });

  it('is a store', () => {
    for (const indexes of [{}, null, 'memory:', { get() {} }])
      expect(() => files({ name: 'large', path: '.', indexes: indexes as never })).toThrow(
        'indexes must be an object with get() and put()',
      );
  });
});

describe('a crib with a configuration', () => {
  const CONFIGURATION = 'sources:\n  local: { files: ./tools }\n';

  it('stores the index of a large file, and starts with it', async () => {
    const workspace = makeWorkspace();
    workspace.write('toolcrib.yaml', CONFIGURATION);
    workspace.write('tools/large.ndjson', largeText([lineOf('a')]));
    workspace.write('tools/small.yaml', yamlOf('b'));
    await (await openStore({ configFolder: workspace.path, env: {} })).close(); // a new one takes longer
    const open = () => openCrib({ configFile: workspace.path });
    const first = await open();
    expect(first.catalog.specs.map(isByIndex)).toEqual([false, false, false]);
    await first.close();
    const second = await open();
    expect(second.catalog.specs.map(isByIndex)).toEqual([true, true, false]);
    expect(second.catalog.specs).toEqual(first.catalog.specs);
  });

  it.each(['prefix: x', 'settings: { a: 1 }', 'trust: false'])(
    'stores no index if %s has every line parsed anyway',
    async (setting) => {
      const workspace = makeWorkspace();
      workspace.write('toolcrib.yaml', `sources:\n  local: { files: ./tools, ${setting} }\n`);
      workspace.write('tools/large.ndjson', largeText([lineOf('a')]));
      await (await openCrib({ configFile: workspace.path })).close();
      expect(existsSync(workspace.at('.toolcrib'))).toBe(false);
    },
  );

  it('opens no store for small files', async () => {
    const workspace = makeWorkspace();
    workspace.write('toolcrib.yaml', CONFIGURATION);
    workspace.write('tools/small.ndjson', lineOf('a'));
    await (await openCrib({ configFile: workspace.path })).close();
    expect(existsSync(workspace.at('.toolcrib'))).toBe(false);
  });
});
