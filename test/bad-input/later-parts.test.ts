import { describe, expect, it } from 'vitest';
import { createCrib, type ToolCall } from '../../src/index.ts';
import { wrong } from './wrong.ts';

const missing = (what: RegExp) => ({
  name: 'ToolcribError',
  code: 'not_available',
  message: expect.stringMatching(what),
});

describe('a feature of a later version says what is missing', () => {
  it('profile: delegate', async () => {
    const profiles = { only: wrong({ delegate: { reader: 'open' } }) };
    await expect(createCrib({ profiles })).rejects.toMatchObject(missing(/"only".*delegation/));
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
