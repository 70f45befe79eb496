import { describe, expect, it } from 'vitest';
import { createCrib, type ProfileInput, type ToolInput } from '../../src/index.ts';

async function explain(tool: Partial<ToolInput>, profile: ProfileInput = {}, caller = {}) {
  const crib = await createCrib({
    tools: [{ name: 'tool', description: '', run: () => 1, ...tool } as ToolInput], // a plain tool with some fields replaced
    bundles: [{ name: 'home', include: ['tool'] }],
    profiles: { only: profile },
  });
  return crib.explain(caller, 'only', 'tool');
}

describe('explain: why a tool is visible or not', () => {
  it('shown, as the profile includes all tools, with the bundles it is in', async () => {
    expect(await explain({})).toMatchObject({
      tool: 'tool',
      profile: 'only',
      visible: true,
      reasons: ['the profile includes all tools'],
      bundles: ['home'],
    });
  });

  it.each<[string, Partial<ToolInput>, ProfileInput, RegExp]>([
    ['no selector matches it', {}, { include: ['other'] }, /no include selector/],
    ['a selector excludes it', {}, { exclude: ['bundle:home'] }, /excluded by "bundle:home"/],
    ['exclude wins over include', {}, { include: ['tool'], exclude: ['t*'] }, /excluded by "t\*"/],
    ['the caller lacks a role', { policy: { access: { roles: ['boss'] } } }, {}, /does not meet.*boss/],
    ['the profile admits only another user', {}, { policy: { access: { users: ['ann'] } } }, /does not meet.*ann/],
    ['its condition says no', { when: { env: 'TOOLCRIB_NOT_SET' } }, {}, /TOOLCRIB_NOT_SET is not set/],
  ])('hidden, as %s', async (_, tool, profile, reason) => {
    const { visible, reasons } = await explain(tool, profile);
    expect(visible).toBe(false);
    expect(reasons.join('; ')).toMatch(reason);
  });

  it('not there at all, and the nearest name is named', async () => {
    const crib = await createCrib({ tools: [{ name: 'read_file', description: '', run: () => 1 }] });
    expect(crib.explain({}, undefined, 'raed_file').reasons.join()).toContain('Did you mean "read_file"?');
  });
});

describe('explain: which layer set each limit', () => {
  it.each<[string, Partial<ToolInput>, ProfileInput, string, unknown, readonly string[]]>([
    ['the tool', { policy: { retries: 4 } }, {}, 'retries', 4, ['tool']],
    ['the profile', {}, { policy: { maxResultBytes: 9 } }, 'maxResultBytes', 9, ['profile only']],
    ['the default', {}, {}, 'timeoutMs', 60_000, ['default']],
    [
      'the stricter of two',
      { policy: { approval: 'always' } },
      { policy: { approval: 'cautious' } },
      'approval',
      'always',
      ['tool'],
    ],
    ['an approve selector', {}, { approve: ['t*'] }, 'approval', 'always', ['profile only: approve "t*"']],
    [
      'a limit that clamps',
      { policy: { timeoutMs: 50 } },
      { policy: { maxTimeoutMs: 40 } },
      'timeoutMs',
      40,
      ['clamped by maxTimeoutMs'],
    ],
  ])('%s', async (_, tool, profile, key, value, from) => {
    expect((await explain(tool, profile)).policy[key]).toEqual({ value, from });
  });

  it('rules, prices and budgets have their layers, too', async () => {
    const budgets = [{ scope: 'profile', amount: 1, perMs: 1000 }] as const;
    const rules = [{ tools: ['tool'], when: { required: ['x'] }, otherwise: 'deny' }] as const;
    const { policy } = await explain({ policy: { price: 2 } }, { policy: { budgets }, rules });
    expect(policy).toMatchObject({
      rules: { from: ['profile only: rules'] },
      price: { value: 2, from: ['tool'] },
      budgets: { from: ['profile only'] },
    });
  });

  it('a list names the values of several layers', async () => {
    const rate = (scope: 'tool' | 'caller') => [{ scope, amount: 1, perMs: 1 }];
    const { policy } = await explain({ policy: { rates: rate('tool') } }, { policy: { rates: rate('caller') } });
    expect(policy.rates?.from).toEqual(['tool', 'profile only']);
    expect(policy.rates?.value).toHaveLength(2);
  });
});
