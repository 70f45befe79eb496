import { createHook } from 'node:async_hooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Chest, createCrib, done, type Extension, type ToolInput } from '../../src/index.ts';

const number = { type: 'number' } as const;
const input = { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] } as const;
const add = ({ a, b }: { a: number; b: number }) => a + b;

type Guards = Pick<ToolInput, 'effects' | 'policy'>;

async function chestOf(guards: Partial<Guards>): Promise<Chest> {
  const tool = { description: 'Add two numbers', input, ...guards };
  const crib = await createCrib({
    tools: [
      { ...tool, name: 'add', run: add },
      { ...tool, name: 'add_later', run: async (given: Parameters<typeof add>[0]) => add(given) },
    ],
  });
  onTestFinished(() => crib.close());
  return crib.open(undefined, { id: 'alice', roles: ['dev'] });
}

const CALLS = 20;

/** Promises that one warm call creates, including its own and the one of the tool. */
async function promisesOf(chest: Chest, tool: string): Promise<number> {
  for (let index = 0; index < CALLS; index++) await chest.call(tool, { a: 1, b: 2 });
  let count = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') count++;
    },
  });
  hook.enable();
  try {
    for (let index = 0; index < CALLS; index++) await chest.call(tool, { a: 1, b: 2 });
  } finally {
    hook.disable();
  }
  return count / CALLS - 1; // "await" creates one
}

const GUARDS: Guards = {
  effects: { readOnly: true },
  policy: {
    access: { roles: ['dev'] },
    rates: [{ scope: 'caller', amount: 1e9, perMs: 1000 }],
    concurrency: [{ scope: 'tool', amount: 100 }],
  },
};

// Every promise costs each call of every user. A change that needs one more raises the number on purpose.
describe('the promises of a call', () => {
  it('of a synchronous tool: only its own, whatever guards it', async () => {
    expect(await promisesOf(await chestOf({}), 'add')).toBe(1);
    expect(await promisesOf(await chestOf(GUARDS), 'add')).toBe(1);
  });

  it('of an asynchronous tool: its own, two for its result and one for the caller, whatever guards it', async () => {
    expect(await promisesOf(await chestOf({}), 'add_later')).toBe(4);
    expect(await promisesOf(await chestOf(GUARDS), 'add_later')).toBe(4);
  });
});

it('a gate may return what only looks like a promise', async () => {
  const result = done('from the gate');
  // biome-ignore lint/suspicious/noThenProperty: this is the point
  const later = { then: (resolve: (value: unknown) => void) => void queueMicrotask(() => resolve(result)) };
  const gate: Extension = { name: 'odd', priority: 500, wrap: () => later as never };
  const crib = await createCrib({ tools: [{ name: 'add', description: 'Add', run: () => 1 }], extensions: [gate] });
  onTestFinished(() => crib.close());
  expect(await (await crib.open()).call('add')).toEqual(result);
});
