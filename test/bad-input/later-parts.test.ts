import { describe, expect, it } from 'vitest';
import { createCrib, defineTool, type ToolCall } from '../../src/index.ts';
import { wrong } from './wrong.ts';

const missing = (what: RegExp) => ({
  name: 'ToolcribError',
  code: 'not_available',
  message: expect.stringMatching(what),
});

describe('a part that comes later says what is missing', () => {
  it.each<[string, unknown, RegExp]>([
    ['rules', [{ tools: ['x'] }], /"only".*rules/],
    ['delegate', { reader: 'open' }, /"only".*delegation/],
  ])('profile: %s', async (key, value, what) => {
    await expect(createCrib({ profiles: { only: wrong({ [key]: value }) } })).rejects.toMatchObject(missing(what));
  });

  it.each<[string, unknown, RegExp]>([
    ['price', 0.01, /"tool".*budgets/],
    ['budgets', [], /"tool".*budgets/],
    ['cacheMs', 1000, /"tool".*cacheMs/],
  ])('policy of a tool: %s', async (key, value, what) => {
    const define = async () =>
      defineTool({ name: 'tool', description: '', input: {}, policy: wrong({ [key]: value }), run: () => 1 });
    await expect(define()).rejects.toMatchObject(missing(what));
  });

  it.each(['price', 'budgets', 'cacheMs'])('policy of a profile: %s', async (key) => {
    await expect(createCrib({ profiles: { only: { policy: wrong({ [key]: 1 }) } } })).rejects.toMatchObject(
      missing(/"only"/),
    );
  });

  it('crib.identify', async () => {
    await expect((await createCrib()).identify('key')).rejects.toMatchObject(missing(/crib\.identify/));
  });

  it('call.delegate', async () => {
    const run = (_: unknown, call: ToolCall) => call.delegate('reader');
    const crib = await createCrib({ tools: [{ name: 'tool', description: '', run }] });
    expect(await (await crib.open()).call('tool')).toMatchObject({
      error: { message: expect.stringContaining('Delegation') },
    });
    const caught = async (_: unknown, call: ToolCall) =>
      call.delegate('reader').catch((error: unknown) => (error as { code: string }).code); // a ToolcribError
    crib.register({ name: 'other', description: '', run: caught });
    expect(await (await crib.open()).call('other')).toMatchObject({ content: [{ text: 'not_available' }] });
  });
});
