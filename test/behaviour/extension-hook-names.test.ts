import { describe, expect, it, vi } from 'vitest';
import { HOOKS } from '../../src/define/define-extension.ts';
import { type Crib, createCrib, defineExtension, type ToolInput } from '../../src/index.ts';
import { wrong } from '../bad-input/wrong.ts';

const tool: ToolInput = {
  name: 'tool',
  description: '',
  input: {},
  run(input: unknown) {
    if (JSON.stringify(input).includes('fail')) throw new Error('it failed');
    return 'ran';
  },
};

/** Every way in which code hands an extension to a crib. */
const WAYS: readonly (readonly [string, (extension: unknown) => Promise<Crib>])[] = [
  ['createCrib', (extension) => createCrib({ tools: [tool], extensions: [wrong(extension)] })],
  [
    'extensions.add',
    async (extension) => {
      const crib = await createCrib({ tools: [tool] });
      crib.extensions.add(wrong(extension));
      return crib;
    },
  ],
  [
    'defineExtension',
    async (extension) => createCrib({ tools: [tool], extensions: [defineExtension(wrong(extension))] }),
  ],
];

/** Every name by which an extension takes part in a call or a listing. */
const HOOK_NAMES: readonly string[] = [...HOOKS, 'before_execute', 'after_execute', 'on_error'];
const KNOWN = new Set([...HOOK_NAMES, 'applies', 'close']);

/** Ways to get the name of a hook wrong. */
function misspellings(hook: string): readonly string[] {
  const snake = hook.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const camel = hook.replaceAll(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase());
  const capital = `${hook.slice(0, 1).toUpperCase()}${hook.slice(1)}`;
  const swapped = `${hook.slice(0, 1)}${hook.slice(2, 3)}${hook.slice(1, 2)}${hook.slice(3)}`;
  const all = [
    snake,
    camel,
    capital,
    swapped,
    hook.toLowerCase(),
    hook.toUpperCase(),
    `${hook}s`,
    `${hook}_`,
    hook.slice(0, -1),
  ];
  return [...new Set(all)].filter((name) => !KNOWN.has(name));
}

describe.each(WAYS)('an extension given by %s', (_, give) => {
  it.each(HOOK_NAMES)('takes part by its hook %s, as a plain object and as an instance', async (hook) => {
    const members = { name: 'one', priority: 500 };
    for (const owner of [members, Object.assign(new (class Some {})(), members)]) {
      const asked = vi.fn((__: unknown, next: unknown): unknown =>
        typeof next === 'function' && hook === 'wrap' ? next() : undefined,
      );
      const crib = await give(Object.assign(owner, { [hook]: asked }));
      const chest = await crib.open();
      await chest.call('tool', { please: 'fail' });
      await chest.call('tool', {});
      chest.listActive();
      expect(asked).toHaveBeenCalled();
    }
  });

  it.each(HOOK_NAMES.flatMap(misspellings))(
    'is refused with %s, as a plain object and as an instance',
    async (method) => {
      const plain = { name: 'careless', priority: 500, onStart() {}, onEnd() {}, [method]: () => 'no' };
      await expect(give(plain)).rejects.toThrow(`has an unknown member "${method}"`);
      class Careless {
        readonly name = 'careless';
        readonly priority = 500;
        onStart() {}
      }
      Object.defineProperty(Careless.prototype, method, { value: () => 'no' });
      await expect(give(new Careless())).rejects.toThrow(`has a method "${method}", which is not a hook`);
    },
  );
});
