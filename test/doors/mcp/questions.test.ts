import { describe, expect, it, vi } from 'vitest';
import { type CribOptions, defineTool, type ToolInput } from '../../../src/index.ts';
import { legacyClient, modernClient, modernRequest, post, type RawMessage } from './clients.ts';
import { type Gateway, serveCrib, startGateway } from './gateway.ts';

const CAN_ASK = { elicitation: { form: {} } };
const OLGA = { id: 'olga', operator: true };
const KEY = 'toolcrib/approval';
const YES = { [KEY]: { action: 'accept', content: { approve: true } } };

/** Asks before it sends; each run is counted. */
function sender(approvers: readonly ('caller' | 'operator')[] = ['caller'], questions = ['Send 500 to Bob?']) {
  const run = vi.fn();
  const tool: ToolInput = defineTool({
    name: 'send',
    description: 'Sends money',
    input: { type: 'object' },
    policy: { approvers },
    run: async (_, call) => {
      run();
      return Promise.all(questions.map((question) => call.confirm(question)));
    },
  });
  return { tool, run };
}

async function open(tool: ToolInput, more: CribOptions = {}): Promise<Gateway> {
  return startGateway({ tools: [tool], ...more });
}

async function send(url: string, more: object = {}, capabilities: unknown = CAN_ASK): Promise<RawMessage> {
  const { body, headers } = modernRequest('tools/call', { name: 'send', arguments: {}, ...more }, capabilities);
  return (await post(url, body, headers)).messages.at(-1) ?? {};
}

const waitingIn = ({ crib }: Gateway) =>
  vi.waitFor(async () => {
    const requests = await crib.approvals.list({ state: 'waiting' });
    expect(requests.length).toBeGreaterThan(0);
    return requests;
  });

describe('a tool that asks in the middle of its call', () => {
  it('asks the client that may answer for itself, and continues with its answer, without a second run', async () => {
    const { tool, run } = sender();
    const gateway = await open(tool);
    const first = await send(gateway.url());
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        [KEY]: {
          method: 'elicitation/create',
          params: {
            message: expect.stringContaining('"send" is running and asks: "Send 500 to Bob?"'),
            requestedSchema: { properties: { approve: { type: 'boolean', title: 'Yes' } } },
          },
        },
      },
    });
    const { requestState } = first.result ?? {};
    const second = await send(gateway.url(), { requestState, inputResponses: YES });
    expect(second.result).toMatchObject({ resultType: 'complete', content: [{ text: '[true]' }] });
    expect(run).toHaveBeenCalledOnce();
    expect(await gateway.crib.approvals.list()).toMatchObject([{ state: 'done', answer: { by: 'local' } }]);
    // The same state counts once.
    expect(await send(gateway.url(), { requestState, inputResponses: YES })).toMatchObject({ error: { code: -32602 } });
  });

  it.each([
    ['declines', { [KEY]: { action: 'decline' } }],
    ['closes the question', { [KEY]: { action: 'cancel' } }],
    ['says something else', { [KEY]: { action: 'accept', content: { approve: 'yes' } } }],
    ['says nothing', {}],
  ])('counts as a no if the client %s', async (_, inputResponses) => {
    const gateway = await open(sender().tool);
    const { requestState } = (await send(gateway.url())).result ?? {};
    const second = await send(gateway.url(), { requestState, inputResponses });
    expect(second.result).toMatchObject({ content: [{ text: '[false]' }] });
  });

  it('asks one question after the other', async () => {
    const { tool, run } = sender(['caller'], ['One?', 'Two?']);
    const gateway = await open(tool);
    let answer = await send(gateway.url());
    for (const _ of ['One?', 'Two?']) {
      expect(answer.result).toMatchObject({ resultType: 'input_required' });
      answer = await send(gateway.url(), { requestState: answer.result?.requestState, inputResponses: YES });
    }
    expect(answer.result).toMatchObject({ content: [{ text: '[true,true]' }] });
    expect(run).toHaveBeenCalledOnce();
  });

  it('works with the SDK of the newest revision', async () => {
    const gateway = await open(sender().tool);
    const client = await modernClient(gateway.url(), { capabilities: CAN_ASK });
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { approve: true } }));
    expect(await client.callTool({ name: 'send', arguments: {} })).toMatchObject({ content: [{ text: '[true]' }] });
  });

  it.each([
    ['may not answer for itself', ['operator'] as const, CAN_ASK],
    ['cannot be asked', ['caller'] as const, {}],
  ])('waits for an operator if the client %s', async (_, approvers, capabilities) => {
    const gateway = await open(sender(approvers).tool);
    const result = send(gateway.url(), {}, capabilities);
    const [request] = await waitingIn(gateway);
    expect(request).toMatchObject({ door: 'mcp', question: 'Send 500 to Bob?', isParked: false });
    await gateway.crib.approvals.answer(request?.id ?? '', { decision: 'approve' }, OLGA);
    expect((await result).result).toMatchObject({ content: [{ text: '[true]' }] });
  });

  it('waits for an operator if the client is of an older revision', async () => {
    const gateway = await open(sender().tool);
    const client = await legacyClient(gateway.url());
    const result = client.callTool({ name: 'send', arguments: {} });
    const [request] = await waitingIn(gateway);
    await gateway.crib.approvals.answer(request?.id ?? '', { decision: 'approve' }, OLGA);
    expect(await result).toMatchObject({ content: [{ text: '[true]' }] });
  });

  it('the answer of an operator counts if it is first, and the client gets the result', async () => {
    const gateway = await open(sender().tool);
    const { requestState } = (await send(gateway.url())).result ?? {};
    const [request] = await waitingIn(gateway);
    await gateway.crib.approvals.answer(request?.id ?? '', { decision: 'deny' }, OLGA);
    const second = await send(gateway.url(), { requestState, inputResponses: YES });
    expect(second.result).toMatchObject({ content: [{ text: '[false]' }] });
  });

  it('a call that another process holds does not run again: its outcome is unknown here', async () => {
    const { tool, run } = sender();
    const gateway = await open(tool);
    const { requestState } = (await send(gateway.url())).result ?? {};
    const other = await serveCrib(gateway.crib); // another door holds none of its calls
    const second = await send(other.url(), { requestState, inputResponses: YES });
    expect(second.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('unknown_outcome') }],
    });
    expect(run).toHaveBeenCalledOnce();
  });

  it('a client that disconnects while an operator is asked cancels the call', async () => {
    const gateway = await open(sender(['operator']).tool);
    const { body, headers } = modernRequest('tools/call', { name: 'send', arguments: {} }, CAN_ASK);
    const gone = new AbortController();
    const answer = fetch(gateway.url(), {
      method: 'POST',
      signal: gone.signal,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify(body),
    }).catch(() => 'gone');
    await waitingIn(gateway);
    gone.abort();
    await answer;
    await vi.waitFor(async () => expect(await gateway.crib.approvals.list()).toMatchObject([{ state: 'withdrawn' }]));
  });
});
