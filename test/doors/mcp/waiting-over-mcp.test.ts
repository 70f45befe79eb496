import { expect, it, vi } from 'vitest';
import type { CribOptions, ToolInput } from '../../../src/index.ts';
import { modernRequest, post } from './clients.ts';
import { type Gateway, startGateway } from './gateway.ts';

const OPERATOR = { id: 'boss', operator: true } as const;
const ELICITATION = { elicitation: { form: {} } };

/** A gateway with tools that note their runs. */
async function open(approvers: readonly 'caller'[], more: CribOptions = {}) {
  const runs: string[] = [];
  const tool = (name: string, effects: object): ToolInput => ({
    name,
    description: `Notes ${name}`,
    input: { type: 'object' },
    effects,
    policy: { approvers },
    run: (input: unknown) => {
      runs.push(`${name} ${JSON.stringify(input)}`);
      return name;
    },
  });
  const tools = [tool('read', { readOnly: true }), tool('pay', { destructive: true })];
  const gateway = await startGateway({ tools, profiles: { agent: { expose: 'script' } }, ...more });
  return { gateway, runs };
}

/** Each request stands alone: the server keeps nothing of a connection. */
async function call(gateway: Gateway, code: string, more: object = {}, capabilities: object = {}) {
  const messages = await tellsOf(gateway, code, more, capabilities);
  return messages.at(-1)?.result as Record<string, never> & { _meta?: Record<string, { id: string }> };
}

async function tellsOf({ url }: Gateway, code: string, more: object = {}, capabilities: object = {}) {
  const params = { name: 'execute_script', arguments: { code }, ...more };
  const sent = modernRequest('tools/call', params, capabilities);
  return (await post(url('agent'), sent.body, sent.headers)).messages;
}

const CODE = `
  await tools.read({});
  const paid = await Promise.all([tools.pay({ amount: 1 }), tools.pay({ amount: 2 })]);
  const last = await tools.pay({ amount: 3 });
  return [...paid, last].length;`;

it('a script over MCP waits for an operator; the same call sent again gets its state, then its result', async () => {
  const { gateway, runs } = await open([]);
  const first = await call(gateway, CODE);
  const { id = '' } = first._meta?.['toolcrib/waiting'] ?? {};
  expect(first).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('call it again with the same') }],
  });
  expect((await call(gateway, CODE))._meta?.['toolcrib/waiting']).toMatchObject({ id });
  await gateway.crib.approvals.answer(id, { decision: 'approve' }, OPERATOR);
  const last = await vi.waitUntil(async () => (await gateway.crib.approvals.list({ state: 'waiting' }))[0]);
  expect((await call(gateway, CODE))._meta?.['toolcrib/waiting']).toMatchObject({ id: last.id });
  await gateway.crib.approvals.answer(last.id, { decision: 'approve' }, OPERATOR);
  expect(await call(gateway, CODE)).toMatchObject({ content: [{ text: '3' }] });
  expect(runs).toEqual(['read {}', 'pay {"amount":1}', 'pay {"amount":2}', 'pay {"amount":3}']);
});

it('a client that may approve is asked once for each time that the script waits; a yes counts for what was asked', async () => {
  const { gateway, runs } = await open(['caller']);
  const yes = { inputResponses: { 'toolcrib/approval': { action: 'accept', content: { approve: true } } } };
  const asked = await call(gateway, CODE, {}, ELICITATION);
  expect(asked).toMatchObject({ resultType: 'input_required' });
  expect(JSON.stringify(asked.inputRequests)).toContain('Allow these 2 calls to run.');
  const again = await call(gateway, CODE, { ...yes, requestState: asked.requestState }, ELICITATION);
  expect(again).toMatchObject({ resultType: 'input_required' });
  expect(JSON.stringify(again.inputRequests)).toContain('3');
  expect(runs).toEqual(['read {}', 'pay {"amount":1}', 'pay {"amount":2}']);
  const ended = await call(gateway, CODE, { ...yes, requestState: again.requestState }, ELICITATION);
  expect(ended).toMatchObject({ content: [{ text: '3' }] });
  expect(runs).toHaveLength(4);
});

it('a client whose yes lets the script go on gets its further console output as progress, and nothing twice', async () => {
  const { gateway } = await open(['caller']);
  const code = `
    console.log('one');
    await tools.pay({ amount: 1 });
    console.log('two');
    console.log('three');
    await tools.pay({ amount: 2 });
    console.log('four');
    return 'paid';`;
  const told: unknown[] = [];
  let more: object = {};
  for (const _turn of [1, 2, 3]) {
    const messages = await tellsOf(gateway, code, { ...more, _meta: { progressToken: 't' } }, ELICITATION);
    told.push(messages.flatMap(({ params }) => params?.message ?? []));
    const result = messages.at(-1)?.result;
    const yes = { action: 'accept', content: { approve: true } };
    more = { inputResponses: { 'toolcrib/approval': yes }, requestState: result?.requestState };
  }
  expect(told).toEqual([['one'], ['two', 'three'], ['four']]);
});

it('a client that may approve a delegated call is asked, and its answer counts for that call', async () => {
  const profiles = { desk: { delegate: { desk: 'open' } } } as const;
  const { gateway, runs } = await open(['caller'], { profiles, defaultProfile: 'desk' });
  for (const approve of [true, false]) {
    const given = { profile: 'desk', tool: 'pay', arguments: { amount: approve ? 1 : 2 } };
    const delegate = async (more: object) => {
      const params = { name: 'delegate', arguments: given, ...more };
      const sent = modernRequest('tools/call', params, ELICITATION);
      return (await post(gateway.url('desk'), sent.body, sent.headers)).messages.at(-1)?.result;
    };
    const asked = await delegate({});
    expect(asked).toMatchObject({ resultType: 'input_required' });
    const answer = { inputResponses: { 'toolcrib/approval': { action: 'accept', content: { approve } } } };
    const ended = await delegate({ ...answer, requestState: asked?.requestState });
    expect(ended).toMatchObject({ content: [{ text: expect.stringMatching(approve ? /^pay$/ : /denied/) }] });
  }
  expect(runs).toEqual(['pay {"amount":1}']);
});
