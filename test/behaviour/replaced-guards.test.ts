import { describe, expect, it } from 'vitest';
import { approval, createCrib, type Extension, type ExtensionHooks, timeout } from '../../src/index.ts';

const pass = (name: string): Extension => ({ name, priority: 'normal', wrap: (call, next) => next(call) });

async function replacedBy(...extensions: readonly (Extension | ExtensionHooks)[]): Promise<readonly string[]> {
  const crib = await createCrib({ extensions });
  return namesOf((await crib.review()).notes);
}

function namesOf(notes: readonly string[]): readonly string[] {
  return notes.flatMap((note) => /^The built-in guard "(\w+)" is replaced/.exec(note)?.[1] ?? []);
}

describe('the review of a crib', () => {
  it.each(['approval', 'validate', 'access', 'rules', 'rateLimit', 'idempotency', 'precheck', 'setup', 'redactErrors'])(
    'names the built-in guard %s if an extension of the operator replaces it',
    async (name) => {
      expect(await replacedBy(pass(name))).toEqual([name]);
      expect(await replacedBy({ name, veto: () => undefined })).toEqual([name]);
      expect(await replacedBy({ ...timeout(), name })).toEqual([name]);
    },
  );

  it('names each once, and no other extension', async () => {
    expect(await replacedBy(pass('validate'), pass('approval'), pass('mine'))).toHaveLength(2);
    expect(await replacedBy(approval({ mode: 'cautious' }), timeout(), { ...timeout(), name: 'second' })).toEqual([]);
  });

  it('reflects extensions that are added and removed in code', async () => {
    const crib = await createCrib({});
    crib.extensions.remove('approval');
    crib.extensions.add(pass('approval'));
    expect(namesOf((await crib.review()).notes)).toEqual(['approval']);
    crib.extensions.remove('approval');
    crib.extensions.add(approval());
    expect(namesOf((await crib.review()).notes)).toEqual([]);
  });
});
