import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { done, type ToolCall, type ToolInput } from '../../../src/index.ts';
import { stillTime } from '../../crib/manual-clock.ts';
import { folderWith } from '../../crib/workshop.ts';
import { modernRequest, post, type RawMessage } from './clients.ts';
import { type Gateway, startGateway } from './gateway.ts';

const ELICITATION = { elicitation: { form: {} } };
const KEY = 'toolcrib/approval';

const PAY: ToolInput = {
  name: 'pay',
  description: 'Pays',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  effects: { destructive: true },
  policy: { approvers: ['caller'] },
  run: { kind: 'bank' },
};

async function openBank(
  options: Parameters<typeof startGateway>[0] = {},
): Promise<Gateway & { readonly paid: unknown[] }> {
  const paid: unknown[] = [];
  const gateway = await startGateway({
    tools: [PAY, { ...PAY, name: 'pay_other' } as ToolInput, { ...PAY, name: 'pay_guarded', policy: {} } as ToolInput], // the same with one part replaced
    executors: [
      {
        kind: 'bank',
        runSchema: { type: 'object' },
        execute: async (call: ToolCall) => {
          paid.push(call.input);
          return done('paid');
        },
      },
    ],
    ...options,
  });
  return { ...gateway, paid };
}

interface Retry {
  readonly requestState?: unknown;
  readonly inputResponses?: unknown;
  readonly name?: string;
  readonly amount?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly capabilities?: unknown;
}

/** Sends a call, or sends it again with answers. */
async function pay(url: string, retry: Retry = {}): Promise<RawMessage> {
  const { name = 'pay', amount = 3, headers = {}, capabilities = ELICITATION, ...rest } = retry;
  const sent = modernRequest('tools/call', { name, arguments: { amount }, ...rest }, capabilities);
  const { messages } = await post(url, sent.body, { ...sent.headers, ...headers });
  return messages.at(-1) ?? {};
}

/** Uses up what one caller may keep. */
async function useMany({ crib }: Gateway): Promise<void> {
  const spec = crib.get('pay');
  if (spec === undefined) throw new Error('the tool is not there');
  const subject = { caller: { id: 'local' }, profile: 'all', called: 'pay', spec, arguments: {} };
  for (let time = 0; time < 1000; time++)
    await crib.requestStates.open(subject, await crib.requestStates.seal(subject, {}, Date.now() + 60_000));
}

it('a caller that has used too many states gets an error, and its answer is not used', async () => {
  const bank = await openBank();
  const requestState = await stateFrom(bank.url());
  await useMany(bank);
  const inputResponses = { [KEY]: { action: 'accept', content: { approve: true } } };
  expect((await pay(bank.url(), { requestState, inputResponses })).error).toMatchObject({
    code: -32_602,
    message: expect.stringContaining('Too many request states were used recently'),
    data: { reason: 'too_many_request_states' },
  });
  expect(bank.paid).toEqual([]);
});

async function stateFrom(url: string): Promise<string> {
  const { result } = await pay(url);
  expect(result).toMatchObject({ resultType: 'input_required' });
  return String(result?.requestState);
}

const YES = { [KEY]: { action: 'accept', content: { approve: true } } };

afterEach(() => {
  vi.useRealTimers();
});

describe('if the caller itself may approve', () => {
  it('the client is asked, and its yes counts once', async () => {
    const { url, paid, crib } = await openBank();
    const { result } = await pay(url());
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        [KEY]: {
          method: 'elicitation/create',
          params: {
            message: expect.stringMatching(
              /^May "pay" run\?\nApproval is required because it is destructive\.\n.*\nArguments:\n {2}"amount": 3\nCaller: "local"\n/s,
            ),
            requestedSchema: { type: 'object', properties: { approve: { type: 'boolean' } }, required: ['approve'] },
          },
        },
      },
      requestState: expect.stringMatching(/^v1\./),
    });
    const requestState = result?.requestState;
    expect(await pay(url(), { requestState, inputResponses: YES })).toMatchObject({
      result: { content: [{ text: 'paid' }] },
    });
    expect(paid).toEqual([{ amount: 3 }]);
    expect(await crib.approvals.list({})).toMatchObject([
      { state: 'done', answer: { by: 'local', decision: 'approve' } },
    ]);
    expect(await pay(url(), { requestState, inputResponses: YES })).toMatchObject({
      error: { code: -32602, message: 'Invalid or expired requestState' },
    });
    expect(paid).toHaveLength(1);
  });

  it('the SDK asks its user and continues automatically', async () => {
    const { url, paid } = await openBank();
    const answers = [true, false];
    const client = new Client(
      { name: 'asks', version: '1' },
      { capabilities: ELICITATION, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept' as const,
      content: { approve: answers.shift() === true },
    }));
    await client.connect(new StreamableHTTPClientTransport(new URL(url())));
    onTestFinished(() => client.close());
    expect(await client.callTool({ name: 'pay', arguments: { amount: 1 } })).toMatchObject({
      content: [{ text: 'paid' }],
    });
    expect(await client.callTool({ name: 'pay', arguments: { amount: 2 } })).toMatchObject({
      isError: true,
      content: [{ text: 'denied: The approver denied "pay".' }],
    });
    expect(paid).toEqual([{ amount: 1 }]);
  });

  it.each([
    ['no', { action: 'decline' }, /approver denied/],
    ['no by the form', { action: 'accept', content: { approve: false } }, /approver denied/],
    ['something that is not a yes', { action: 'accept', content: { approve: 'true' } }, /approver denied/],
    ['yes without the form', { action: 'accept' }, /approver denied/],
  ])('%s is a no', async (_what, response, words) => {
    const { url, paid } = await openBank();
    const requestState = await stateFrom(url());
    const { result } = await pay(url(), { requestState, inputResponses: { [KEY]: response } });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(words) }] });
    expect(paid).toEqual([]);
  });

  it('a client that closes the question is not asked again at once, and the call stays parked', async () => {
    const { url, paid, crib } = await openBank();
    const requestState = await stateFrom(url());
    const { result } = await pay(url(), { requestState, inputResponses: { [KEY]: { action: 'cancel' } } });
    expect(result).toMatchObject({ isError: true, _meta: { 'toolcrib/waiting': { for: 'approval' } } });
    expect(await crib.approvals.list({ state: 'waiting' })).toHaveLength(1);
    expect(paid).toEqual([]);
  });

  it.each([
    ['nothing', undefined],
    ['something else', { other: { action: 'accept', content: { approve: true } } }],
    ['nonsense', { [KEY]: 'yes' }],
    ['a list', ['yes']],
  ])('a client that answers with %s is asked again', async (_what, inputResponses) => {
    const { url, paid } = await openBank();
    const requestState = await stateFrom(url());
    expect(await pay(url(), { requestState, inputResponses })).toMatchObject({
      result: { resultType: 'input_required' },
    });
    expect(paid).toEqual([]);
  });

  it('a yes to a question that was never asked has no effect', async () => {
    const { url, paid } = await openBank();
    for (let time = 0; time < 2; time++)
      expect(await pay(url(), { inputResponses: YES })).toMatchObject({ result: { resultType: 'input_required' } });
    expect(paid).toEqual([]);
  });

  it('a client that does not support questions gets the waiting answer', async () => {
    const { url } = await openBank();
    for (const capabilities of [{}, { elicitation: { url: {} } }, { sampling: {} }]) {
      const { result } = await pay(url(), { capabilities });
      expect(result).toMatchObject({ isError: true, _meta: { 'toolcrib/waiting': { for: 'approval' } } });
    }
  });
});

describe('the question to the user of a client', () => {
  const WRITE: ToolInput = {
    name: 'write',
    description: 'Writes \u202e',
    effects: { destructive: true },
    policy: { approvers: ['caller'] },
    run: { kind: 'bank' },
  };
  const write = async (url: string, given: object, more: object = {}) => {
    const sent = modernRequest('tools/call', { name: 'write', arguments: given, ...more }, ELICITATION);
    return (await post(url, sent.body, sent.headers)).messages.at(-1) ?? {};
  };

  it('names every argument, however long others are, and hides nothing', async () => {
    const { url } = await openBank({ tools: [WRITE] });
    const given = {
      note: 'harmless '.repeat(500),
      'a\u202eb': { deep: { '\u200bx': '\u2066y' } },
      path: '/etc/passwd',
    };
    const { result } = await write(url(), given);
    const asked = JSON.parse(JSON.stringify(result?.inputRequests))[KEY].params.message;
    expect(asked).toContain('\n  "path": "/etc/passwd"\n');
    expect(asked).toContain('(4500 characters, 4000 not shown)');
    expect(asked).toContain('\n  "a\\u{202e}b": {"deep": {"\\u{200b}x": "\\u{2066}y"}}\n');
    expect(asked).not.toMatch(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
  });

  it('is not sent above 16 kB of text: the call waits for an operator, and the answer says why', async () => {
    const { url, paid, crib } = await openBank({ tools: [WRITE] });
    const given = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`argument${index}`, 'x'.repeat(400)]));
    const { result } = await write(url(), given);
    expect(result).toMatchObject({
      isError: true,
      content: [
        { text: expect.stringMatching(/has \d+ bytes\. .* only up to 16384 bytes, so the operator must answer\./) },
      ],
      _meta: { 'toolcrib/waiting': { for: 'approval' } },
    });
    const [approval] = await crib.approvals.list({ state: 'waiting' });
    const yes = (by: object) => crib.approvals.answer(approval?.id ?? '', { decision: 'approve' }, by);
    expect(await yes({ id: 'local' })).toMatchObject({
      error: { code: 'denied', message: expect.stringMatching(/16384/) },
    });
    const chest = await crib.open(undefined, { id: 'local' });
    for (const approvalId of [undefined, approval?.id ?? ''])
      expect(
        await chest.call('write', given, {
          answers: { approval: true },
          park: true,
          ...(approvalId && { approvalId }),
        }),
      ).toMatchObject({ status: 'waiting' });
    expect(paid).toEqual([]);
    expect(await yes({ id: 'olga', operator: true })).toMatchObject({ ok: true });
    expect((await write(url(), given)).result).toMatchObject({ content: [{ text: 'paid' }] });
  });
});

describe('if another approver is required', () => {
  it('the client is not asked, and a yes that it sends anyway has no effect', async () => {
    const { url, paid } = await openBank();
    expect(await pay(url(), { name: 'pay_guarded' })).toMatchObject({ result: { isError: true } });
    const requestState = await stateFrom(url());
    expect(await pay(url(), { name: 'pay_guarded', inputResponses: YES })).toMatchObject({ result: { isError: true } });
    expect(await pay(url(), { name: 'pay_guarded', inputResponses: YES, requestState })).toMatchObject({
      error: { code: -32602 },
    });
    expect(paid).toEqual([]);
  });
});

describe('the state that a client carries between two requests', () => {
  it('reveals nothing to its readers', async () => {
    const { url, crib } = await openBank();
    const state = await stateFrom(url());
    const [approval] = await crib.approvals.list({});
    const bytes = Buffer.from(state.slice(3), 'base64url').toString('latin1');
    for (const secret of ['pay', 'local', 'amount', approval?.id ?? 'none']) expect(bytes).not.toContain(secret);
    expect(await stateFrom(url())).not.toBe(state);
  });

  it('is refused if any letter of it is changed, cut or added', async () => {
    const { url, paid } = await openBank();
    const state = await stateFrom(url());
    const changed = [
      `${state}-TAMPERED`,
      `${state}A`,
      `${state}=`,
      ` ${state}`,
      state.slice(0, -1),
      state.slice(0, 20),
      state.slice(3),
      `v2.${state.slice(3)}`,
      'v1.',
      '',
      'null',
      ...Array.from({ length: 40 }, (_, index) => flip(state, 3 + Math.floor((index * (state.length - 4)) / 39))),
    ];
    for (const requestState of changed) {
      expect(await pay(url(), { requestState, inputResponses: YES })).toMatchObject({
        error: { code: -32602, message: 'Invalid or expired requestState', data: { reason: 'invalid_request_state' } },
      });
    }
    for (const requestState of [7, null, {}, [state]])
      expect(await pay(url(), { requestState, inputResponses: YES })).toMatchObject({ error: { code: -32602 } });
    expect(paid).toEqual([]);
    expect(await pay(url(), { requestState: state, inputResponses: YES })).toMatchObject({
      result: { content: [{ text: 'paid' }] },
    });
  });

  it('is valid only for its tool, arguments, profile and definition', async () => {
    const { url, paid, crib } = await openBank({ profiles: { a: {}, b: {} }, defaultProfile: 'a' });
    const requestState = await stateFrom(url());
    const token = await crib.operatorToken();
    const headers = { authorization: `Bearer ${token}` };
    for (const [where, other] of [
      [url(), { amount: 4 }],
      [url(), { name: 'pay_other' }],
      [url('b'), { headers }],
      [url(), { headers }],
    ] as const)
      expect(await pay(where, { requestState, inputResponses: YES, ...other })).toMatchObject({
        error: { code: -32602 },
      });
    crib.unregister('pay');
    crib.register({ ...PAY, description: 'Pays somebody else' } as ToolInput); // the same with one part replaced
    expect(await pay(url(), { requestState, inputResponses: YES })).toMatchObject({ error: { code: -32602 } });
    expect(paid).toEqual([]);
  });

  it('expires with the approval request', async () => {
    const { url, paid } = await openBank();
    const later = stillTime();
    const requestState = await stateFrom(url());
    later(300_001);
    expect(await pay(url(), { requestState, inputResponses: YES })).toMatchObject({ error: { code: -32602 } });
    expect(paid).toEqual([]);
  });

  it('can be used on another replica, once for all of them', async () => {
    const store = { url: `sqlite:${join(folderWith({}), 'crib.db')}` };
    const [first, second] = [await openBank({ store }), await openBank({ store })];
    const requestState = await stateFrom(first.url());
    const send = (url: string) => pay(url, { requestState, inputResponses: YES });
    const answers = await Promise.all([send(second.url()), send(first.url()), send(second.url())]);
    expect(answers.filter(({ error }) => error?.code === -32602)).toHaveLength(2);
    expect([...first.paid, ...second.paid]).toEqual([{ amount: 3 }]);
  });

  it('counts once, however many clients send it at the same time', async () => {
    const { url, paid } = await openBank();
    const requestState = await stateFrom(url());
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => pay(url(), { requestState, inputResponses: YES })),
    );
    expect(answers.filter(({ error }) => error?.code === -32602)).toHaveLength(9);
    expect(paid).toHaveLength(1);
  });
});

function flip(text: string, index: number): string {
  return `${text.slice(0, index)}${text[index] === 'A' ? 'B' : 'A'}${text.slice(index + 1)}`;
}
