import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KindTraits } from '../../src/core/ports/extension-ports.ts';
import { RUN, type ToolSpec } from '../../src/core/tool-spec.ts';
import { toToolSpec } from '../../src/define/define-tool.ts';
import { createSpecAdoption } from '../../src/specs/fast-reader.ts';
import { createEntryReader } from '../../src/specs/spec-entry.ts';

const json = () => fc.jsonValue({ maxDepth: 3 });
/** Mostly what is meant, now and then anything. */
const mostly = <T>(meant: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 30, arbitrary: meant }, { weight: 1, arbitrary: json() });
const text = () => mostly(fc.string());
const schema = () =>
  mostly(
    fc.oneof(
      {
        weight: 9,
        arbitrary: fc.record({ type: fc.constant('object'), properties: fc.dictionary(fc.string(), json()) }),
      },
      {
        weight: 1,
        arbitrary: fc.constant({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }),
      },
    ),
  );
const claim = () => mostly(fc.boolean());
const claims = { readOnly: claim(), destructive: claim(), idempotent: claim(), openWorld: claim() };
const policies = fc.oneof(
  fc.record({ timeoutMs: fc.integer({ min: -1, max: 20 }) }),
  fc.constant({ approval: 'always' }),
);
const runs = fc.record({ kind: fc.constant('http'), url: json(), headers: json() }, { requiredKeys: ['kind'] });
const entries = fc
  .record(
    {
      name: mostly(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,47}$/)),
      title: text(),
      description: text(),
      input: schema(),
      output: schema(),
      effects: mostly(fc.record(claims, { requiredKeys: [] })),
      policy: mostly(policies),
      category: text(),
      tags: mostly(fc.array(fc.string({ minLength: 1 }))),
      version: text(),
      instructions: text(),
      meta: mostly(fc.dictionary(fc.string(), json())),
      run: mostly(runs),
    },
    { requiredKeys: ['name', 'run'] },
  )
  .chain((entry) =>
    fc.oneof(
      { weight: 9, arbitrary: fc.constant(entry) },
      fc.record({ requires: json(), toJSON: json() }).map((more) => ({ ...entry, ...more })),
    ),
  );

function attempt(read: () => ToolSpec | undefined): unknown {
  try {
    const spec = read();
    return spec && { ...spec, run: { ...spec[RUN] } };
  } catch (error) {
    return String(error);
  }
}

function isFrozenThrough(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Reflect.ownKeys(value).every((key) => isFrozenThrough(Reflect.get(value, key)));
}

function requireSealed(spec: ToolSpec): void {
  if (!isFrozenThrough(spec)) throw new Error('it can be changed');
  if (inspect(spec[RUN]) !== '[run]' || JSON.stringify(spec[RUN]) !== '"[run]"') throw new Error('its run shows');
}

describe('an entry that is used in place', () => {
  it('gives the spec that copying it would have given, or is copied', () => {
    let adopted = 0;
    const adopt = createSpecAdoption('local');
    fc.assert(
      fc.property(entries, (entry) => {
        const [parsed, other] = [JSON.parse(JSON.stringify(entry)), JSON.parse(JSON.stringify(entry))];
        const expected = attempt(() => toToolSpec(other, 'local'));
        const outcome = attempt(() => {
          const spec = adopt(parsed);
          if (spec !== undefined) requireSealed(spec);
          return spec;
        });
        if (outcome === undefined) return;
        adopted += 1;
        expect(outcome).toEqual(expected);
      }),
      { numRuns: 500 },
    );
    expect(adopted).toBeGreaterThan(100);
  });

  it('is used in place in the ordinary case, so that a hundred thousand of them load quickly', () => {
    const entry = {
      name: 'a',
      description: 'b',
      input: { type: 'object' },
      tags: ['x'],
      run: { kind: 'http', url: 'https://x' },
    };
    expect(createSpecAdoption('local')(entry)?.input).toBe(entry.input);
  });

  it('may name a field of its run like a method of every object', () => {
    const spec = createEntryReader({ source: 'local' })({ name: 'a', run: { kind: 'x', toJSON: 'y' } });
    expect({ ...spec[RUN] }).toEqual({ kind: 'x', toJSON: 'y' });
  });

  it('shares equal effects and policies', () => {
    const adopt = createSpecAdoption('local');
    const make = () => adopt({ name: 'a', effects: { readOnly: true }, policy: { retries: 2 }, run: { kind: 'http' } });
    expect(make()?.effects).toBe(make()?.effects);
    expect(make()?.policy).toBe(make()?.policy);
  });

  it('does not share a policy with the one before it', () => {
    const read = createEntryReader({ source: 'local' });
    read({ name: 'a', policy: { retries: 2 }, run: { kind: 'http' } });
    expect(() => read({ name: 'b', policy: { retries: -2 }, run: { kind: 'http' } })).toThrow('tool "b": retries');
  });
});

describe('relative paths of a run', () => {
  const read = (run: object) => createEntryReader({ source: 'local', folder: '/etc/crib' })({ name: 'a', run })[RUN];

  it('start from the folder of the file that names them', () => {
    expect(
      read({
        kind: 'shell',
        command: ['ls'],
        cwd: './workspace',
        sandbox: { read: ['./a', '/b'], write: 'c', network: false },
      }),
    ).toMatchObject({
      cwd: '/etc/crib/workspace',
      sandbox: { read: ['/etc/crib/a', '/b'], write: '/etc/crib/c', network: false },
    });
    expect(read({ kind: 'shell', command: ['ls'], cwd: 'workspace' })).toMatchObject({ cwd: '/etc/crib/workspace' });
    expect(read({ kind: 'script', file: 'scripts/a.js' })).toMatchObject({ file: '/etc/crib/scripts/a.js' });
    expect(read({ kind: 'function', module: '../tools.ts', export: 'add' })).toMatchObject({ module: '/etc/tools.ts' });
  });

  it('exclude names of packages, absolute paths, and texts that begin with a placeholder', () => {
    expect(read({ kind: 'python', module: 'file_tools', function: 'read' })).toMatchObject({ module: 'file_tools' });
    expect(read({ kind: 'function', module: '@acme/tools', export: 'a' })).toMatchObject({ module: '@acme/tools' });
    expect(read({ kind: 'shell', command: ['ls'], cwd: '/srv' })).toMatchObject({ cwd: '/srv' });
    expect(read({ kind: 'shell', command: ['ls'], cwd: '{folder}/x' })).toMatchObject({ cwd: '{folder}/x' });
  });

  it('are those that the kind names, on every read', () => {
    const traitsOf = (kind: string): KindTraits =>
      kind === 'mine' ? { pathFields: ['where', 'box.in'], findsModules: 'byName' } : {};
    const readMine = createEntryReader({ source: 'local', folder: '/etc/crib', traitsOf });
    const run = { kind: 'mine', where: 'a', box: { in: ['b', '/c'], out: 'd' }, cwd: 'e', module: 'name' };
    for (const name of ['first', 'second'])
      expect(readMine({ name, run: structuredClone(run) })[RUN]).toEqual({
        ...run,
        where: '/etc/crib/a',
        box: { in: ['/etc/crib/b', '/c'], out: 'd' },
        folder: '/etc/crib',
      });
    expect(readMine({ name: 'other', run: { kind: 'other', cwd: 'e', where: 'a' } })[RUN]).toMatchObject({
      cwd: '/etc/crib/e',
      where: 'a',
    });
  });

  it('stay unchanged in specs that did not come from a local file', () => {
    const run = { kind: 'shell', command: ['ls'], cwd: './workspace' };
    expect(createEntryReader({ source: 'remote' })({ name: 'a', run })[RUN]).toEqual(run);
  });
});
