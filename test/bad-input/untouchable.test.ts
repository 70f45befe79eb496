import { describe, expect, it } from 'vitest';
import { createCrib, type ToolInput } from '../../src/index.ts';
import { wrong } from './wrong.ts';

const spring = () => {
  throw new Error('sprung');
};

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const TRAPS = ['get', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'has'];
const trapped = (trap: string): readonly [string, () => unknown] => [
  `a proxy that throws for ${trap}`,
  () => new Proxy({ a: 1 }, { [trap]: spring }),
];

const UNTOUCHABLE: readonly (readonly [string, () => unknown])[] = [
  ['a revoked proxy', revoked],
  [
    'a revoked proxy of a function',
    () => {
      const { proxy, revoke } = Proxy.revocable(spring, {});
      revoke();
      return proxy;
    },
  ],
  ...TRAPS.map(trapped),
  [
    'a proxy that throws a revoked proxy',
    () =>
      new Proxy(
        { a: 1 },
        {
          ownKeys() {
            throw revoked();
          },
        },
      ),
  ],
  [
    'a proxy that throws nothing',
    () =>
      new Proxy(
        { a: 1 },
        {
          ownKeys() {
            throw undefined;
          },
        },
      ),
  ],
  ['an object whose toJSON throws', () => ({ toJSON: spring })],
  [
    'an object that contains itself',
    () => {
      const self: Record<string, unknown> = {};
      self.self = self;
      return self;
    },
  ],
  ['a signal without a state', () => Object.create(AbortSignal.prototype)],
];

const PLACES: readonly (readonly [string, (value: unknown) => unknown])[] = [
  ['the options', (value) => value],
  ['context', (context) => ({ context })],
  ['a member of context', (value) => ({ context: { value } })],
  ['signal', (signal) => ({ signal })],
  ['answers', (answers) => ({ answers })],
  ['answers.input', (input) => ({ answers: { input } })],
  ['answers.input.responses', (responses) => ({ answers: { input: { responses } } })],
  ['answers.input.capabilities', (capabilities) => ({ answers: { input: { capabilities } } })],
  ['conversation', (conversation) => ({ conversation })],
  ['timeoutMs', (timeoutMs) => ({ timeoutMs })],
  ['traceparent', (traceparent) => ({ traceparent })],
];

const TOOL: ToolInput = { name: 'tool', description: '', input: {}, run: () => 1 };

describe('a call with an object that cannot be read resolves to a result', () => {
  it.each(PLACES)('as %s', async (_, place) => {
    const chest = await (await createCrib({ tools: [TOOL] })).open();
    for (const [what, make] of UNTOUCHABLE) {
      const result = await chest.call('tool', {}, wrong(place(make())));
      expect(result, what).toMatchObject({ ok: expect.any(Boolean) });
      if (!result.ok) expect(result, what).toMatchObject({ error: { code: 'invalid_input' } });
    }
  });

  it.each(UNTOUCHABLE)('as arguments: %s', async (_, make) => {
    const chest = await (await createCrib({ tools: [TOOL] })).open();
    for (const input of [make(), { value: make() }, [make()]])
      expect(await chest.call('tool', wrong(input))).toMatchObject({ ok: expect.any(Boolean) });
    expect(await chest.call(wrong(make()))).toMatchObject({ error: { code: 'unknown_tool' } });
  });
});
