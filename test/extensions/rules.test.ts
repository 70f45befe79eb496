import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  type Approve,
  type Caller,
  type CribOptions,
  createCrib,
  defineTool,
  type Next,
  type ProfileInput,
  type ToolInput,
} from '../../src/index.ts';
import { wrong } from '../bad-input/wrong.ts';

type Rules = NonNullable<ProfileInput['rules']>;

const atMost = (maximum: number) => ({ properties: { amount: { maximum } } });

interface Desk extends CribOptions {
  readonly rules: Rules;
  readonly caller?: Caller;
}

/** Pays under these rules and tells what came of it. */
async function openDesk({ rules, caller = { id: 'alice' }, ...options }: Desk) {
  const run = vi.fn((input: unknown) => input);
  const pay: ToolInput = {
    name: 'pay',
    description: '',
    input: {
      type: 'object',
      properties: { amount: { type: 'number' }, to: { type: 'string', default: 'bob' } },
      required: ['amount'],
    },
    run,
  };
  const crib = await createCrib({ tools: [pay], profiles: { desk: { rules } }, ...options });
  const chest = await crib.open('desk', caller);
  return { crib, run, pay: (input: object) => chest.call('pay', input) };
}

describe('a rule over arguments', () => {
  it('that holds lets the call pass unchanged', async () => {
    const when = { properties: { amount: { maximum: 100, default: 7 }, note: { default: 'added by the rule' } } };
    const { pay } = await openDesk({ rules: [{ tools: 'pay', when, otherwise: 'deny' }] });
    expect(await pay({ amount: 100 })).toMatchObject({ ok: true, data: { amount: 100, to: 'bob' } });
  });

  it('that fails denies, names its condition, and the tool does not run', async () => {
    const { pay, run } = await openDesk({ rules: [{ tools: ['pay'], when: atMost(100), otherwise: 'deny' }] });
    expect(await pay({ amount: 101 })).toMatchObject({
      ok: false,
      error: {
        code: 'denied',
        retryable: false,
        message: expect.stringMatching(/rule of the profile "desk".*"pay".*\/amount must be at most 100/),
      },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('uses its own message if it has one', async () => {
    const when = { ...atMost(100), description: 'payments above 100 go through the bank' };
    const { pay } = await openDesk({ rules: [{ tools: 'pay', when, otherwise: 'deny' }] });
    expect(await pay({ amount: 101 })).toMatchObject({
      error: { message: expect.stringContaining('payments above 100 go through the bank') },
    });
  });

  it('that fails requires approval, with the reason; one that holds does not', async () => {
    const approve = vi.fn<Approve>(() => true);
    const rules: Rules = [{ tools: 'pay', when: atMost(100), otherwise: 'approve' }];
    const { pay, run } = await openDesk({ rules, caller: { id: 'alice', approve } });
    await pay({ amount: 100 });
    expect(approve).not.toHaveBeenCalled();
    expect(await pay({ amount: 101 })).toMatchObject({ ok: true });
    expect(approve.mock.calls).toMatchObject([
      [
        {
          tool: 'pay',
          arguments: { amount: 101 },
          reason: expect.stringMatching(/rule.*\/amount must be at most 100/),
        },
      ],
    ]);
    expect(run).toHaveBeenCalledTimes(2);
  });

  it('that requires approval denies if no approver is available', async () => {
    const { pay, run } = await openDesk({ rules: [{ tools: 'pay', when: atMost(100), otherwise: 'approve' }] });
    expect(await pay({ amount: 101 })).toMatchObject({
      error: { code: 'denied', message: expect.stringMatching(/at most 100.*no approver is available/) },
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('that denies takes precedence over one that requires approval, in any order', async () => {
    const approve = vi.fn<Approve>(() => true);
    const asks = { tools: 'pay', when: atMost(10), otherwise: 'approve' } as const;
    const denies = { tools: 'pay', when: atMost(100), otherwise: 'deny' } as const;
    for (const rules of [
      [asks, denies],
      [denies, asks],
    ]) {
      const { pay } = await openDesk({ rules, caller: { id: 'alice', approve } });
      expect(await pay({ amount: 1000 })).toMatchObject({ error: { code: 'denied' } });
      expect(approve).not.toHaveBeenCalled();
      expect(await pay({ amount: 50 })).toMatchObject({ ok: true });
      approve.mockClear();
    }
  });

  it('and the policy of the tool make one request with both reasons', async () => {
    const approve = vi.fn<Approve>(() => true);
    const { pay } = await openDesk({
      rules: [{ tools: 'pay', when: atMost(100), otherwise: 'approve' }],
      profiles: {
        desk: {
          approve: ['pay'],
          rules: [{ tools: 'pay', when: atMost(100), otherwise: 'approve' }],
        },
      },
      caller: { id: 'alice', approve },
    });
    await pay({ amount: 101 });
    await pay({ amount: 99 });
    expect(approve.mock.calls.map(([{ reason }]) => reason)).toEqual([
      expect.stringMatching(
        /^its policy requires approval for every call, and a rule of the profile "desk".*at most 100/,
      ),
      'its policy requires approval for every call',
    ]);
  });

  it('applies to the tools it selects, and under its profile only', async () => {
    const rules: Rules = [{ tools: ['tag:money'], when: atMost(0), otherwise: 'deny' }];
    const tools: ToolInput[] = [
      { name: 'spend', description: '', tags: ['money'], run: () => 'spent' },
      { name: 'look', description: '', run: () => 'looked' },
    ];
    const crib = await createCrib({ tools, profiles: { desk: { rules }, other: {} } });
    const [desk, other] = [await crib.open('desk'), await crib.open('other')];
    expect(await desk.call('spend', { amount: 1 })).toMatchObject({ error: { code: 'denied' } });
    expect(await desk.call('look', { amount: 1 })).toMatchObject({ ok: true });
    expect(await other.call('spend', { amount: 1 })).toMatchObject({ ok: true });
  });

  it('applies to nested calls', async () => {
    const rules: Rules = [{ tools: ['inner'], when: atMost(5), otherwise: 'deny' }];
    const crib = await createCrib({
      tools: [
        { name: 'inner', description: '', run: () => 'ran' },
        { name: 'outer', description: '', run: (_, call) => call.tools.call('inner', { amount: 6 }) },
      ],
      profiles: { desk: { rules } },
    });
    expect(await (await crib.open()).call('outer')).toMatchObject({ error: { code: 'denied' } });
  });

  it('that requires approval is not skipped if the approval extension is off or replaced', async () => {
    const rules: Rules = [{ tools: 'pay', when: atMost(100), otherwise: 'approve' }];
    const off = await openDesk({ rules });
    off.crib.extensions.remove('approval');
    const careless = { name: 'approval', priority: 'highest', wrap: (_: unknown, next: Next) => next() } as const;
    const replaced = await openDesk({ rules, extensions: [careless] });
    for (const { pay, run } of [off, replaced]) {
      expect(await pay({ amount: 101 })).toMatchObject({ error: { code: 'denied' } });
      expect(run).not.toHaveBeenCalled();
      expect(await pay({ amount: 100 })).toMatchObject({ ok: true });
    }
  });

  it('is evaluated for valid arguments only', async () => {
    const { pay } = await openDesk({ rules: [{ tools: 'pay', when: atMost(100), otherwise: 'deny' }] });
    expect(await pay({ amount: 'much' })).toMatchObject({ error: { code: 'invalid_input' } });
  });

  it("is evaluated for the output of the author's schema, too", async () => {
    const run = vi.fn(() => 'paid');
    const input = z.object({ amount: z.coerce.number(), on: z.string().transform((text) => new Date(text)) });
    const tool = defineTool({ name: 'pay', description: '', input, run });
    const rules: Rules = [{ tools: 'pay', when: atMost(100), otherwise: 'deny' }];
    const { pay } = await openDesk({ rules, tools: [tool] });
    const on = '2030-01-01';
    expect(await pay({ amount: '5000', on })).toMatchObject({ error: { code: 'denied' } });
    expect(run).not.toHaveBeenCalled();
    expect(await pay({ amount: '50', on })).toMatchObject({ ok: true });
  });

  it('fails for arguments that cannot be read', async () => {
    const input = z.object({ amount: z.string().transform((text) => BigInt(text)) });
    const tool = defineTool({ name: 'pay', description: '', input, run: () => 'paid' });
    const rules: Rules = [{ tools: 'pay', when: atMost(100), otherwise: 'deny' }];
    const { pay } = await openDesk({ rules, tools: [tool] });
    expect(await pay({ amount: '1' })).toMatchObject({ error: { code: 'denied' } });
  });
});

describe('a bound of a rule implies the type', () => {
  const LOOSE: Readonly<Record<string, ToolInput['input']>> = {
    'no schema at all': {},
    'a property without a type': { type: 'object', properties: { amount: {} } },
    'more properties than are named': { type: 'object', additionalProperties: true },
    'a schema of its author that takes anything': z.looseObject({ amount: z.any() }),
    'a schema of its author that takes numbers and texts': z.object({ amount: z.union([z.number(), z.string()]) }),
  };
  const otherwise = ['deny', 'approve'] as const;

  it.each(Object.keys(LOOSE))('for a tool with %s', async (name) => {
    for (const decision of otherwise) {
      const run = vi.fn(() => 'paid');
      const tool = { name: 'pay', description: '', input: LOOSE[name], run } as ToolInput; // one of the table
      const { pay } = await openDesk({
        rules: [{ tools: 'pay', when: atMost(100), otherwise: decision }],
        tools: [tool],
      });
      for (const amount of ['5000', '50', [5000], { value: 5000 }, null, true, 5000]) {
        expect(await pay({ amount })).toMatchObject({ ok: false });
        expect(run).not.toHaveBeenCalled();
      }
      expect(await pay({ amount: 50 })).toMatchObject({ ok: true });
    }
  });

  it("for the output of the author's schema, which the tool gets", async () => {
    const date = z.string().transform((text) => new Date(text));
    const readings: readonly (readonly [ToolInput['input'], unknown, boolean])[] = [
      [z.object({ amount: z.coerce.number() }), '50', true],
      [z.object({ amount: z.coerce.number() }), '5000', false],
      [z.object({ amount: z.coerce.number() }), [50], true],
      [z.object({ amount: z.coerce.number() }), [5000], false],
      [z.object({ amount: z.coerce.number(), on: date.default(new Date(0)) }), '50', true],
      [z.object({ amount: z.coerce.number(), on: date.default(new Date(0)) }), '5000', false],
      [z.object({ amount: z.any(), on: date.default(new Date(0)) }), '5000', false],
      [z.object({ amount: z.any(), on: date.default(new Date(0)) }), 50, true],
      [z.object({ amount: z.array(z.number()).transform(([one]) => one) }), [50], true],
      [z.object({ amount: z.array(z.number()).transform(([one]) => one) }), [5000], false],
      [z.object({ amount: z.number().transform(String) }), 5000, false],
    ];
    for (const [input, amount, isAllowed] of readings) {
      const tool = { name: 'pay', description: '', input, run: () => 'paid' } as ToolInput; // one of the table
      const { pay } = await openDesk({
        rules: [{ tools: 'pay', when: atMost(100), otherwise: 'deny' }],
        tools: [tool],
      });
      expect([amount, (await pay({ amount })).ok]).toEqual([amount, isAllowed]);
    }
  });

  it('also if the author renames arguments', async () => {
    const on = z.string().transform((text) => new Date(text));
    const inputs: readonly ToolInput['input'][] = [
      z.object({ amount: z.coerce.number() }).transform(({ amount }) => ({ cents: amount * 100 })),
      z
        .object({ amount: z.coerce.number(), on: on.default(new Date(0)) })
        .transform(({ amount, ...rest }) => ({ cents: amount * 100, ...rest })),
    ];
    for (const input of inputs) {
      const run = vi.fn(() => 'paid');
      const { pay } = await openDesk({
        rules: [{ tools: 'pay', when: atMost(100), otherwise: 'deny' }],
        tools: [{ name: 'pay', description: '', input, run } as ToolInput], // one of the table
      });
      for (const amount of [5000, '5000', [5000], true])
        expect(await pay({ amount })).toMatchObject({ error: { code: 'denied' } });
      expect(run).not.toHaveBeenCalled();
      expect(await pay({ amount: 50 })).toMatchObject({ ok: true });
    }
  });

  it('at depth, if the author renames members of members', async () => {
    const when = { properties: { bills: { items: { properties: { amount: { maximum: 100 } } } } } };
    const bill = z.object({ amount: z.coerce.number() }).transform(({ amount }) => ({ cents: amount * 100 }));
    const input = z.object({ bills: z.array(bill) });
    const { pay } = await openDesk({
      rules: [{ tools: 'pay', when, otherwise: 'deny' }],
      tools: [{ name: 'pay', description: '', input, run: () => 'paid' } as ToolInput], // as above
    });
    for (const amount of [5000, '5000'])
      expect(await pay({ bills: [{ amount: 1 }, { amount }] })).toMatchObject({ error: { code: 'denied' } });
    expect(await pay({ bills: [{ amount: 1 }, { amount: 2 }] })).toMatchObject({ ok: true });
  });

  it('and a name that the caller chose is not read as part of the rule', async () => {
    const asked = vi.fn(() => false);
    const { pay } = await openDesk({
      rules: [{ tools: 'pay', when: { additionalProperties: { maxLength: 3 } }, otherwise: 'approve' }],
      tools: [{ name: 'pay', description: '', input: {}, run: () => 'paid' }],
      caller: { id: 'alice', approve: asked },
    });
    await pay({ 'was met, says the owner; note': 'long' });
    expect(asked).toHaveBeenCalledWith(
      expect.objectContaining({ reason: expect.stringContaining('is not met: "/was met, says the owner; note" must') }),
    );
  });

  it('and the error names the required type', async () => {
    const tool: ToolInput = { name: 'pay', description: '', input: {}, run: () => 'paid' };
    const { pay } = await openDesk({ rules: [{ tools: 'pay', when: atMost(100), otherwise: 'deny' }], tools: [tool] });
    expect(await pay({ amount: '5000' })).toMatchObject({
      error: { code: 'denied', message: expect.stringContaining('/amount must be a number, got the string') },
    });
  });

  it('and does not apply to an absent property, unless the rule requires it', async () => {
    const tool: ToolInput = { name: 'pay', description: '', input: {}, run: () => 'paid' };
    const open = (when: Rules[number]['when']) =>
      openDesk({ rules: [{ tools: 'pay', when, otherwise: 'deny' }], tools: [tool] });
    expect(await (await open(atMost(100))).pay({})).toMatchObject({ ok: true });
    expect(await (await open({ ...atMost(100), required: ['amount'] })).pay({})).toMatchObject({ ok: false });
  });
});

describe('a rule that cannot be evaluated', () => {
  const start = (when: unknown) =>
    createCrib({ profiles: { desk: { rules: [{ tools: ['x'], when: wrong(when), otherwise: 'deny' }] } } });

  it.each<[string, unknown]>([
    ['a type that does not exist', { properties: { amount: { type: 'numbr' } } }],
    ['a keyword of the wrong kind', { properties: { amount: { maximum: 'hundred' } } }],
    ['a remote reference', { $ref: 'https://example.com/schema.json' }],
    ['a reference to nothing', { $ref: '#/$defs/none' }],
    ['a reference by an anchor', { $ref: '#a', $defs: { a: { $anchor: 'a', maximum: 1 } } }],
    ['a pattern that could hang', { properties: { name: { pattern: '(a+)+\\1$' } } }],
  ])('%s: an error at start that names profile and rule', async (_, when) => {
    await expect(start(when)).rejects.toMatchObject({
      name: 'ToolcribError',
      message: expect.stringMatching(/Profile "desk": rules\[0\]: when/),
    });
  });

  it.each<[string, unknown]>([
    ['a text', 'amount < 100'],
    ['a list', []],
    ['nothing', undefined],
    ['true', true],
  ])('%s instead of a schema is an error at start', async (_, when) => {
    await expect(start(when)).rejects.toMatchObject({ message: expect.stringContaining('JSON Schema') });
  });

  it.each<[string, object]>([
    ['no tools', { when: {}, otherwise: 'deny' }],
    ['another otherwise', { tools: ['x'], when: {}, otherwise: 'allow' }],
    ['an unknown key', { tools: ['x'], when: {}, otherwise: 'deny', unless: {} }],
  ])('%s is an error at start', async (_, rule) => {
    await expect(createCrib({ profiles: { desk: { rules: wrong([rule]) } } })).rejects.toMatchObject({
      name: 'ToolcribError',
    });
  });

  it('whose tools do not exist is reported', async () => {
    const crib = await createCrib({
      profiles: { desk: { rules: [{ tools: ['nothing_*'], when: {}, otherwise: 'deny' }] } },
    });
    expect(crib.warnings().join('\n')).toContain('a rule for "nothing_*" matches no tool');
  });
});
