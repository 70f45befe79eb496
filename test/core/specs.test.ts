import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { compareCatalogs, resolve } from '../../src/core/catalog.ts';
import { distrust, keep } from '../../src/core/policy.ts';
import { createRun, isSameTool, RUN, type ToolSpec } from '../../src/core/tool-spec.ts';
import { specOf } from './arbitraries.ts';

const SECRET = 'how-it-runs';

describe('the run of a tool', () => {
  const spec = specOf('t', { [RUN]: createRun({ kind: 'shell', command: [SECRET] }) });

  it('Spread copies it.', () => {
    expect({ ...spec, name: 'u' }[RUN]).toBe(spec[RUN]);
  });

  it('JSON and structured clone drop it.', () => {
    expect(JSON.stringify(spec)).not.toContain(SECRET);
    expect(Reflect.ownKeys(structuredClone(spec))).not.toContain(RUN);
  });

  it('Printed or serialised alone it says [run] and nothing else.', () => {
    expect(inspect(spec[RUN])).toBe('[run]');
    expect(inspect(spec, { depth: null, showHidden: true })).not.toContain(SECRET);
    expect(JSON.stringify({ run: spec[RUN] })).toBe('{"run":"[run]"}');
  });

  it('It cannot be changed.', () => {
    expect(Object.isFrozen(spec[RUN])).toBe(true);
  });
});

describe('isSameTool', () => {
  const run = () => 1;
  const base = specOf('t', { tags: ['a'], [RUN]: createRun({ kind: 'function', run }) });
  const changed = (changes: Partial<ToolSpec>): ToolSpec => ({ ...base, ...changes });

  it('Two specs with the same content and the same run are the same tool, whatever the order of their keys.', () => {
    const input = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } };
    const other = { properties: { b: { type: 'number' }, a: { type: 'string' } }, type: 'object' };
    expect(isSameTool(changed({ input }), changed({ input: other, [RUN]: createRun({ kind: 'function', run }) }))).toBe(
      true,
    );
  });

  it.each<[string, Partial<ToolSpec>]>([
    ['description', { description: 'other' }],
    ['schema', { input: { type: 'object', required: ['a'] } }],
    ['effects', { effects: { destructive: true } }],
    ['policy', { policy: { retries: 1 } }],
    ['tags', { tags: ['b'] }],
    ['kind', { [RUN]: createRun({ kind: 'shell', run }) }],
    ['function', { [RUN]: createRun({ kind: 'function', run: () => 1 }) }],
    ['needs', { [RUN]: createRun({ kind: 'function', run, needs: ['clock'] }) }],
  ])('Another %s makes another tool.', (_, changes) => {
    expect(isSameTool(base, changed(changes))).toBe(false);
    expect(isSameTool(changed(changes), base)).toBe(false);
  });
});

describe('catalogs', () => {
  const catalogOf = (...specs: readonly ToolSpec[]) => resolve([{ source: 's', specs }]);

  it('A name that was held back names both owners and what to do.', () => {
    const { held } = resolve([
      { source: 'files', specs: [specOf('read_file', { source: 'files' })] },
      { source: 'github', specs: [specOf('read_file', { source: 'github' })] },
    ]);
    expect(held).toMatchObject([{ name: 'read_file', owner: 'files', heldBack: 'github' }]);
    expect(held[0]?.message).toContain('"read_file" comes from both files and github');
    expect(held[0]?.message).toContain('Prefix one of them.');
  });

  it('Added, removed and changed names are reported separately.', () => {
    const before = catalogOf(specOf('same', { [RUN]: createRun({ kind: 'x' }) }), specOf('gone'), specOf('edited'));
    const after = catalogOf(
      specOf('same', { [RUN]: createRun({ kind: 'x' }) }),
      specOf('edited', { description: 'other' }),
      specOf('new'),
    );
    expect(compareCatalogs(before, after)).toEqual({ added: ['new'], removed: ['gone'], changed: ['edited'] });
  });

  it('keep keeps the order.', () => {
    const specs = ['c', 'a', 'b'].map((name) => specOf(name));
    expect(keep(specs, (spec) => spec.name !== 'a').map((spec) => spec.name)).toEqual(['c', 'b']);
  });
});

describe('distrust', () => {
  it('A claim of an untrusted source can only raise caution.', () => {
    const spec = specOf('t', {
      effects: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
      policy: { approval: 'always', approvers: ['caller'], timeoutMs: 5, retries: 9, maxResultBytes: 3 },
      tags: ['safe'],
      category: 'files',
      priority: 9,
    });
    const { effects, policy, tags, category, priority } = distrust(spec);
    expect({ effects, policy, tags, category, priority }).toEqual({
      effects: {},
      policy: { approval: 'always', maxResultBytes: 3 },
      tags: [],
      category: undefined,
      priority: undefined,
    });
  });

  it('A warning of an untrusted source stays.', () => {
    const effects = { readOnly: false, destructive: true, idempotent: false, openWorld: true };
    expect(distrust(specOf('t', { effects })).effects).toEqual(effects);
  });
});
