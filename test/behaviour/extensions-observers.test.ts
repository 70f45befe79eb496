import { describe, expect, it, vi } from 'vitest';
import {
  type CribOptions,
  createCrib,
  defineExtension,
  type Extension,
  rateLimit,
  type ToolInput,
  type ToolSpec,
} from '../../src/index.ts';

const tool: ToolInput = {
  name: 'tool',
  description: 'As it is',
  input: { type: 'object', required: ['a'] },
  run: () => 'ran',
};

async function open(extensions: readonly Extension[], more: CribOptions = {}) {
  const crib = await createCrib({ tools: [tool], extensions, ...more });
  return { crib, chest: await crib.open(undefined, { id: 'a' }) };
}

function watching() {
  const seen: string[] = [];
  const extension = defineExtension({
    name: 'watch',
    onStart: (call) => void seen.push(`start ${call.spec.name}`),
    onEnd: (call, result) =>
      void seen.push(`end ${call.spec.name} ${result.status === 'failed' ? result.error.code : result.status}`),
  });
  return { seen, extension };
}

describe('observers', () => {
  it('see the start and the end of a call, once', async () => {
    const { seen, extension } = watching();
    await (await open([extension])).chest.call('tool', { a: 1 });
    expect(seen).toEqual(['start tool', 'end tool done']);
  });

  it('see unknown names', async () => {
    const { seen, extension } = watching();
    await (await open([extension])).chest.call('tol', {});
    expect(seen).toEqual(['start tol', 'end tol unknown_tool']);
  });

  it.each<[string, unknown]>([
    ['arguments that break the schema', {}],
    ['arguments that are not an object', 'text'],
    ['arguments that cannot be read', { f: () => 1 }],
  ])('see malformed calls: %s', async (_, input) => {
    const { seen, extension } = watching();
    await (await open([extension])).chest.call('tool', input);
    expect(seen).toEqual(['start tool', 'end tool invalid_input']);
  });

  it('see calls with options that cannot be read', async () => {
    const { seen, extension } = watching();
    await (await open([extension])).chest.call('tool', { a: 1 }, { timeoutMs: 0 });
    expect(seen).toEqual(['start tool', 'end tool invalid_input']);
  });

  it('see refusals', async () => {
    const { seen, extension } = watching();
    const veto = defineExtension({ name: 'veto', veto: () => 'no' });
    await (await open([extension, veto])).chest.call('tool', { a: 1 });
    expect(seen).toEqual(['start tool', 'end tool denied']);
  });

  it('see calls that come after the crib was closed', async () => {
    const { seen, extension } = watching();
    const { crib, chest } = await open([extension]);
    await crib.close();
    await chest.call('tool', { a: 1 });
    expect(seen).toEqual(['start tool', 'end tool unavailable']);
  });

  it('that are gates as well see unknown names, too', async () => {
    const onEnd = vi.fn();
    const { chest } = await open([defineExtension({ name: 'both', after: () => undefined, onEnd })]);
    await chest.call('nobody', {});
    expect(onEnd).toHaveBeenCalledOnce();
  });

  it('end in the reverse of the order in which they start', async () => {
    const seen: string[] = [];
    const named = (name: string, priority: number) =>
      defineExtension({
        name,
        priority,
        onStart: () => void seen.push(`${name} start`),
        onEnd: () => void seen.push(`${name} end`),
      });
    await (await open([named('inner', 400), named('outer', 1000)])).chest.call('tool', { a: 1 });
    expect(seen).toEqual(['outer start', 'inner start', 'inner end', 'outer end']);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
    ],
    [
      'throws an object that cannot be read',
      () => {
        throw Object.create(null);
      },
    ],
    ['rejects with an object that cannot be read', () => Promise.reject(Object.create(null))],
  ])('are isolated and logged: one that %s breaks neither the call nor the others', async (_, fail) => {
    const { seen, extension } = watching();
    const bad: Extension = { name: 'bad', priority: 900, onStart: fail as () => void, onEnd: fail as () => void }; // a promise is ignored
    const { chest, crib } = await open([bad, extension]);
    expect(await chest.call('tool', { a: 1 })).toMatchObject({ ok: true });
    await new Promise(setImmediate);
    expect(seen).toEqual(['start tool', 'end tool done']);
    expect(crib.warnings()).toContainEqual(expect.stringContaining('"bad"'));
  });

  it('cannot change the arguments of a call', async () => {
    const onStart = (call: { input: object }) => void Object.assign(call.input, { a: 'changed' });
    const echo: ToolInput = { ...tool, run: (input: unknown) => input } as ToolInput; // the same tool with another function
    const { chest } = await open([defineExtension({ name: 'meddler', onStart })], { tools: [echo] });
    expect(await chest.call('tool', { a: 1 })).toMatchObject({ data: { a: 1 } });
  });

  it('cannot change the result of a call', async () => {
    const onEnd = (_: unknown, result: object) => void Object.assign(result, { ok: false });
    const { chest } = await open([defineExtension({ name: 'meddler', onEnd })]);
    expect(await chest.call('tool', { a: 1 })).toMatchObject({ ok: true });
  });
});

describe('unknown names', () => {
  const rates = [{ scope: 'caller', amount: 2, perMs: 60_000 }] as const;

  it('are rate limited by the rates for every call', async () => {
    const { chest } = await open([rateLimit({ rates })]);
    const codes = [];
    for (const name of ['x', 'y', 'z'])
      codes.push(((await chest.call(name)) as { error?: { code: string } }).error?.code);
    expect(codes).toEqual(['unknown_tool', 'unknown_tool', 'rate_limited']);
  });

  it('are rate limited by the rates of the profile', async () => {
    const { chest } = await open([], { profiles: { only: { policy: { rates } } } });
    const codes = [];
    for (const name of ['x', 'y', 'z'])
      codes.push(((await chest.call(name)) as { error?: { code: string } }).error?.code);
    expect(codes).toEqual(['unknown_tool', 'unknown_tool', 'rate_limited']);
  });

  it('and malformed calls count like any other', async () => {
    const { chest } = await open([rateLimit({ rates })]);
    await chest.call('tool', 'not an object');
    await chest.call('nobody');
    expect(await chest.call('tool', { a: 1 })).toMatchObject({ error: { code: 'rate_limited' } });
  });
});

describe('onList', () => {
  const rewriting = (onList: NonNullable<Extension['onList']>) => open([defineExtension({ name: 'words', onList })]);

  it('may rewrite description, title and schema text in a listing', async () => {
    const { chest } = await rewriting((specs) =>
      specs.map((spec) => ({ ...spec, title: 'T', description: 'D', input: { type: 'object', title: 'I' } })),
    );
    expect(chest.list()).toMatchObject([{ name: 'tool', title: 'T', description: 'D', input: { title: 'I' } }]);
  });

  it('never the name', async () => {
    const { chest } = await rewriting((specs) => specs.map((spec) => ({ ...spec, name: 'other' })));
    expect(chest.list()).toMatchObject([{ name: 'tool', description: 'As it is' }]);
  });

  it.each<[string, NonNullable<Extension['onList']>]>([
    ['by leaving tools out', () => []],
    ['by adding tools', (specs) => [...specs, ...specs.map((spec) => ({ ...spec, name: 'more' }))]],
    ['by turning the order round', (specs) => specs.toReversed()],
  ])('never the set, %s', async (_, onList) => {
    const { chest } = await open([defineExtension({ name: 'words', onList })], {
      tools: [tool, { ...tool, name: 'second' } as ToolInput],
    }); // the same tool twice
    expect(chest.list().map((spec) => spec.name)).toEqual(['tool', 'second']);
  });

  it('never the policy of a call', async () => {
    const { chest } = await open(
      [
        defineExtension({
          name: 'words',
          onList: (specs) => specs.map((spec) => ({ ...spec, policy: {}, effects: {} })),
        }),
      ],
      { tools: [{ ...tool, effects: { destructive: true } } as ToolInput] }, // the same tool with effects
    );
    expect(chest.list()).toMatchObject([{ effects: { destructive: true } }]);
    expect(await chest.call('tool', { a: 1 })).toMatchObject({ error: { code: 'denied' } });
  });

  it('does not change the schema that arguments are validated with', async () => {
    const { chest } = await rewriting((specs) => specs.map((spec) => ({ ...spec, input: {} })));
    expect(await chest.call('tool', {})).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it.each<[string, () => readonly ToolSpec[]]>([
    [
      'throws',
      () => {
        throw new Error('no words');
      },
    ],
    ['returns nothing', () => undefined as never], // plain JavaScript forgets to return
    ['returns garbage', () => [null] as never], // as above
  ])('that %s leaves the listing unchanged', async (_, onList) => {
    const { chest } = await rewriting(onList);
    expect(chest.list()).toMatchObject([{ name: 'tool', description: 'As it is' }]);
  });

  it('that leaves out the description does not remove it', async () => {
    const { chest } = await rewriting(() => [{ name: 'tool' } as ToolSpec]); // plain JavaScript forgets fields
    expect(chest.list()).toMatchObject([{ name: 'tool', description: 'As it is' }]);
  });
});
