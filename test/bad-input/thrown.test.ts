import { describe, expect, it, vi } from 'vitest';
import { createCrib, type ToolCall } from '../../src/index.ts';
import { unhandledDuring } from './wrong.ts';

async function failureOf(run: (input: unknown, call: ToolCall) => unknown) {
  const crib = await createCrib({ tools: [{ name: 'tool', description: '', run }] });
  return (await crib.open()).call('tool');
}

const SILENT = 'The tool failed without a message.';
const THROWN: readonly (readonly [string, () => unknown, string])[] = [
  ['an error', () => new Error('the disk is full'), 'the disk is full'],
  ['a text', () => 'the disk is full', 'the disk is full'],
  ['undefined', () => undefined, SILENT],
  ['null', () => null, SILENT],
  ['an empty text', () => '', SILENT],
  ['a number', () => 5, SILENT],
  ['a symbol', () => Symbol('no'), SILENT],
  ['an error without a message', () => new Error(), SILENT],
  ['an object with a message', () => ({ message: 'plain' }), 'plain'],
  ['an object with a message that is not text', () => ({ message: { deep: true } }), SILENT],
  [
    'an object with a message that throws',
    () => ({
      get message() {
        throw new Error('worse');
      },
    }),
    SILENT,
  ],
  ['an object without a prototype', () => Object.create(null), SILENT],
  [
    'a proxy that throws whatever is read',
    () =>
      new Proxy(
        {},
        {
          get() {
            throw new Error('worse');
          },
        },
      ),
    SILENT,
  ],
  ['a function', () => () => 1, SILENT],
];

describe('a tool that throws', () => {
  it.each(THROWN)('%s: tool_error', async (_, make, message) => {
    const thrown = await failureOf(() => {
      throw make();
    });
    expect(thrown).toMatchObject({
      ok: false,
      status: 'failed',
      error: { code: 'tool_error', message, retryable: false },
    });
  });

  it.each(THROWN)('%s in a promise: tool_error', async (_, make, message) => {
    expect(await failureOf(() => Promise.reject(make()))).toMatchObject({ error: { code: 'tool_error', message } });
  });

  it('a very long message: cut', async () => {
    const result = await failureOf(() => {
      throw new Error('x'.repeat(10_000_000));
    });
    expect(JSON.stringify(result).length).toBeLessThan(10_000);
  });

  it('an error with fields of its own: the caller does not get them', async () => {
    const result = await failureOf(() => {
      throw Object.assign(new Error('no'), { password: 'hunter2', stack: '/home/me/secret.ts' });
    });
    expect(JSON.stringify(result)).not.toMatch(/hunter2|secret\.ts/);
  });

  it('a thrown result: still a failure', async () => {
    const result = await failureOf(() => {
      throw { ok: true, status: 'done', content: [] };
    });
    expect(result).toMatchObject({ ok: false, error: { code: 'tool_error' } });
  });
});

describe('a progress listener that fails', () => {
  const reporting = async (onProgress: (progress: unknown) => void) => {
    const run = (_: unknown, call: ToolCall) => {
      call.report('half way');
      return 'there';
    };
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', run }] });
    return (await crib.open()).call('tool', {}, { onProgress });
  };

  it.each(THROWN)('by throwing %s does not break the tool', async (_, make) => {
    const result = await reporting(() => {
      throw make();
    });
    expect(result).toMatchObject({ ok: true });
  });

  it('later causes no unhandled rejection', async () => {
    const onProgress = vi.fn(async () => {
      throw new Error('too late');
    });
    expect(await unhandledDuring(() => reporting(onProgress))).toEqual([]);
    expect(onProgress).toHaveBeenCalledOnce();
  });
});
