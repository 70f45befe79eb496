import { expect, it, onTestFinished, vi } from 'vitest';
import { type Crib, type CribOptions, createCrib, type ToolInput } from '../../src/index.ts';
import { bank, idOf, OPERATOR, PAY } from './payments.ts';

const MARK = { ...PAY, name: 'mark', policy: { approval: 'always' } } as const;
const ALICE = { id: 'alice' };
const WITHIN = { timeout: 20_000, interval: 20 };

/** How the configuration of another replica can differ from that of the one that parked the call. */
const OTHERS: [string, readonly object[], CribOptions['config']?][] = [
  ['does not know the tool', []],
  ['has another description of the tool', [{ ...PAY, description: 'Pays somebody else' }]],
  ['has another schema of the tool', [{ ...PAY, input: { type: 'object', required: ['note'] } }]],
  ['runs the tool in another way', [{ ...PAY, run: { kind: 'bank', account: 'other' } }]],
  ['has the tool with other effects', [{ ...PAY, effects: { openWorld: true } }]],
  ['does not know the profile', [PAY], { profiles: { others: { include: '*' } } }],
  ['has the profile without the tool', [PAY], { profiles: { desk: { include: 'mark' }, others: { include: '*' } } }],
];

const DESK = { profiles: { desk: { include: '*' }, others: { include: '*' } } };

/** A server on the shared store, with the tool that marks that it has looked. */
async function replica(url: string, tools: readonly object[], config: CribOptions['config'] = DESK) {
  const paid: unknown[] = [];
  const crib = await createCrib({
    store: { url },
    tools: [...tools, MARK] as ToolInput[], // tools with some of their parts replaced
    executors: [bank(({ spec, input }) => void (spec.name === 'pay' && paid.push(input)))],
    config,
  });
  onTestFinished(() => crib.close());
  return { crib, paid };
}

async function parked(crib: Crib, profile: string, tool: string, amount: number) {
  const chest = await crib.open(profile, ALICE);
  const callId = `${tool} ${amount}`;
  return { id: idOf(await chest.call(tool, { amount }, { door: 'rest', park: true, id: callId })), callId };
}

/** Resolves when the server has looked at what is approved, more than once. */
async function hasLooked(crib: Crib): Promise<void> {
  for (let amount = 1; amount <= 3; amount++) {
    const { id, callId } = await parked(crib, 'others', 'mark', amount);
    await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    await vi.waitFor(async () => expect((await crib.parked(callId, ALICE))?.state).toBe('ended'), WITHIN);
  }
}

/** What is true of approved calls where the configurations of replicas differ. */
export function otherConfigurationsSuite(place: () => Promise<string>): void {
  it.each(OTHERS)(
    'a replica that %s leaves an approved call to a replica with the approved definition',
    async (_, tools, config) => {
      const url = await place();
      const { crib, paid } = await replica(url, [PAY]);
      const other = await replica(url, tools, config);
      const { id, callId } = await parked(crib, 'desk', 'pay', 3);
      onTestFinished(other.crib.runParked());
      await other.crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
      await hasLooked(other.crib);
      expect((await crib.approvals.get(id))?.state).toBe('approved');
      onTestFinished(crib.runParked());
      await vi.waitFor(async () => expect((await crib.parked(callId, ALICE))?.state).toBe('ended'), WITHIN);
      expect(await crib.parked(callId, ALICE)).toMatchObject({ result: { ok: true } });
      expect([paid, other.paid]).toEqual([[{ amount: 3 }], []]);
    },
  );

  it('an approved call expires if no replica has the approved definition', async () => {
    const url = await place();
    const extensions = { approval: { timeoutMs: 1500 } };
    const { crib } = await replica(url, [PAY], { ...DESK, extensions });
    const other = await replica(url, []);
    const { id, callId } = await parked(crib, 'desk', 'pay', 3);
    onTestFinished(other.crib.runParked());
    await other.crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    await vi.waitFor(async () => expect((await crib.approvals.get(id))?.state).toBe('expired'), WITHIN);
    expect(await crib.parked(callId, ALICE)).toMatchObject({
      state: 'ended',
      result: { error: { code: 'denied', message: 'The approval for "pay" was not used.' } },
    });
  });

  it('a replica with the approved definition that refuses the call ends it', async () => {
    const { crib } = await replica(await place(), [PAY]);
    const { id, callId } = await parked(crib, 'desk', 'pay', 3);
    crib.extensions.add({ name: 'no', priority: 990, unsafeOrder: true, wrap: () => REFUSAL });
    onTestFinished(crib.runParked());
    await crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
    await vi.waitFor(async () => expect((await crib.parked(callId, ALICE))?.state).toBe('ended'), WITHIN);
    expect(await crib.parked(callId, ALICE)).toMatchObject({ result: { error: { code: 'denied' } } });
  });
}

const REFUSAL = {
  ok: false,
  status: 'failed',
  error: { code: 'denied', message: 'closed', retryable: false },
} as const;
