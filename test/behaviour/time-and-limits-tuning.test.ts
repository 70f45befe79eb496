import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCrib, type ToolInput, type ToolResult } from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});

function tool(run: () => unknown, more: Partial<ToolInput> = {}): ToolInput {
  return { name: 'tool', description: '', run, ...more } as ToolInput; // a plain tool with some fields replaced
}

async function open(...tools: readonly ToolInput[]) {
  return (await createCrib({ tools })).open();
}

describe('times: the nearest setting wins and is then clamped', () => {
  interface Words {
    readonly call?: number;
    readonly tool?: number;
    readonly profile?: number;
    readonly toolMax?: number;
    readonly profileMax?: number;
  }
  const policy = (timeoutMs?: number, maxTimeoutMs?: number) => ({
    ...(timeoutMs && { timeoutMs }),
    ...(maxTimeoutMs && { maxTimeoutMs }),
  });

  async function endsAfter(words: Words): Promise<number> {
    const crib = await createCrib({
      tools: [tool(never, { policy: policy(words.tool, words.toolMax) })],
      profiles: { only: { policy: policy(words.profile, words.profileMax) } },
    });
    let endedAt = Number.NaN;
    const begun = performance.now();
    const settle = (_: ToolResult) => {
      endedAt = performance.now() - begun;
    };
    (await crib.open()).call('tool', {}, words.call === undefined ? {} : { timeoutMs: words.call }).then(settle);
    await vi.advanceTimersByTimeAsync(100_000);
    return endedAt;
  }

  it.each<[string, Words, number]>([
    ['call before tool', { call: 10, tool: 20, profile: 30 }, 10],
    ['tool before profile', { tool: 20, profile: 30 }, 20],
    ['profile before default', { profile: 30 }, 30],
    ['default: one minute', {}, 60_000],
    ['a call may ask for more than its tool', { call: 50, tool: 20 }, 50],
    ['a call may not ask for more than the limit of the profile', { call: 50, profileMax: 40 }, 40],
    ['a call may not ask for more than the limit of the tool', { call: 50, toolMax: 40 }, 40],
    ['a tool may not ask for more than the limit of the profile', { tool: 50, profileMax: 40 }, 40],
    ['the default is clamped, too', { profileMax: 40 }, 40],
    ['the stricter limit holds', { call: 90, toolMax: 70, profileMax: 60 }, 60],
    ['a limit does not lengthen', { tool: 20, profileMax: 40 }, 20],
  ])('%s', async (_, words, expected) => {
    expect(await endsAfter(words)).toBe(expected);
  });

  it.each([[0], [-1], [Number.NaN]])('%s is rejected in a call', async (timeoutMs) => {
    const run = vi.fn();
    expect(await (await open(tool(run))).call('tool', {}, { timeoutMs })).toMatchObject({
      error: { code: 'invalid_input', message: expect.stringContaining('timeoutMs') },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it.each(['timeoutMs', 'maxTimeoutMs'])('0 is rejected as %s of a tool and of a profile', async (key) => {
    await expect(createCrib({ tools: [tool(never, { policy: { [key]: 0 } })] })).rejects.toThrow(key);
    await expect(createCrib({ profiles: { only: { policy: { [key]: 0 } } } })).rejects.toThrow(key);
  });
});
