import { describe, expect, it } from 'vitest';
import type { ToolCall, ToolInput, ToolResult } from '../../../src/index.ts';
import { type InnerCall, pay, storedIn } from '../../approvals/scripts.ts';
import { modernRequest, post } from './clients.ts';
import { type Gateway, startGateway } from './gateway.ts';

const ELICITATION = { elicitation: { form: {} } };

const tool = (name: string, approvers: readonly 'caller'[]): ToolInput => ({
  name,
  description: 'Pays',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  effects: { destructive: true },
  policy: { approvers },
  run: () => 'paid',
});

/** A gateway with a tool that makes calls in a batch and waits for it, as a script does. */
async function openBatches(): Promise<Gateway> {
  let batches = 0;
  const gateway = await startGateway({
    tools: [
      tool('pay', ['caller']),
      tool('pay_guarded', []),
      { name: 'job', description: 'Makes calls', input: { type: 'object' }, run: { kind: 'job' } } as ToolInput, // its kind is below
    ],
    executors: [
      {
        kind: 'job',
        runSchema: { type: 'object' },
        async execute(call: ToolCall): Promise<ToolResult> {
          const batch = `job.${++batches}`;
          const calls = call.input.calls as unknown as readonly InnerCall[]; // as the test sends them
          await Promise.all(calls.map((one) => call.tools.call(one.tool, one.input, { park: true, batch })));
          const [first] = await storedIn(gateway.crib).sealBatch(batch);
          const expiresAt = first?.expiresAt ?? 0;
          return { ok: false, status: 'waiting', waiting: { for: 'approval', id: batch, expiresAt } };
        },
      },
    ],
  });
  return gateway;
}

async function ask({ url }: Gateway, calls: readonly InnerCall[]) {
  const sent = modernRequest('tools/call', { name: 'job', arguments: { calls } }, ELICITATION);
  const { messages } = await post(url(), sent.body, sent.headers);
  return messages.at(-1)?.result;
}

describe('a batch over MCP', () => {
  it('a client that may approve each call is asked once, with the arguments of each', async () => {
    const result = await ask(await openBatches(), [pay(3), pay(4)]);
    expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    const { params } = (result as { inputRequests: Record<string, { params: { message: string } }> }).inputRequests[
      'toolcrib/approval'
    ] ?? { params: { message: '' } };
    expect(params).toMatchObject({
      requestedSchema: { properties: { approve: { title: 'Run them', description: 'Allow these 2 calls to run.' } } },
    });
    expect(params.message.split('\n')).toEqual([
      'May these 2 calls inside "job" run? The answer counts for all of them.',
      'Call 1 of 2:',
      '  "pay" requires approval because it is destructive.',
      '  Description: "Pays"',
      '  Arguments:',
      '    "amount": 3',
      'Call 2 of 2:',
      '  "pay" requires approval because it is destructive.',
      '  Description: "Pays"',
      '  Arguments:',
      '    "amount": 4',
      'Caller: "local"',
      'Profile: "all"',
      expect.stringMatching(/^Expires: /),
    ]);
  });

  it.each([
    ['one of them is not its own to approve', [pay(3), { tool: 'pay_guarded', input: { amount: 4 } }]],
    [
      'all of them together are too long to show',
      Array.from({ length: 60 }, (_, n) => pay(n, { note: 'x'.repeat(480) })),
    ],
  ])('a client is not asked if %s', async (_, calls) => {
    const gateway = await openBatches();
    const result = await ask(gateway, calls);
    expect(result).toMatchObject({ isError: true, _meta: { 'toolcrib/waiting': { for: 'approval', id: 'job.1' } } });
    expect(await gateway.crib.approvals.list({ state: 'waiting' })).toMatchObject([{ id: 'job.1' }]);
  });
});

describe('a client that wants more than a yes to its own call', () => {
  it('gets this call alone: what it sends beside approve is not remembered', async () => {
    const gateway = await openBatches();
    const send = async (more: object) => {
      const sent = modernRequest('tools/call', { name: 'pay', arguments: { amount: 3 }, ...more }, ELICITATION);
      const { messages } = await post(gateway.url(), sent.body, sent.headers);
      return messages.at(-1)?.result as { readonly requestState?: string; readonly isError?: boolean };
    };
    const { requestState } = await send({});
    const remember = { uses: 100, forMs: 60_000, vary: { amount: { type: 'number' } } };
    const content = { approve: true, remember, vary: remember.vary };
    const inputResponses = { 'toolcrib/approval': { action: 'accept', content, remember } };
    expect((await send({ requestState, inputResponses })).isError ?? false).toBe(false);
    expect(await gateway.crib.approvals.grants()).toEqual([]);
    expect(await send({})).toMatchObject({ resultType: 'input_required' });
  });
});
