import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Chest, createCrib } from '../../src/index.ts';

/** As `toolcrib types` writes it. */
interface Tools {
  add(input: { a: number; b: number }): Promise<number>;
  find(input?: { word?: string }): Promise<unknown>;
  'list-all'(): Promise<string[]>;
}

describe('crib.open<Tools>()', () => {
  it('checks names, arguments and data of calls', async () => {
    const add = { name: 'add', description: 'Add', run: ({ a, b }: { a: number; b: number }) => a + b };
    const crib = await createCrib({ tools: [add] });
    const chest = await crib.open<Tools>(undefined, { id: 'alice' });
    const sum = await chest.call('add', { a: 1, b: 2 }, { timeoutMs: 1000 });
    expect(sum.ok && sum.data).toBe(3);
    if (sum.ok) expectTypeOf(sum.data).toEqualTypeOf<number | undefined>();
    else expectTypeOf(sum.status).toEqualTypeOf<'failed' | 'waiting'>();
    expectTypeOf(chest.call<'find'>).parameters.toExtend<[string, ({ word?: string } | undefined)?, object?]>();
    const listed = async () => chest.call('list-all');
    expectTypeOf<Extract<Awaited<ReturnType<typeof listed>>, { ok: true }>['data']>().toEqualTypeOf<
      string[] | undefined
    >();
    // @ts-expect-error: an unknown tool
    await chest.call('subtract', {});
    // @ts-expect-error: a missing argument
    await chest.call('add', { a: 1 });
    // @ts-expect-error: no arguments
    await chest.call('add');
    await crib.close();
  });

  it('without types a chest takes any name', async () => {
    const crib = await createCrib({});
    expectTypeOf(await crib.open()).toEqualTypeOf<Chest>();
    await crib.close();
  });
});
