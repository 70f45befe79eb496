import { describe, expect, it } from 'vitest';
import { createCrib } from '../../src/index.ts';
import { wrong } from './wrong.ts';

describe('delegate of a profile', () => {
  it.each([
    [{ delegate: 'reader' }, /"only": delegate must be a map of profiles/],
    [{ delegate: { reader: 'always' } }, /"only": delegate: reader must be one of closed, ask, open/],
    [{ delegate: { reader: true } }, /"only": delegate: reader must be one of closed, ask, open/],
    [{ delegate: ['reader'] }, /"only": delegate must be a map of profiles/],
  ])('%j is an error', async (profile, message) => {
    const profiles = { only: wrong(profile) };
    await expect(createCrib({ profiles })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(message),
    });
  });
});
