import { describe, expect, it } from 'vitest';
import { createRun, RUN } from '../../src/core/tool-spec.ts';
import { type AnySchema, defineTool, type JsonSchema, type ToolDefinition, type ToolSpec } from '../../src/index.ts';
import { withhold } from '../../src/schemas/withhold.ts';
import { argumentsHash, definitionHash } from '../../src/specs/hashes.ts';

function tool(changes: Partial<ToolDefinition<JsonSchema, AnySchema>> = {}): ToolSpec {
  return defineTool({
    name: 'pay',
    title: 'Pay',
    description: 'Pays',
    input: { type: 'object', properties: { amount: { type: 'number' }, to: { type: 'string' } } },
    effects: { destructive: true },
    run: () => 'paid',
    ...changes,
  });
}

const runningAs = (run: object): ToolSpec => ({ ...tool(), [RUN]: createRun({ kind: 'bank', ...run }) });

describe('the hash of a definition', () => {
  it('is the same for equal tools', () => {
    expect(definitionHash(tool())).toBe(definitionHash(tool()));
    expect(definitionHash(tool())).toMatch(/^[0-9a-f]{64}$/);
  });

  it('does not change with policy, tags, category, version or local name', () => {
    const spec = tool();
    const others = [
      { ...spec, policy: { approval: 'always' as const } },
      { ...spec, name: 'bank_pay' },
      tool({ tags: ['money'], category: 'bank', version: '2' }),
    ];
    expect(new Set([spec, ...others].map(definitionHash)).size).toBe(1);
  });

  it('changes with everything that describes or runs the tool', () => {
    const other = [
      tool({ description: 'Pays twice' }),
      tool({ title: 'Pay twice' }),
      tool({ input: { type: 'object' } }),
      tool({ output: { type: 'string' } }),
      tool({ effects: { readOnly: true } }),
      tool({ needs: ['bank'] }),
      tool({ run: () => 'paid twice' }),
      { ...tool(), source: 'elsewhere' },
      { ...tool(), origin: 'pay2' },
      withhold(tool(), { fixed: { to: 'bob' }, hidden: [] }),
      withhold(tool(), { fixed: { to: 'mallory' }, hidden: [] }),
      withhold(tool(), { fixed: {}, hidden: ['to'] }),
    ];
    expect(new Set([tool(), ...other].map(definitionHash)).size).toBe(other.length + 1);
  });

  it('is computed again for a copy with other content and the same run', () => {
    const spec = tool();
    const before = definitionHash(spec);
    expect(definitionHash({ ...spec, description: 'changed' })).not.toBe(before);
    expect(definitionHash(spec)).toBe(before);
  });

  it('covers every field of the run, including those of an executor', () => {
    const circle: Record<string, unknown> = { deep: {} };
    circle.again = circle;
    const runs = [
      {},
      { command: ['rm', '{path}'] },
      { command: ['rm {path}'] },
      { command: ['rm', '{other}'] },
      { url: new URL('https://a.example') },
      { url: new URL('https://b.example') },
      { at: new Date(0) },
      { count: 1n },
      { count: '1' },
      { count: 1 },
      { count: Number.POSITIVE_INFINITY },
      { key: Symbol('key') },
      { map: new Map([['a', 1]]) },
      { map: new Map([['a', 2]]) },
      { nested: { do: [() => 1] } },
      { nested: { do: [() => 2] } },
      { circle },
    ];
    expect(new Set(runs.map((run) => definitionHash(runningAs(run)))).size).toBe(runs.length);
  });

  it('does not depend on the order of keys', () => {
    expect(definitionHash(runningAs({ a: 1, b: { c: 2, d: 3 } }))).toBe(
      definitionHash(runningAs({ b: { d: 3, c: 2 }, a: 1 })),
    );
  });
});

describe('the hash of arguments', () => {
  it('is that of equal arguments in any order of keys, and of no others', () => {
    expect(argumentsHash({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(argumentsHash({ b: [{ d: 3, c: 2 }], a: 1 }));
    const others = [{}, { a: 1 }, { a: '1' }, { a: [1] }, { a: null }, { b: 1 }, { a: { a: 1 } }, { 'a":1': 1 }];
    expect(new Set(others.map(argumentsHash)).size).toBe(others.length);
  });
});
