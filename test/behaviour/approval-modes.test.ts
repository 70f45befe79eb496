import { describe, expect, it, vi } from 'vitest';
import {
  type ApprovalMode,
  type Approve,
  approval,
  type CallOptions,
  type CribOptions,
  createCrib,
  type Effects,
  type ProfileInput,
  type ToolCall,
  type ToolInput,
} from '../../src/index.ts';

type PolicyInput = NonNullable<ProfileInput['policy']>;

interface Question {
  readonly effects?: Effects;
  readonly policy?: PolicyInput;
  readonly profile?: ProfileInput;
  readonly extensions?: CribOptions['extensions'];
}

/** The reason that the approver gets, or `undefined` if no approver is asked. */
async function reasonAsked({ effects, policy, profile = {}, extensions = [] }: Question): Promise<string | undefined> {
  const approve = vi.fn<Approve>(() => true);
  const tool = { name: 'tool', description: '', effects, policy, run: () => 1 } as ToolInput; // absent fields are undefined
  const crib = await createCrib({ tools: [tool], profiles: { only: profile }, extensions });
  const result = await (await crib.open('only', { approve })).call('tool');
  expect(result.ok).toBe(true);
  return approve.mock.calls[0]?.[0].reason;
}

describe('when a call requires approval', () => {
  const unknown: Effects = {};
  const readOnly: Effects = { readOnly: true };
  const harmless: Effects = { destructive: false };
  const destructive: Effects = { destructive: true };

  it.each<[ApprovalMode, string, Effects, string | undefined]>([
    ['never', 'destructive', destructive, undefined],
    ['never', 'unknown', unknown, undefined],
    ['dangerous', 'known to be destructive', destructive, 'it is destructive'],
    ['dangerous', 'unknown', unknown, undefined],
    ['dangerous', 'read-only', readOnly, undefined],
    ['cautious', 'known to be destructive', destructive, 'it is not known to be read-only'],
    ['cautious', 'unknown', unknown, 'it is not known to be read-only'],
    ['cautious', 'not destructive, but not known to be read-only', harmless, 'it is not known to be read-only'],
    ['cautious', 'read-only', readOnly, undefined],
    ['always', 'read-only', readOnly, 'its policy requires approval for every call'],
    ['always', 'unknown', unknown, 'its policy requires approval for every call'],
  ])('%s: effects %s', async (mode, _, effects, reason) => {
    expect(await reasonAsked({ effects, policy: { approval: mode } })).toBe(reason);
  });

  it('the default mode is "dangerous"', async () => {
    expect(await reasonAsked({ effects: destructive })).toBe('it is destructive');
    expect(await reasonAsked({ effects: unknown })).toBeUndefined();
  });

  it('the mode of the extension applies if neither the tool nor the profile sets one', async () => {
    const extensions = [approval({ mode: 'cautious' })];
    expect(await reasonAsked({ extensions })).toBe('it is not known to be read-only');
    expect(await reasonAsked({ extensions, policy: { approval: 'never' } })).toBeUndefined();
  });

  it('the stricter of tool and profile wins', async () => {
    expect(
      await reasonAsked({ policy: { approval: 'never' }, profile: { policy: { approval: 'always' } } }),
    ).toBeDefined();
    expect(
      await reasonAsked({ policy: { approval: 'always' }, profile: { policy: { approval: 'never' } } }),
    ).toBeDefined();
  });

  it.each<[string, ProfileInput['approve']]>([
    ['name', ['tool']],
    ['glob', ['t*']],
    ['source', ['source:code']],
    ['criteria', [{ kind: 'function' }]],
  ])('the approve list of a profile by %s applies in addition to the policy of the tool', async (_, approve) => {
    const profile = { ...(approve !== undefined && { approve }) };
    expect(await reasonAsked({ policy: { approval: 'never' }, profile })).toBe(
      'its policy requires approval for every call',
    );
  });

  it('the approve list of a profile does not affect other tools', async () => {
    expect(await reasonAsked({ profile: { approve: ['other', 'x_*'] } })).toBeUndefined();
  });

  it('a remote server cannot turn approval off', async () => {
    const approve = vi.fn<Approve>(() => true);
    const claim = {
      name: 'rm',
      description: '',
      effects: { readOnly: true, destructive: false },
      policy: { approval: 'never' },
      run: () => 1,
    };
    const crib = await createCrib({
      sources: [
        {
          name: 'stranger',
          start: async () => ({
            specs: () => [claim] as never, // a plain tool, which the crib makes a spec of
            onChange: () => () => {},
            status: () => ({ state: 'ready' }),
            close: async () => {},
          }),
        },
      ],
      extensions: [approval({ mode: 'cautious' })],
    });
    await (await crib.open(undefined, { approve })).call('rm');
    expect(approve).toHaveBeenCalledOnce();
  });

  it('an extension that replaces approval decides', async () => {
    const crib = await createCrib({
      tools: [{ name: 'tool', description: '', effects: destructive, run: () => 1 }],
      extensions: [{ name: 'approval', priority: 'highest', wrap: (call, next) => next(call) }],
    });
    expect(await (await crib.open()).call('tool')).toMatchObject({ ok: true });
  });
});

describe('which callers may approve', () => {
  const ask = async (policy: PolicyInput, options: CallOptions, approve?: Approve) => {
    const run = vi.fn(() => 'ran');
    const crib = await createCrib({
      tools: [{ name: 'tool', description: '', policy: { approval: 'always', ...policy }, run }],
    });
    const result = await (await crib.open(undefined, { id: 'a', ...(approve && { approve }) })).call(
      'tool',
      {},
      options,
    );
    return { result, ran: run.mock.calls.length === 1 };
  };
  const yes: CallOptions = { answers: { approval: true } };
  const no: CallOptions = { answers: { approval: false } };

  it("the calling client's own yes does not count", async () => {
    expect(await ask({}, yes)).toMatchObject({ result: { error: { code: 'denied' } }, ran: false });
  });

  it.each([[['operator'] as const], [['role:boss'] as const]])(
    "the calling client's own yes does not count if the policy says %s",
    async (approvers) => {
      expect(await ask({ approvers }, yes)).toMatchObject({ result: { error: { code: 'denied' } }, ran: false });
    },
  );

  it("the calling client's own yes counts only if the policy says approvers: caller", async () => {
    expect(await ask({ approvers: 'caller' }, yes)).toMatchObject({ result: { ok: true }, ran: true });
  });

  it("the calling client's own no counts if the policy says approvers: caller", async () => {
    const approve = vi.fn<Approve>(() => true);
    expect(await ask({ approvers: 'caller' }, no, approve)).toMatchObject({
      result: { error: { code: 'denied' } },
      ran: false,
    });
    expect(approve).not.toHaveBeenCalled();
  });

  it('a client that may answer but does not has not approved', async () => {
    expect(await ask({ approvers: 'caller' }, {})).toMatchObject({ result: { error: { code: 'denied' } }, ran: false });
  });

  it('only the boolean true approves on behalf of the calling client', async () => {
    const odd = { answers: { approval: 'true' } } as never; // what a client sends is anything
    expect(await ask({ approvers: 'caller' }, odd)).toMatchObject({
      result: { error: { code: 'denied' } },
      ran: false,
    });
  });

  it("the library's approve callback belongs to the host and counts, whatever the list of approvers", async () => {
    expect(await ask({ approvers: 'operator' }, {}, () => true)).toMatchObject({ result: { ok: true }, ran: true });
  });

  it('a profile can take the right to answer from the caller, and no layer can restore it', async () => {
    const tool: ToolInput = {
      name: 'tool',
      description: '',
      policy: { approval: 'always', approvers: 'caller' },
      run: () => 1,
    };
    const crib = await createCrib({ tools: [tool], profiles: { strict: { policy: { approvers: 'operator' } } } });
    expect(await (await crib.open('strict')).call('tool', {}, yes)).toMatchObject({ error: { code: 'denied' } });
  });

  it('an agent never approves its own calls: the answer to a call does not apply to nested calls', async () => {
    const policy = { approval: 'always', approvers: 'caller' } as const;
    const crib = await createCrib({
      tools: [
        { name: 'inner', description: '', policy, run: () => 'ran' },
        { name: 'outer', description: '', policy, run: (_: unknown, call: ToolCall) => call.tools.call('inner', {}) },
      ],
    });
    expect(await (await crib.open()).call('outer', {}, yes)).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('inner') },
    });
  });
});
